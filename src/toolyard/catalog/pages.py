"""List pages as bytes: items shaped for a revision, and a cursor if there are more.

Needed for a project's first list, so no dataclasses and no event loop.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import orjson

from toolyard.protocol.codec import dumps, in_parts
from toolyard.protocol.kinds import SPELLED, Kind
from toolyard.protocol.paging import encode_cursor
from toolyard.protocol.revisions import Revision
from toolyard.protocol.shape import shape_definition, shape_result
from toolyard.protocol.values import JsonObject


class Slice(NamedTuple):
    """Which part of which list, for clients of which revision."""

    kind: Kind
    revision: Revision
    offset: int
    limit: int


class Version(NamedTuple):
    """What a cursor is bound to."""

    digest: str
    created_at: str


def digest_of(definitions: Sequence[JsonObject], broken: str | None = None) -> str:
    """SHA-256 over the definitions of one kind: `list_changed` is sent when it differs."""
    # It loads OpenSSL, and the first list has no digest if one page holds it.
    import hashlib  # noqa: PLC0415

    digest = hashlib.sha256(orjson.dumps(broken))
    for part in in_parts(definitions, orjson.OPT_SORT_KEYS):
        digest.update(part)
    return digest.hexdigest()


def encode_items(kind: Kind, definitions: Iterable[JsonObject], revision: Revision) -> list[bytes]:
    return [dumps(shape_definition(kind, definition, revision)) for definition in definitions]


def encode_page(items: list[bytes], part: Slice, version: Version, stamp: JsonObject) -> bytes:
    end = part.offset + part.limit
    result: JsonObject = {
        SPELLED[part.kind].key: [orjson.Fragment(item) for item in items[part.offset : end]],
        "_meta": {"mcpbash/total": len(items)},
    }
    if end < len(items):
        result["nextCursor"] = encode_cursor(
            SPELLED[part.kind].key, end, version.digest, version.created_at
        )
    return orjson.dumps(shape_result(SPELLED[part.kind].method, result, part.revision, stamp))
