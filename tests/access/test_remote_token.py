"""The remote token of mcp-bash: on every request, stripped, throttled."""

from __future__ import annotations

from typing import Any

import pytest

from toolyard.access.remote_token import RemoteToken
from toolyard.protocol.jsonrpc import Malformed, Message, Notification, RpcRequest, RpcResponse

TOKEN = "t" * 32
KEYS = ("mcpbash/remoteToken", "remoteToken")


def request(meta: Any, method: str = "tools/list") -> RpcRequest:
    return RpcRequest(1, method, {"_meta": meta, "a": 1})


def message_of(refused: Message) -> str:
    assert isinstance(refused, Malformed)
    return refused.error.message


@pytest.mark.parametrize("key", KEYS)
def test_the_token_is_checked_and_goes_no_further(key: str) -> None:
    admitted = RemoteToken(TOKEN, KEYS)(request({key: TOKEN, "progressToken": 3}))
    assert admitted == request({"progressToken": 3})


@pytest.mark.parametrize("method", ["initialize", "ping", "tools/call", "server/discover", "x"])
@pytest.mark.parametrize(
    "meta", [None, [], {}, {"remoteToken": TOKEN[1:]}, {"remoteToken": None}, {"token": TOKEN}]
)
def test_every_request_needs_it(method: str, meta: Any) -> None:
    refused = RemoteToken(TOKEN, KEYS)(request(meta, method))
    assert isinstance(refused, Malformed) and refused.id == 1
    assert (refused.error.code, refused.error.message) == (
        -32602,
        "Remote token missing or invalid",
    )


def test_too_many_failures_in_a_minute_are_throttled_and_the_right_token_is_not() -> None:
    now = 0.0
    gate = RemoteToken(TOKEN, KEYS, 3, clock=lambda: now)
    said = [message_of(gate(request({}))) for _ in range(4)]
    assert [text.endswith("(throttled)") for text in said] == [False, False, False, True]
    assert isinstance(gate(request({"remoteToken": TOKEN})), RpcRequest)
    now = 61.0
    assert "throttled" not in message_of(gate(request({})))


def test_answers_pass_and_notifications_lose_the_token() -> None:
    gate = RemoteToken(TOKEN, KEYS)
    assert gate(RpcResponse(1, {})) == RpcResponse(1, {})
    told = gate(Notification("notifications/initialized", {"_meta": {"remoteToken": TOKEN}}))
    assert told == Notification("notifications/initialized", {"_meta": {}})
