"""The opaque cursor of a completion, bound to who completes and to what was asked. Pure."""

from __future__ import annotations

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import NamedTuple

import orjson

from toolyard.protocol.call import Json

_MOST_CHARACTERS = 4096


class CompletionCursor(NamedTuple):
    """Where a completion goes on, and of which question it is the answer."""

    name: str
    digest: str
    offset: int


def encode(cursor: CompletionCursor) -> str:
    content = {
        "ver": 1,
        "kind": "completion",
        "name": cursor.name,
        "args": cursor.digest,
        "offset": cursor.offset,
    }
    return urlsafe_b64encode(orjson.dumps(content)).rstrip(b"=").decode()


def decode(cursor: Json) -> CompletionCursor | None:
    if not isinstance(cursor, str) or not cursor or len(cursor) > _MOST_CHARACTERS:
        return None
    try:
        content = orjson.loads(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (binascii.Error, ValueError):
        return None
    if not isinstance(content, dict) or content.get("kind") != "completion":
        return None
    name, digest, offset = (content.get(key) for key in ("name", "args", "offset"))
    if not isinstance(name, str) or not isinstance(digest, str) or type(offset) is not int:
        return None
    return CompletionCursor(name, digest, offset) if offset >= 0 else None
