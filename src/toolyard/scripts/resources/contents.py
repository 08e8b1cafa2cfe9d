"""What was read, as the contents of a resource. Pure."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from typing import NamedTuple

from toolyard.errors import INTERNAL_ERROR, RESOURCE_NOT_FOUND, ProtocolError
from toolyard.protocol.asking.rounds import asks, has_something_to_ask
from toolyard.protocol.call import Json, JsonObject
from toolyard.protocol.codec import exact
from toolyard.scripts.contract.embedded import is_text

BINARY = "application/octet-stream"


class Body(NamedTuple):
    """The bytes of a resource, and its type where the reader knows better than the metadata."""

    data: bytes
    mime_type: str | None = None


@dataclass(frozen=True, slots=True)
class About:
    """What metadata says about a resource."""

    provider: str
    mime_type: str = "text/plain"
    meta: JsonObject = field(default_factory=dict)  # `_meta` of the contents
    trim: bool = False  # text loses the newlines at its end


def read_result(uri: str, body: Body, about: About) -> JsonObject:
    content = content_of(uri, body, about)
    return {
        "contents": [content],
        "_meta": {"mcpbash/provider": about.provider, "mcpbash/bytes": len(body.data)},
    }


def content_of(uri: str, body: Body, about: About) -> JsonObject:
    mime_type = body.mime_type or about.mime_type
    content: JsonObject = {"uri": uri, "mimeType": mime_type}
    if is_text(body.data):
        text = body.data.decode()
        content["text"] = text.rstrip("\n") if about.trim else text
    else:
        content["mimeType"] = BINARY if mime_type.startswith("text/") else mime_type
        content["blob"] = base64.b64encode(body.data).decode()
    if about.meta:
        content["_meta"] = about.meta
    return content


def printed_result(output: bytes) -> JsonObject | None:
    """A whole result that a program printed: contents, or a question to the client."""
    if not output.lstrip().startswith(b"{"):
        return None
    try:
        value = exact(output)
    except ValueError:
        return None
    return value if _is_result(value) else None


def _is_result(value: JsonObject) -> bool:
    if asks(value):
        return has_something_to_ask(value)
    contents = value.get("contents")
    return isinstance(contents, list) and bool(contents) and all(map(_is_content, contents))


def _is_content(value: Json) -> bool:
    return isinstance(value, dict) and "uri" in value and ("text" in value or "blob" in value)


def not_found(uri: str) -> ProtocolError:
    return ProtocolError(RESOURCE_NOT_FOUND, "Resource not found", {"uri": uri})


def unreadable(uri: str, why: str) -> ProtocolError:
    return ProtocolError(INTERNAL_ERROR, why, {"uri": uri})
