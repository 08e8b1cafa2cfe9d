"""Calls that wait for an answer, and what becomes of those that do not wait for ever."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.peers.raw import JsonObject, RawClient, over_stdio
from tests.peers.raw_http import over_http
from tests.peers.serving import Running, listening

NEW = "2026-07-28"
PROGRAM = [sys.executable, "-m", "tests.transports.odd"]
ABLE: dict[str, Any] = {"elicitation": {}, "roots": {}}
LOUD = {"io.modelcontextprotocol/logLevel": "debug", "progressToken": "t"}
EVERY_WAY = pytest.mark.parametrize("way", ["stdio", "http"])


@asynccontextmanager
async def connected(way: str, revision: str = NEW) -> AsyncIterator[tuple[RawClient, Running]]:
    """A client of a program whose tools are odd, and the program."""
    if way == "stdio":
        async with over_stdio([*PROGRAM, "stdio"], revision, capabilities=ABLE) as piped:
            yield piped, piped.running
        return
    async with (
        listening([*PROGRAM, "http"]) as server,
        over_http(server.url, revision, capabilities=ABLE) as client,
    ):
        yield client, server


def called(name: str, **arguments: Any) -> JsonObject:
    return {"name": name, "arguments": arguments}


def retry(params: JsonObject, asked: JsonObject, **answers: Any) -> JsonObject:
    return {**params, "requestState": asked["requestState"], "inputResponses": answers}


ANSWER = {"action": "accept", "content": {"name": "Ann"}}


@EVERY_WAY
async def test_a_call_that_goes_on_without_its_answer_gives_its_result_to_the_retry(
    way: str,
) -> None:
    async with connected(way) as (client, running):
        params = called("impatient")
        asked = await client.result("tools/call", params, meta=LOUD)
        assert asked["resultType"] == "input_required"
        await client.call("hurry")
        await running.says("went on")
        ended = await client.result("tools/call", retry(params, asked, who=ANSWER))
        assert ended["content"] == [{"type": "text", "text": "went on"}]
        # Once, and to a request that is still open: nothing was said meanwhile.
        assert client.notifications == []
        gone = await client.error("tools/call", retry(params, asked, who=ANSWER))
        assert gone["code"] == -32602


@EVERY_WAY
async def test_an_error_of_a_call_that_went_on_waits_for_the_retry_too(way: str) -> None:
    async with connected(way) as (client, running):
        params = called("impatient", code=-31000)
        asked = await client.result("tools/call", params)
        await client.call("hurry")
        await running.says("went on")
        ended = await client.error("tools/call", retry(params, asked))
        assert ended == {"code": -31000, "message": "went wrong"}


async def test_a_retry_waits_for_a_call_that_has_taken_its_question_back() -> None:
    async with connected("stdio") as (client, _):
        params = called("impatient")
        asked = await client.result("tools/call", params)
        await client.call("hurry")
        ended = await client.result("tools/call", retry(params, asked, who=ANSWER))
        assert ended["content"][0]["text"] == "went on"


@EVERY_WAY
async def test_one_call_too_many_that_waits_is_refused_and_the_others_go_on(way: str) -> None:
    async with connected(way) as (client, _):
        params = called("ask")
        asked = [await client.result("tools/call", params) for _ in range(64)]
        assert "64 calls wait" in (await client.error("tools/call", params))["message"]
        for one in asked:
            ended = await client.result("tools/call", retry(params, one, who=ANSWER))
            assert ended["content"][0]["text"] == "Hello Ann"
        assert (await client.result("tools/call", params))["resultType"] == "input_required"


async def test_an_answer_of_a_wrong_kind_can_be_given_again() -> None:
    async with connected("http") as (client, _):
        params = called("ask")
        asked = await client.result("tools/call", params)
        wrong = await client.error("tools/call", retry(params, asked, who="Ann"))
        assert wrong["code"] == -32602
        ended = await client.result("tools/call", retry(params, asked, who=ANSWER))
        assert ended["content"][0]["text"] == "Hello Ann"


@EVERY_WAY
async def test_a_huge_integer_beside_a_question_is_kept(way: str) -> None:
    async with connected(way) as (client, _):
        params = called("ask", number=10**30)
        asked = await client.result("tools/call", params)
        ended = await client.result("tools/call", retry(params, asked, who=ANSWER))
        assert ended["content"][0]["text"] == "Hello Ann"


WRONG: list[Any] = [
    {"inputRequests": [1]},
    {"inputRequests": "x"},
    {"inputRequests": {"a": 1}},
    {"inputRequests": {"a": {}}},
    {"inputRequests": {"a": {"method": ["roots/list"]}}},
    {"inputRequests": {"a": {"method": "tools/list"}}},
    {"inputRequests": {"a": {"method": "roots/list", "params": []}}},
    {"inputRequests": {"a": {"method": "roots/list"}}, "requestState": 5},
    {},
]


@EVERY_WAY
@pytest.mark.parametrize("revision", ["2025-11-25", NEW])
async def test_a_question_in_a_wrong_form_is_an_error_at_once(way: str, revision: str) -> None:
    async with connected(way, revision) as (client, _):
        for wrong in WRONG:
            params = called("give", result={"resultType": "input_required", **wrong})
            error = await client.error("tools/call", params, within=20)
            assert error["code"] == -32603, wrong
            assert "wrong form" in error["message"], wrong
