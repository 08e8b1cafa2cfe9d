"""Opaque cursors, bound to the hash of the list that they walk through."""

# Annotations are no text here: a NamedTuple compiles such text, and every start waits for it.
import base64
import binascii
import json
from typing import NamedTuple

from toolyard.errors import INVALID_PARAMS, ProtocolError
from toolyard.protocol.values import Json

VERSION = 1


def encode_cursor(collection: str, offset: int, digest: str, timestamp: str) -> str:
    fields = {
        "ver": VERSION,
        "collection": collection,
        "offset": offset,
        "hash": digest,
        "timestamp": timestamp,
    }
    text = json.dumps(fields, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(text).rstrip(b"=").decode()


def decode_cursor(cursor: Json, collection: str, digest: str) -> int:
    """The offset a cursor stands for. Raises ProtocolError for one that is stale or not ours."""
    fields = _fields(cursor)
    offset = fields.get("offset")
    if fields.get("ver") != VERSION or fields.get("collection") != collection:
        raise _invalid("Invalid cursor")
    if not isinstance(offset, int) or isinstance(offset, bool) or offset < 0:
        raise _invalid("Invalid cursor")
    if fields.get("hash") != digest:
        raise _invalid("Invalid cursor: the list has changed, start again without one")
    return offset


def _fields(cursor: Json) -> dict[str, Json]:
    if not isinstance(cursor, str):
        raise _invalid("Invalid cursor")
    try:
        text = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
        fields = json.loads(base64.urlsafe_b64decode(text))
    except (ValueError, binascii.Error, RecursionError):
        raise _invalid("Invalid cursor") from None
    if not isinstance(fields, dict):
        raise _invalid("Invalid cursor")
    return fields


def _invalid(why: str) -> ProtocolError:
    return ProtocolError(INVALID_PARAMS, why)


class PageSize(NamedTuple):
    """How many items a page has if the client does not say, and at most."""

    default: int
    most: int


def page_size(default: int, *, small: bool) -> PageSize:
    """Large, because many clients never ask for a second page; small for those that expect it."""
    return PageSize(50, 200) if small else PageSize(default, max(default, 1000))


def page_limit(limit: Json, default: int, most: int) -> int:
    """How many items a page has: `limit` if it is a sensible number."""
    if not isinstance(limit, int) or isinstance(limit, bool) or limit <= 0:
        return default
    return min(limit, most)
