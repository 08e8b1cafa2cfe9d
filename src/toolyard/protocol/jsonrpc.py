"""Bytes to JSON-RPC messages and back. Knows no methods and no revisions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

import orjson

from toolyard.errors import INVALID_REQUEST, PARSE_ERROR, ProtocolError
from toolyard.protocol.call import Encoded, Json, JsonObject

MAX_DEPTH = 200
RequestId: TypeAlias = str | int

_BOM = b"\xef\xbb\xbf"
_ONLY_DIGITS = bytes(48 if 48 <= byte <= 57 else 32 for byte in range(256))
_NOT_BRACKETS = bytes(byte for byte in range(256) if byte not in b"[]{}")
_INNERMOST = re.compile(rb"\[\]|\{\}")
# From 19 digits on a number may not fit 64 bits, where orjson would make it a float.
_LONG_NUMBER = b"0" * 19


@dataclass(frozen=True, slots=True)
class Request:
    id: RequestId
    method: str
    params: JsonObject


@dataclass(frozen=True, slots=True)
class Notification:
    method: str
    params: JsonObject


@dataclass(frozen=True, slots=True)
class Response:
    id: RequestId | None
    result: Json = None
    error: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class Malformed:
    """Something that gets an error for an answer and nothing else."""

    id: RequestId | None
    error: ProtocolError


Message: TypeAlias = Request | Notification | Response | Malformed


def decode(data: bytes) -> Message | list[Message]:
    """One message, or the messages of a batch. Never raises."""
    try:
        value = loads(data)
    except ProtocolError as error:
        return Malformed(None, error)
    if not isinstance(value, list):
        return classify(value)
    if not value:
        return invalid(None, "an empty batch")
    return [classify(item) for item in value]


def loads(data: bytes) -> Json:
    """Parse JSON text: exact integers, at most MAX_DEPTH levels."""
    if data.startswith(_BOM):
        data = data[3:]
    try:
        value = _parse(data)
    except (ValueError, RecursionError) as error:
        raise ProtocolError(PARSE_ERROR, "Parse error", _reason(error)) from None
    if too_deep(data, value):
        raise ProtocolError(INVALID_REQUEST, f"Nested deeper than {MAX_DEPTH} levels")
    return value


def _parse(data: bytes) -> Json:
    if _LONG_NUMBER in data.translate(_ONLY_DIGITS):
        orjson.loads(data)  # the stricter judge of what is JSON
        return json.loads(data)
    return orjson.loads(data)


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, ValueError) else "nested too deeply"


def too_deep(data: bytes, value: Json) -> bool:
    """More than MAX_DEPTH levels? Peels whole levels of brackets off in C first."""
    if data.count(b"[") + data.count(b"{") <= MAX_DEPTH:
        return False
    brackets = data.translate(None, _NOT_BRACKETS)
    for _ in range(MAX_DEPTH):
        fewer = _INNERMOST.sub(b"", brackets)
        if not fewer:
            return False
        if len(fewer) == len(brackets):
            break  # brackets inside strings: look at the value itself
        brackets = fewer
    return _deeper_than(value, MAX_DEPTH)


def _deeper_than(value: Json, limit: int) -> bool:
    level = [value]
    for _ in range(limit):
        level = [child for item in level for child in _children(item) if _is_container(child)]
        if not level:
            return False
    return True


def _children(item: Json) -> Iterable[Json]:
    return item.values() if isinstance(item, dict) else item


def _is_container(item: Json) -> bool:
    return isinstance(item, dict | list)


def classify(value: Json) -> Message:
    """Which kind of message this JSON value is."""
    if not isinstance(value, dict):
        return invalid(None, "a message must be an object")
    message_id = value.get("id")
    known_id = message_id if is_request_id(message_id) else None
    if value.get("jsonrpc") != "2.0":
        return invalid(known_id, 'jsonrpc must be "2.0"')
    if "method" not in value:
        return _response(value, known_id)
    if "id" in value and known_id is None:
        return invalid(None, "id must be a string or an integer")
    method, params = value["method"], value.get("params")
    if not isinstance(method, str):
        return invalid(known_id, "method must be a string")
    if params is None:
        params = {}
    if not isinstance(params, dict):
        return invalid(known_id, "params must be an object")
    return Notification(method, params) if known_id is None else Request(known_id, method, params)


def _response(value: JsonObject, known_id: RequestId | None) -> Message:
    error = value.get("error")
    if "result" in value and error is None and known_id is not None:
        return Response(known_id, result=value["result"])
    if isinstance(error, dict) and "result" not in value:
        return Response(known_id, error=error)
    return invalid(known_id, "a message needs a method")


def invalid(message_id: RequestId | None, why: str) -> Malformed:
    return Malformed(message_id, ProtocolError(INVALID_REQUEST, "Invalid Request", why))


def is_request_id(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def dumps(value: Json) -> bytes:
    """JSON text of any value; integers beyond 64 bits take the slow road."""
    try:
        return orjson.dumps(value)
    except (TypeError, orjson.JSONEncodeError):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(
            "utf-8", "replace"
        )


def encode_result(message_id: RequestId | None, result: JsonObject | Encoded) -> bytes:
    body = result.body if isinstance(result, Encoded) else dumps(result)
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (dumps(message_id), body)


def encode_error(message_id: RequestId | None, error: ProtocolError) -> bytes:
    body: JsonObject = {"code": error.code, "message": error.message}
    if error.data is not None:
        body["data"] = error.data
    return b'{"jsonrpc":"2.0","id":%b,"error":%b}' % (dumps(message_id), dumps(body))


def encode_request(message_id: RequestId, method: str, params: JsonObject | None) -> bytes:
    message: JsonObject = {"jsonrpc": "2.0", "id": message_id, "method": method}
    if params is not None:
        message["params"] = params
    return dumps(message)


def encode_notification(method: str, params: JsonObject) -> bytes:
    message: JsonObject = {"jsonrpc": "2.0", "method": method}
    if params:
        message["params"] = params
    return dumps(message)


def encode_batch(answers: list[bytes]) -> bytes:
    return b"[" + b",".join(answers) + b"]"
