"""Bytes to JSON-RPC messages and back. Knows no methods and no revisions."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from toolyard.errors import INVALID_REQUEST, ProtocolError
from toolyard.protocol.call import Encoded, Json, JsonObject
from toolyard.protocol.codec import dumps, exact, loads

RequestId: TypeAlias = str | int
MOST_IN_BATCH = 100
_ID_TYPES = frozenset({str, int})  # but not bool
# What distinguishes the kinds of messages.
_DISTINCTIVE = ("method", "result", "error")


class RpcRequest(NamedTuple):
    id: RequestId
    method: str
    params: JsonObject


class Notification(NamedTuple):
    method: str
    params: JsonObject


class RpcResponse(NamedTuple):
    id: RequestId | None
    result: Json = None
    error: JsonObject | None = None


class Malformed(NamedTuple):
    """Something whose only answer is an error."""

    id: RequestId | None
    error: ProtocolError


Message: TypeAlias = RpcRequest | Notification | RpcResponse | Malformed


def decode(data: bytes, most: int = MOST_IN_BATCH) -> Message | list[Message]:
    """One message, or the messages of a batch, `most` of them at most. Never raises."""
    try:
        value = exact(data)
    except ValueError:
        try:
            value = loads(data)  # which knows what can be done about it, and what to say
        except ProtocolError as error:
            return Malformed(None, error)
    if not isinstance(value, list):
        return classify(value)
    if not value:
        return invalid(None, "an empty batch")
    if len(value) > most:
        return invalid(None, f"a batch may have {most} messages")
    return [classify(item) for item in value]


def classify(value: Json) -> Message:
    """Which kind of message this JSON value is."""
    if not isinstance(value, dict):
        return invalid(None, "a message must be an object")
    message_id: Json = value.get("id")
    method, params = value.get("method"), value.get("params")
    if (
        isinstance(method, str)
        and isinstance(params, dict)
        and value.get("jsonrpc") == "2.0"
        and type(message_id) in _ID_TYPES
    ):
        return RpcRequest(message_id, method, params)
    return _unusual(value)


def _unusual(value: JsonObject) -> Message:
    message_id = value.get("id")
    known_id = message_id if is_request_id(message_id) else None
    if value.keys().isdisjoint(_DISTINCTIVE):
        return invalid(known_id, "Missing method")
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
    return (
        Notification(method, params) if known_id is None else RpcRequest(known_id, method, params)
    )


def _response(value: JsonObject, known_id: RequestId | None) -> Message:
    error = value.get("error")
    if "result" in value and error is None and known_id is not None:
        return RpcResponse(known_id, result=value["result"])
    if isinstance(error, dict) and "result" not in value:
        return RpcResponse(known_id, error=error)
    return invalid(known_id, "a message needs a method")


def invalid(message_id: RequestId | None, why: str) -> Malformed:
    return Malformed(message_id, ProtocolError(INVALID_REQUEST, "Invalid Request", why))


def is_request_id(value: object) -> bool:
    return type(value) in _ID_TYPES


def encode_result(message_id: RequestId | None, result: JsonObject | Encoded) -> bytes:
    return encode_text(message_id, result.body if isinstance(result, Encoded) else dumps(result))


def encode_text(message_id: RequestId | None, *result: bytes | memoryview) -> bytes:
    """An answer whose result is text in parts: it may be long, and is copied once."""
    id_text = b"%d" % message_id if type(message_id) is int else dumps(message_id)
    return b"".join((b'{"jsonrpc":"2.0","id":', id_text, b',"result":', *result, b"}"))


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
