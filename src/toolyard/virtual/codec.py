"""JSON text to values and back with every integer exact. Knows nothing of messages."""

from __future__ import annotations

import json
from typing import NoReturn

import orjson

from toolyard.protocol import codec
from toolyard.protocol.call import Encoded, Json, JsonObject, Result

# Integers past 64 bits have at least this many digits; orjson would make floats of them.
_LONG = 19
_STRIDE = 6
_DIGITS = bytes(ord("0") if chr(code).isdigit() and code < 128 else ord(" ") for code in range(256))
_SAMPLED_RUN = b"0" * (_LONG // _STRIDE)
_RUN = b"0" * _LONG


def loads(text: str) -> Json:
    """Raises ValueError where the text is no JSON."""
    value = orjson.loads(text)
    return DECODER.decode(text) if _has_long_number(text.encode()) else value


def dumps(value: Json) -> str:
    return codec.dumps(value).decode()


def decoded(result: Result) -> JsonObject:
    if isinstance(result, Encoded):
        value: JsonObject = codec.exact(result.body)
        return value
    return result


def _has_long_number(data: bytes) -> bool:
    """A run of 19 digits shows as 3 in a row when only each 6th character is looked at."""
    if _SAMPLED_RUN not in data[::_STRIDE].translate(_DIGITS):
        return False
    return _RUN in data.translate(_DIGITS)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


DECODER = json.JSONDecoder(parse_constant=_refuse)
