"""List a project's tools before the event loop and the runners are imported.

A client that starts a server asks for its tools at once: what it needs for the answer is a
scan and an encoder. Everything else it may send is left, unread, to the transport.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any, NamedTuple

from toolyard.catalog.pages import Slice, Version, digest_of, encode_items, encode_page
from toolyard.cli.greeting import Early, next_line, write_line
from toolyard.protocol.paging import PageSize, page_limit
from toolyard.protocol.revisions import Revision
from toolyard.settings import Settings
from toolyard.sources.project.layout import Project
from toolyard.sources.project.metadata import Metadata
from toolyard.sources.project.scan import Scan, scan
from toolyard.sources.project.tools import definition_of


class EarlyList(NamedTuple):
    """The conversation so far, and the scan that was made for it."""

    early: Early
    scanned: Scan | None = None


def list_early(
    early: Early, project: Project, settings: Settings, size: PageSize, stdio: tuple[int, int]
) -> EarlyList:
    """Answer `tools/list` while nothing else is asked for."""
    stdin, stdout = stdio
    scanned: Scan | None = None
    revision = early.revision
    while revision is not None:
        line, rest = next_line(stdin, early.rest)
        message = _message(line)
        if message is None:
            return EarlyList(early._replace(rest=line + rest), scanned)
        if message["method"] == "notifications/initialized":
            early = early._replace(rest=rest, ready=True)
            continue
        scanned = scanned or scan(project, settings, Metadata())
        if not early.ready or "tools" in scanned.broken:
            return EarlyList(early._replace(rest=line + rest), scanned)
        limit = page_limit(message.get("params", {}).get("limit"), size.default, size.most)
        page = _page(scanned, revision, limit)
        head = b'{"jsonrpc":"2.0","id":%b,"result":' % json.dumps(message["id"]).encode()
        write_line(stdout, head + page + b"}")
        early = early._replace(rest=rest)
    return EarlyList(early, scanned)


def _page(scanned: Scan, revision: Revision, limit: int) -> bytes:
    definitions = [definition_of(item) for item in scanned.items["tools"]]
    items = encode_items("tools", definitions, revision)
    digest = digest_of(definitions) if len(items) > limit else ""
    created = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return encode_page(items, Slice("tools", revision, 0, limit), Version(digest, created), {})


def _message(line: bytes) -> dict[str, Any] | None:
    """A plain `initialized` or first `tools/list`; None for everything else."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return None
    params = message.get("params", {})
    if not isinstance(params, dict):
        return None
    if message.get("method") == "notifications/initialized" and "id" not in message:
        return message
    plain_id = isinstance(message.get("id"), str | int) and not isinstance(message["id"], bool)
    listing = message.get("method") == "tools/list" and plain_id
    return message if listing and params.keys() <= {"limit"} else None
