"""JSON for the browser. No tool's output can make it fail."""

from __future__ import annotations

from toolyard.protocol.call import Json
from toolyard.virtual.codec import dumps


def encoded(value: Json) -> bytes:
    """Lone surrogates, which UTF-8 cannot carry, become question marks."""
    return dumps(value).encode("utf-8", "replace")
