"""Bytes in, messages out, and back."""

from __future__ import annotations

from typing import Any

import pytest

from tests.protocol.outcome import Refusal, refusal
from toolyard.errors import INVALID_REQUEST, ProtocolError
from toolyard.protocol.call import Encoded
from toolyard.protocol.jsonrpc import (
    Malformed,
    Notification,
    RpcRequest,
    RpcResponse,
    decode,
    encode_batch,
    encode_error,
    encode_notification,
    encode_request,
    encode_result,
    is_request_id,
)


def read(data: bytes, *bounds: int) -> Any:
    messages = decode(data, *bounds)
    return [*map(comparable, messages)] if isinstance(messages, list) else comparable(messages)


def comparable(message: Any) -> Any:
    """Errors are equal to themselves only; their contents are what matters."""
    return wrong(message.id, refusal(message.error)) if type(message) is Malformed else message


def wrong(message_id: Any, why: str | Refusal) -> tuple[Any, Refusal]:
    if isinstance(why, str):
        why = Refusal(INVALID_REQUEST, "Invalid Request", why)
    return message_id, why


ID = "id must be a string or an integer"
VERSION = 'jsonrpc must be "2.0"'
NEITHER = "a message needs a method"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        # Requests: an id, a method, and params that may be left out.
        (b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1}}', RpcRequest(1, "m", {"a": 1})),
        (b'{"jsonrpc":"2.0","id":"x","method":"m","params":{}}', RpcRequest("x", "m", {})),
        (b'{"jsonrpc":"2.0","id":"","method":"m"}', RpcRequest("", "m", {})),
        (b'{"jsonrpc":"2.0","id":0,"method":"m","params":null}', RpcRequest(0, "m", {})),
        (b'{"jsonrpc":"2.0","id":-1,"method":"","more":1}', RpcRequest(-1, "", {})),
        (b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"m"}', RpcRequest(1, "m", {})),
        # Notifications have no id at all.
        (b'{"jsonrpc":"2.0","method":"n"}', Notification("n", {})),
        (b'{"jsonrpc":"2.0","method":"n","params":{"a":1}}', Notification("n", {"a": 1})),
        # Responses: a result for an id, or an error, whose id may be unknown.
        (b'{"jsonrpc":"2.0","id":1,"result":{"a":1}}', RpcResponse(1, {"a": 1})),
        (b'{"jsonrpc":"2.0","id":1,"result":null}', RpcResponse(1, None)),
        (b'{"jsonrpc":"2.0","id":1,"result":1,"error":null}', RpcResponse(1, 1)),
        (b'{"jsonrpc":"2.0","id":1,"error":{"code":1}}', RpcResponse(1, None, {"code": 1})),
        (b'{"jsonrpc":"2.0","id":null,"error":{}}', RpcResponse(None, None, {})),
        # Whatever is left is told what is missing, under its id where it has one.
        (b'{"jsonrpc":"2.0","id":null,"method":"m"}', wrong(None, ID)),
        (b'{"jsonrpc":"2.0","id":true,"method":"m","params":{}}', wrong(None, ID)),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"m","params":{}}', wrong(None, ID)),
        (b'{"jsonrpc":"2.0","id":[1],"method":"m","params":{}}', wrong(None, ID)),
        (b'{"jsonrpc":"1.0","id":1,"method":"m","params":{}}', wrong(1, VERSION)),
        (b'{"jsonrpc":2.0,"id":1,"method":"m","params":{}}', wrong(1, VERSION)),
        (b'{"id":"x","method":"m"}', wrong("x", VERSION)),
        (b'{"method":"n"}', wrong(None, VERSION)),
        (b'{"id":1,"result":{}}', wrong(1, VERSION)),
        (b'{"jsonrpc":"2.0","id":1,"method":7}', wrong(1, "method must be a string")),
        (b'{"jsonrpc":"2.0","method":null}', wrong(None, "method must be a string")),
        (
            b'{"jsonrpc":"2.0","id":1,"method":"m","params":[]}',
            wrong(1, "params must be an object"),
        ),
        (b'{"jsonrpc":"2.0","id":1}', wrong(1, "Missing method")),
        (b"{}", wrong(None, "Missing method")),
        (b'{"jsonrpc":"2.0","id":1,"result":1,"error":{}}', wrong(1, NEITHER)),
        (b'{"jsonrpc":"2.0","id":1,"error":"no"}', wrong(1, NEITHER)),
        (b'{"jsonrpc":"2.0","result":{}}', wrong(None, NEITHER)),
        (b"7", wrong(None, "a message must be an object")),
        (b"null", wrong(None, "a message must be an object")),
        # A batch is a list of the same.
        (b"[]", wrong(None, "an empty batch")),
        (
            b'[{"jsonrpc":"2.0","method":"n"},1,[]]',
            [
                Notification("n", {}),
                wrong(None, "a message must be an object"),
                wrong(None, "a message must be an object"),
            ],
        ),
    ],
)
def test_bytes_become_messages(data: bytes, message: Any) -> None:
    assert read(data) == message


def test_a_batch_is_bounded() -> None:
    batch = b'[{"jsonrpc":"2.0","method":"n"},{"jsonrpc":"2.0","method":"n"}]'
    assert read(batch, 2) == [Notification("n", {})] * 2
    assert read(batch, 1) == wrong(None, "a batch may have 1 messages")


@pytest.mark.parametrize("data", [b"", b"{", b'{"a":1}}', b"\xff", b"NaN", b"\x00"])
def test_what_is_not_json_is_a_parse_error_without_an_id(data: bytes) -> None:
    message = decode(data)
    assert isinstance(message, Malformed)
    assert (message.id, message.error.code, message.error.message) == (None, -32700, "Parse error")


@pytest.mark.parametrize(
    ("value", "can_be"),
    [(1, True), (0, True), ("", True), (True, False), (1.0, False), (None, False), ([], False)],
)
def test_what_can_be_an_id(value: Any, can_be: bool) -> None:
    assert is_request_id(value) is can_be


@pytest.mark.parametrize(
    ("made", "data"),
    [
        (encode_result(1, {"a": "ü"}), b'{"jsonrpc":"2.0","id":1,"result":{"a":"\xc3\xbc"}}'),
        (encode_result('"', {}), b'{"jsonrpc":"2.0","id":"\\"","result":{}}'),
        (encode_result(2**70, {}), b'{"jsonrpc":"2.0","id":1180591620717411303424,"result":{}}'),
        (encode_result(0, Encoded(b'{"z":1}')), b'{"jsonrpc":"2.0","id":0,"result":{"z":1}}'),
        (
            encode_error(1, ProtocolError(-32601, "No")),
            b'{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"No"}}',
        ),
        (
            encode_error(None, ProtocolError(-32600, "No", {})),
            b'{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"No","data":{}}}',
        ),
        (encode_request("x", "m", None), b'{"jsonrpc":"2.0","id":"x","method":"m"}'),
        (encode_request(1, "m", {}), b'{"jsonrpc":"2.0","id":1,"method":"m","params":{}}'),
        (encode_notification("n", {}), b'{"jsonrpc":"2.0","method":"n"}'),
        (encode_notification("n", {"a": 1}), b'{"jsonrpc":"2.0","method":"n","params":{"a":1}}'),
        (encode_batch([b"{}", b"{}"]), b"[{},{}]"),
    ],
)
def test_messages_become_bytes(made: bytes, data: bytes) -> None:
    assert made == data
