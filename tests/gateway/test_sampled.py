"""Sampling between revisions: one content, several, sound, tools; never an invalid message."""

from __future__ import annotations

from typing import Any

import pytest

from tests.gateway.bridged import Bridges, said
from tests.peers import schemas
from tests.peers.raw import JsonObject

pytestmark = pytest.mark.asyncio(loop_scope="module")
R1, R2, R3, R4, R5 = "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"
TEXT: JsonObject = {"type": "text", "text": "hello"}
SOUND: JsonObject = {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"}
TOOL_USE: JsonObject = {"type": "tool_use", "id": "1", "name": "t", "input": {}}
ABLE: JsonObject = {"sampling": {"tools": {}}, "roots": {}}


def question(content: Any, **more: Any) -> JsonObject:
    messages = [{"role": "user", "content": content}]
    params = {"messages": messages, "maxTokens": 10, **more}
    return {"ask": {"method": "sampling/createMessage", "params": params}}


def answering(content: Any, heard: list[JsonObject]) -> Any:
    def answer(params: JsonObject) -> JsonObject:
        heard.append(params)
        return {"role": "assistant", "model": "m", "content": content}

    return {"sampling/createMessage": answer}


# Of the upstream, of the client, what is asked, and how the client hears it; None: not at all.
ASKED = [
    (R4, R3, [TEXT], TEXT),
    (R4, R3, [TEXT, TEXT], None),
    (R4, R2, [], None),
    (R4, R2, [SOUND], SOUND),
    (R5, R3, [TEXT], TEXT),
    (R5, R3, [TEXT, SOUND], None),
    (R5, R4, [TEXT, SOUND], [TEXT, SOUND]),
    (R4, R5, [TEXT, SOUND], [TEXT, SOUND]),
    (R4, R3, TOOL_USE, None),
    (R3, R5, SOUND, SOUND),
]


@pytest.mark.parametrize(("upstream", "client", "asked", "heard_as"), ASKED)
async def test_a_question_is_heard_in_the_words_of_the_client_or_not_at_all(
    bridged: Bridges, upstream: str, client: str, asked: Any, heard_as: Any
) -> None:
    heard: list[JsonObject] = []
    answers = answering(TEXT, heard)
    async with bridged.between(client, upstream, capabilities=ABLE, answers=answers) as between:
        ended = await between.play(question(asked), {"answer": True})
        if heard_as is not None:
            assert [one["messages"][0]["content"] for one in heard] == [heard_as]
            assert TEXT in (said(ended)["q0"].get("result") or said(ended)["q0"]).values()
            return
        assert heard == []
        assert "sampling message" in str(ended)


# Of the upstream, of the client, what the client answers, and what the upstream gets.
ANSWERED = [
    (R3, R4, [TEXT], TEXT),
    (R3, R4, [TEXT, TEXT], None),
    (R1, R5, [SOUND], None),
    (R1, R3, SOUND, None),
    (R2, R5, [SOUND], SOUND),
    (R3, R5, TOOL_USE, None),
    (R4, R5, [TEXT, SOUND], [TEXT, SOUND]),
    (R4, R3, TEXT, TEXT),
]


@pytest.mark.parametrize(("upstream", "client", "answered", "got_as"), ANSWERED)
async def test_an_answer_arrives_in_the_words_of_the_upstream_or_as_an_error(
    bridged: Bridges, upstream: str, client: str, answered: Any, got_as: Any
) -> None:
    answers = answering(answered, [])
    async with bridged.between(client, upstream, capabilities=ABLE, answers=answers) as between:
        got = said(await between.play(question(TEXT), {"answer": True}))["q0"]
    if got_as is None:
        assert "sampling message" in got["error"]["message"]
        return
    assert got["result"]["content"] == got_as
    assert schemas.against("CreateMessageResult", got["result"], upstream) == []


@pytest.mark.parametrize("upstream", [R4, R5])
@pytest.mark.parametrize("able", [{"sampling": {}}, {"sampling": {"context": {}}}])
async def test_tools_are_offered_to_no_model_that_cannot_use_them(
    bridged: Bridges, upstream: str, able: JsonObject
) -> None:
    tools = [{"name": "t", "inputSchema": {"type": "object"}}]
    async with bridged.between(R4, upstream, capabilities=able) as between:
        ended = await between.play(question(TEXT, tools=tools), {"answer": True})
        assert between.client.questions == []
        assert "sampling" in str(ended)
