"""List a project's tools before the event loop and the runners are imported.

A client that starts a server asks for its tools at once, and the answer needs no more than a
scan and an encoder. Everything else that the client sends is left to the transport, unread.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, NamedTuple

from toolyard.app.early.greeting import has_id, next_line, plain_message, write_line
from toolyard.catalog.pages import Slice, Version, digest_of, encode_items, encode_page
from toolyard.errors import ProtocolError
from toolyard.protocol.eras.handshake import Answered
from toolyard.protocol.paging import PageSize, decode_cursor, page_limit
from toolyard.protocol.revisions import Revision
from toolyard.settings import Settings
from toolyard.sources.project.discover.ahead import ReadAhead
from toolyard.sources.project.discover.metadata import Metadata
from toolyard.sources.project.discover.scan import Scan, looked_into, quick_scan
from toolyard.sources.project.discover.tools import definition_of
from toolyard.sources.project.layout import Project


class EarlyList(NamedTuple):
    """The conversation so far, and the scan that was made for it."""

    early: Answered
    scan: Scan | None = None


def list_early(
    early: Answered, project: Project, settings: Settings, size: PageSize, stdio: tuple[int, int]
) -> EarlyList:
    """Answer `tools/list` while nothing else is asked for."""
    metadata = Metadata()

    def scan() -> Scan:
        with ReadAhead(project.tools, metadata):
            return quick_scan(project, settings, metadata)

    early_list = _answer_lists(early, scan, size, stdio)
    if early_list.scan is None:
        return early_list
    return early_list._replace(scan=looked_into(early_list.scan, project, metadata))


def _answer_lists(
    early: Answered, scan: Callable[[], Scan], size: PageSize, stdio: tuple[int, int]
) -> EarlyList:
    stdin, stdout = stdio
    scan_result: Scan | None = None
    tools: _EarlyPages | None = None
    revision = early.revision
    while revision is not None:
        line, remainder = next_line(stdin, early.remainder)
        message = _message(line)
        if message is None:
            return EarlyList(early._replace(remainder=line + remainder), scan_result)
        if message["method"] == "notifications/initialized":
            early = early._replace(remainder=remainder, ready=True)
            continue
        scan_result = scan_result or scan()
        if not early.ready or "tools" in scan_result.broken:
            return EarlyList(early._replace(remainder=line + remainder), scan_result)
        tools = tools or _EarlyPages(scan_result, revision)
        try:
            page = tools.page(message.get("params", {}), size)
        except ProtocolError:  # not a cursor of ours: the transport says so
            return EarlyList(early._replace(remainder=line + remainder), scan_result)
        head = b'{"jsonrpc":"2.0","id":%b,"result":' % json.dumps(message["id"]).encode()
        write_line(stdout, head + page + b"}")
        early = early._replace(remainder=remainder)
    return EarlyList(early, scan_result)


class _EarlyPages:
    """The tools of one scan, encoded once for all their pages."""

    def __init__(self, scan: Scan, revision: Revision) -> None:
        self._revision = revision
        self._definitions = [definition_of(item) for item in scan.items["tools"]]
        self._items = encode_items("tools", self._definitions, revision)
        self._created = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    @cached_property
    def _digest(self) -> str:
        return digest_of(self._definitions)

    def page(self, params: dict[str, Any], size: PageSize) -> bytes:
        """Raises ProtocolError for a cursor that does not fit."""
        limit = page_limit(params.get("limit"), size.default, size.most)
        offset = decode_cursor(params["cursor"], "tools", self._digest) if "cursor" in params else 0
        version = Version(self._digest if len(self._items) > limit else "", self._created)
        return encode_page(self._items, Slice("tools", self._revision, offset, limit), version, {})


def _message(line: bytes) -> dict[str, Any] | None:
    """A plain `initialized` or `tools/list`; None for everything else."""
    message = plain_message(line)
    params = message.get("params", {}) if message is not None else None
    if message is None or not isinstance(params, dict):
        return None
    if message.get("method") == "notifications/initialized" and "id" not in message:
        return message
    listing = message.get("method") == "tools/list" and has_id(message)
    return message if listing and params.keys() <= {"limit", "cursor"} else None
