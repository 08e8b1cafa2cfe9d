"""A failure that the model should read, as the result of a tool. Pure."""

from __future__ import annotations

from toolyard.errors import ToolError
from toolyard.protocol.values import JsonObject


def failure(error: ToolError) -> JsonObject:
    result: JsonObject = {"content": [{"type": "text", "text": error.message}], "isError": True}
    if error.structured is not None:
        result["structuredContent"] = error.structured
    if error.meta:
        result["_meta"] = error.meta
    return result
