"""Results and values as JSON text and back, for tools made from tools. Knows no messages."""

from __future__ import annotations

from toolyard.protocol import codec
from toolyard.protocol.call import Encoded, Json, JsonObject, Result


def dumps(value: Json) -> str:
    return codec.dumps(value).decode()


def decoded(result: Result) -> JsonObject:
    if isinstance(result, Encoded):
        value: JsonObject = codec.exact(result.body)
        return value
    return result
