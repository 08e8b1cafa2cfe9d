"""Credentials of upstreams: looked up by caller, renewed when the upstream asks."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.upstreams.conftest import MakePool
from tests.upstreams.fake_http import FakeHttp, Handshake, Request, fake_http, modern
from tests.upstreams.seam import BOB, call_tool, modern_call
from toolyard.errors import UpstreamError
from toolyard.http.challenge import Challenge
from toolyard.protocol.call import Caller
from toolyard.upstreams.definition import ServerDefinition

ANN = Caller(id="ann", name="Ann")


def oauth(server: FakeHttp) -> ServerDefinition:
    return ServerDefinition(name="fake", url=server.url, auth="oauth")


async def token_of(definition: ServerDefinition, caller: Caller) -> Mapping[str, str]:
    return {"Authorization": f"Bearer {caller.id}"}


async def test_each_caller_has_a_connection_and_credentials_of_his_own(
    make_pool: MakePool,
) -> None:
    handshake = Handshake()
    async with fake_http(handshake) as server:
        pool = make_pool(oauth(server), authorize=token_of)
        for caller in (ANN, BOB, ANN):
            await call_tool(pool, "echo", call=modern_call(caller=caller))
        seen = [
            (call.headers["mcp-session-id"], call.headers["authorization"])
            for call in server.calls()
        ]
        await pool.close()
    assert seen == [
        ("session-1", "Bearer ann"),
        ("session-2", "Bearer bob"),
        ("session-1", "Bearer ann"),
    ]


async def test_no_credentials_go_to_an_upstream_without_oauth(make_pool: MakePool) -> None:
    async with fake_http(modern()) as server:
        definition = ServerDefinition(name="fake", url=server.url)
        pool = make_pool(definition, authorize=token_of)
        await call_tool(pool, "echo", call=modern_call(caller=ANN))
        assert "authorization" not in server.calls()[0].headers
        await pool.close()


@pytest.mark.parametrize("status", [401, 403])
async def test_a_challenge_that_is_met_lets_the_call_through_once(
    make_pool: MakePool, status: int
) -> None:
    challenges: list[tuple[str, Challenge]] = []
    inner = modern()

    async def handle(request: Request) -> None:
        if request.headers.get("authorization") != "Bearer new":
            request.answer(status, www_authenticate='Bearer scope="x"')
        else:
            await inner(request)

    async def authorize(definition: ServerDefinition, caller: Caller) -> Mapping[str, str]:
        return {"Authorization": "Bearer new" if challenges else "Bearer old"}

    async def on_challenge(
        definition: ServerDefinition, caller: Caller, challenge: Challenge
    ) -> bool:
        challenges.append((caller.id, challenge))
        return True

    async with fake_http(handle) as server:
        pool = make_pool(oauth(server), authorize=authorize, on_challenge=on_challenge)
        await call_tool(pool, "echo", call=modern_call(caller=ANN))
        assert challenges == [("ann", Challenge(status, 'Bearer scope="x"', server.url))]
        assert len(server.calls()) == 1
        await pool.close()


async def test_a_challenge_that_is_not_met_is_a_clear_error(make_pool: MakePool) -> None:
    async def handle(request: Request) -> None:
        request.answer(401, www_authenticate="Bearer")

    async with fake_http(handle) as server:
        pool = make_pool(oauth(server))
        with pytest.raises(UpstreamError, match="fake: answered HTTP 401: it wants other"):
            await call_tool(pool, "echo", call=modern_call(caller=ANN))
        await pool.close()


async def test_a_challenge_is_not_met_for_ever(make_pool: MakePool) -> None:
    async def handle(request: Request) -> None:
        request.answer(401, www_authenticate="Bearer")

    async def on_challenge(
        definition: ServerDefinition, caller: Caller, challenge: Challenge
    ) -> bool:
        return True

    async with fake_http(handle) as server:
        pool = make_pool(oauth(server), authorize=token_of, on_challenge=on_challenge)
        with pytest.raises(UpstreamError, match="answered HTTP 401"):
            await call_tool(pool, "echo", call=modern_call(caller=ANN))
        assert len(server.requests) < 10
        await pool.close()
