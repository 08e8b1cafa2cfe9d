"""Questions that scripts put to their client through pairs of files."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.scripting.conftest import MakeYard
from tests.scripting.yard import Recorder, Yard, able, calling, run, text_of
from tests.until import WITHIN, until, until_exists
from toolyard.errors import MISSING_CAPABILITY, ProtocolError, ToolError
from toolyard.protocol.call import Client, JsonObject, Questions
from toolyard.protocol.revisions import R2025_06_18, R2026_07_28

ASK = """
ask() {  # KIND REQUEST: renamed into place, as the contract has it
  local request response
  request=MCP_${1}_REQUEST_FILE response=MCP_${1}_RESPONSE_FILE
  printf '%s' "$2" > "${!request}.tmp"
  mv "${!request}.tmp" "${!request}"
  until [ -s "${!response}" ]; do sleep 0.01; done
  cat "${!response}"; rm "${!response}"
}
"""
FORM = """ask ELICIT '{"message":"name?","schema":{"type":"object"},"mode":"form"}'"""


def answering(answer: JsonObject) -> Recorder:
    async def reply(questions: Questions) -> JsonObject:
        return dict.fromkeys(questions, answer)

    return Recorder(reply)


async def test_a_form_is_put_to_the_client(yard: Yard) -> None:
    channel = answering({"action": "accept", "content": {"name": "Ann"}})
    result = await run(yard.bash("ask.sh", ASK + FORM), call=able(elicitation={}), channel=channel)
    assert result["structuredContent"] == {"action": "accept", "content": {"name": "Ann"}}
    params = {"mode": "form", "message": "name?", "requestedSchema": {"type": "object"}}
    question = {"method": "elicitation/create", "params": params}
    assert channel.said == [("ask", {"elicit": question}, 30.0)]


async def test_a_url_is_put_to_the_client(yard: Yard) -> None:
    channel = answering({"action": "accept"})
    body = ASK + """ask ELICIT '{"message":"m","url":"https://a.example","mode":"url"}'"""
    await run(yard.bash("ask.sh", body), call=able(elicitation={"url": {}}), channel=channel)
    params = channel.said[0][1]["elicit"]["params"]
    assert params.pop("elicitationId")
    assert params == {"mode": "url", "message": "m", "url": "https://a.example"}


async def test_sampling_and_roots_are_asked_likewise(yard: Yard) -> None:
    channel = answering({"the": "answer"})
    body = ASK + """ask SAMPLE '{"messages":[],"maxTokens":5}'; echo; ask ROOTS ''"""
    result = await run(yard.bash("ask.sh", body), call=able(sampling={}, roots={}), channel=channel)
    assert text_of(result) == '{"the":"answer"}\n{"the":"answer"}'
    assert [what[1] for what in channel.said] == [
        {
            "sample": {
                "method": "sampling/createMessage",
                "params": {"messages": [], "maxTokens": 5},
            }
        },
        {"roots": {"method": "roots/list", "params": {}}},
    ]


@pytest.mark.parametrize(
    ("kind", "request_body", "answer"),
    [
        ("ELICIT", '{"message":"m","schema":{}}', '{"action":"decline"}'),
        ("ELICIT", '{"message":"m","url":"https://a","mode":"url"}', '{"action":"decline"}'),
        (
            "SAMPLE",
            '{"messages":[]}',
            '{"error":{"code":-32021,"message":'
            '"the client does not support sampling/createMessage"}}',
        ),
        (
            "ROOTS",
            "{}",
            '{"error":{"code":-32021,"message":"the client does not support roots/list"}}',
        ),
    ],
)
async def test_a_client_that_cannot_be_asked_is_not(
    yard: Yard, kind: str, request_body: str, answer: str
) -> None:
    channel = Recorder()
    tool = yard.bash("ask.sh", f"{ASK} ask {kind} '{request_body}'")
    assert text_of(await run(tool, channel=channel)) == answer
    assert channel.said == []


async def test_a_mode_that_the_revision_lacks_is_declined(yard: Yard) -> None:
    call = calling(
        revision=R2025_06_18, client=Client({}, capabilities={"elicitation": {"url": {}}})
    )
    body = ASK + """ask ELICIT '{"message":"m","url":"https://a","mode":"url"}'"""
    assert text_of(await run(yard.bash("ask.sh", body), call=call)) == '{"action":"decline"}'


@pytest.mark.parametrize(
    ("raised", "answer"),
    [
        (ToolError("no answer"), '{"action":"cancel"}'),
        (ProtocolError(MISSING_CAPABILITY, "cannot"), '{"action":"decline"}'),
    ],
)
async def test_a_question_without_an_answer_is_answered_for_the_client(
    yard: Yard, raised: Exception, answer: str
) -> None:
    async def fail(questions: Questions) -> JsonObject:
        raise raised

    tool = yard.bash("ask.sh", ASK + FORM)
    result = await run(tool, call=able(elicitation={}), channel=Recorder(fail))
    assert text_of(result) == answer


async def test_a_request_written_in_place_is_read_when_it_is_whole(yard: Yard) -> None:
    body = """exec 3> "$MCP_ELICIT_REQUEST_FILE"
    printf '{"message":' >&3; sleep 0.2; printf '"late","schema":{}}' >&3
    until [ -s "$MCP_ELICIT_RESPONSE_FILE" ]; do sleep 0.01; done; echo done"""
    channel = answering({"action": "accept"})
    result = await run(yard.bash("slow.sh", body), call=able(elicitation={}), channel=channel)
    assert text_of(result) == "done"
    assert channel.said[0][1]["elicit"]["params"]["message"] == "late"


async def test_a_request_that_is_not_json_is_answered_all_the_same(yard: Yard) -> None:
    tool = yard.bash("bad.sh", f"{ASK} ask ELICIT 'what?'")
    result = await run(tool, call=able(elicitation={}))
    assert text_of(result) == '{"action":"cancel"}'


async def test_several_questions_in_turn(yard: Yard) -> None:
    channel = answering({"action": "accept"})
    body = ASK + "\n".join([f"{FORM}; echo"] * 3)
    result = await run(yard.bash("ask.sh", body), call=able(elicitation={}), channel=channel)
    assert text_of(result) == "\n".join(['{"action":"accept"}'] * 3)


async def test_the_timeout_stands_still_while_a_question_is_open(yard: Yard) -> None:
    async def slowly(questions: Questions) -> JsonObject:
        await asyncio.sleep(3.0)
        return {"elicit": {"action": "accept"}}

    tool = yard.bash("ask.sh", ASK + FORM, timeoutSecs=2.5)
    result = await run(tool, call=able(elicitation={}), channel=Recorder(slowly))
    assert result["isError"] is False


async def test_a_call_that_waits_for_an_answer_holds_no_place(a_yard: MakeYard) -> None:
    yard = a_yard(max_concurrent=1)
    answered = asyncio.Event()

    async def later(questions: Questions) -> JsonObject:
        await answered.wait()
        return {"elicit": {"action": "accept"}}

    channel = Recorder(later)
    tool = yard.bash("ask.sh", ASK + FORM)
    asking = asyncio.create_task(run(tool, call=able(elicitation={}), channel=channel))
    async with asyncio.timeout(WITHIN):
        await channel.until("ask")
        assert text_of(await run(yard.bash("other.sh", "echo other"))) == "other"
    answered.set()
    assert (await asking)["structuredContent"] == {"action": "accept"}


async def test_an_answer_waits_for_a_place(a_yard: MakeYard) -> None:
    yard = a_yard(max_concurrent=1)
    answered = asyncio.Event()

    async def later(questions: Questions) -> JsonObject:
        await answered.wait()
        return {"elicit": {"action": "accept"}}

    channel = Recorder(later)
    tool = yard.bash("ask.sh", ASK + FORM)
    asking = asyncio.create_task(run(tool, call=able(elicitation={}), channel=channel))
    await channel.until("ask")
    body = "echo > held; until [ -e go ]; do sleep 0.01; done"
    holding = asyncio.create_task(run(yard.bash("hold.sh", body)))
    await until_exists(yard.root / "held")
    answered.set()
    await asyncio.sleep(0.1)
    assert not asking.done()
    (yard.root / "go").touch()
    await asyncio.gather(asking, holding)


@pytest.mark.parametrize("how", ["cancelled", "ended"])
async def test_a_question_ends_with_its_call(a_yard: MakeYard, how: str) -> None:
    yard = a_yard(max_concurrent=1)
    given_up = asyncio.Event()

    async def never(questions: Questions) -> JsonObject:
        try:
            await asyncio.Event().wait()
        finally:
            given_up.set()
        return {}

    body = """printf '{"message":"m","schema":{}}' > "$MCP_ELICIT_REQUEST_FILE"
    until [ -e go ]; do sleep 0.01; done"""
    channel = Recorder(never)
    call: asyncio.Task[Any] = asyncio.create_task(
        run(yard.bash("ask.sh", body), call=able(elicitation={}), channel=channel)
    )
    await channel.until("ask")
    if how == "cancelled":
        call.cancel()
    (yard.root / "go").touch()
    await asyncio.gather(call, return_exceptions=True)
    async with asyncio.timeout(WITHIN):
        await given_up.wait()
        assert text_of(await run(yard.bash("next.sh", "echo next"))) == "next"


@pytest.mark.parametrize(("configured", "waits"), [(None, 600.0), (7.0, 7.0)])
async def test_how_long_a_parked_question_waits(
    a_yard: MakeYard, configured: float | None, waits: float
) -> None:
    yard = a_yard(question_timeout=configured)
    channel = answering({"action": "accept"})
    call = calling(revision=R2026_07_28, client=Client({}, capabilities={"elicitation": {}}))
    await run(yard.bash("ask.sh", ASK + FORM), call=call, channel=channel)
    assert channel.said[0][2] == waits


async def test_scripts_that_wait_for_answers_are_so_many_and_no_more(a_yard: MakeYard) -> None:
    yard = a_yard(max_concurrent=2, max_asking=3)
    answered = asyncio.Event()

    async def late(questions: Questions) -> JsonObject:
        await answered.wait()
        return {key: {"action": "decline"} for key in questions}

    channel, target = Recorder(late), yard.bash("ask.sh", ASK + FORM)
    calls = [
        asyncio.create_task(run(target, call=able(elicitation={}), channel=channel))
        for _ in range(8)
    ]
    await until(lambda: len(channel.said) >= 5)
    with pytest.raises(TimeoutError):
        await until(lambda: len(channel.said) >= 6, 1)
    answered.set()
    results = await asyncio.gather(*calls)
    assert [one["structuredContent"] for one in results] == [{"action": "decline"}] * 8
