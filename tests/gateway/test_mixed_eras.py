"""Any client revision against any upstream revision, through a gateway, nothing lost."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
import pytest_asyncio
from mcp.shared.exceptions import MCPError

from tests.gateway.eras import HANDSHAKE, MODERN, Person, gateway_before, text_of
from tests.peers.raw import JsonObject, RawClient
from tests.peers.raw_http import over_http, over_sse
from tests.peers.sdk_fixtures import WATCHED
from tests.peers.serving import Listening
from tests.until import until

Gateways = Mapping[str, Listening]
# (client, upstream)
PAIRS = [(MODERN, HANDSHAKE), (HANDSHAKE, MODERN), (MODERN, MODERN), (HANDSHAKE, HANDSHAKE)]
every_pair = pytest.mark.parametrize(("client", "upstream"), PAIRS)
pytestmark = [
    pytest.mark.long,
    pytest.mark.asyncio(loop_scope="module"),
    # The SDK's word for what only the handshake era has.
    pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning"),
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def gateways(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Gateways]:
    """One before an SDK server of each era."""
    async with AsyncExitStack() as stack:
        yield {
            era: await stack.enter_async_context(
                gateway_before(tmp_path_factory.mktemp("gateway"), era)
            )
            for era in (MODERN, HANDSHAKE)
        }


@every_pair
async def test_lists_calls_reads_prompts_and_completions(
    gateways: Gateways, client: str, upstream: str
) -> None:
    async with Person().client(gateways[upstream].url, client) as session:
        assert session.protocol_version == client
        names = {tool.name for tool in (await session.list_tools()).tools}
        assert {"test_simple_text", "test_elicitation"} <= names
        said = text_of(await session.call_tool("test_simple_text", {}))
        assert said == "This is a simple text response for testing."
        read = await session.read_resource("test://static-text")
        assert "static text resource" in read.contents[0].text  # type: ignore[union-attr]
        prompt = await session.get_prompt("test_prompt_with_arguments", {"arg1": "a", "arg2": "b"})
        assert "arg1='a'" in prompt.messages[0].content.text  # type: ignore[union-attr]
        ref = types.PromptReference(type="ref/prompt", name="test_prompt_with_arguments")
        completed = await session.complete(ref, {"name": "arg1", "value": "par"})
        assert "paris" in completed.completion.values


@every_pair
async def test_progress_and_logs_arrive(gateways: Gateways, client: str, upstream: str) -> None:
    steps: list[float] = []

    async def progressed(progress: float, total: float | None, message: str | None) -> None:
        steps.append(progress)

    person = Person()
    async with person.client(gateways[upstream].url, client) as session:
        if client == HANDSHAKE:
            await session.set_logging_level("info")
        await session.call_tool("test_tool_with_progress", {}, progress_callback=progressed)
        await session.call_tool("test_tool_with_logging", {})
        await until(lambda: len(person.logged) >= 3 and len(steps) >= 3)
    assert steps == [0, 50, 100]
    assert person.logged == [
        "Tool execution started",
        "Tool processing data",
        "Tool execution completed",
    ]


@every_pair
async def test_questions_are_answered(gateways: Gateways, client: str, upstream: str) -> None:
    person = Person("Bea")
    async with person.client(gateways[upstream].url, client) as session:
        elicited = await session.call_tool("test_elicitation", {"message": "Who are you?"})
        assert '"username": "Bea"' in text_of(elicited)
        sampled = await session.call_tool("test_sampling", {"prompt": "Say something"})
        assert text_of(sampled) == "LLM response: sampled by Bea"
        rooted = await session.call_tool("test_input_required_result_list_roots", {})
        assert text_of(rooted) == "Roots: file:///home/Bea"
    assert person.asked == ["Who are you?", "sampling", "roots"]


@every_pair
async def test_a_client_that_cannot_be_asked_gets_a_clear_error(
    gateways: Gateways, client: str, upstream: str
) -> None:
    async with Person().client(gateways[upstream].url, client, askable=False) as session:
        try:
            result = await session.call_tool("test_elicitation", {"message": "Who are you?"})
            said = text_of(result)
            assert result.is_error
        except MCPError as error:
            said = str(error)
    assert "elicitation" in said.lower(), said


@every_pair
async def test_a_watched_resource_tells_that_it_changed(
    gateways: Gateways, client: str, upstream: str
) -> None:
    person = Person()
    # Who can be asked has a process of the server to itself, which nobody else watches.
    async with person.client(gateways[upstream].url, client, askable=False) as session:
        if client == MODERN:
            async with session.listen(resource_subscriptions=[WATCHED]) as subscription:
                await session.call_tool("test_trigger_resource_update", {})
                async with asyncio.timeout(10):
                    event = await anext(aiter(subscription))
                assert WATCHED in str(event)
            return
        await session.subscribe_resource(WATCHED)
        await session.call_tool("test_trigger_resource_update", {})
        await until(lambda: any(WATCHED in str(message) for message in person.heard))


@pytest.mark.parametrize("upstream", [MODERN, HANDSHAKE])
@pytest.mark.parametrize("client", [MODERN, HANDSHAKE])
async def test_a_cancelled_call_is_cancelled_upstream(
    tmp_path: Path, client: str, upstream: str
) -> None:
    command = [sys.executable, "-m", "tests.gateway.sdk_slow", str(tmp_path)]
    async with (
        gateway_before(tmp_path, upstream, command) as server,
        Person().client(server.url, client) as session,
    ):
        calling = asyncio.create_task(session.call_tool("wait", {"name": "one"}))
        await until((tmp_path / "one.started").exists)
        assert not (tmp_path / "one.ended").exists()
        calling.cancel()
        await until((tmp_path / "one.ended").exists)
        await asyncio.gather(calling, return_exceptions=True)


@pytest.mark.parametrize("client", [MODERN, HANDSHAKE])
async def test_two_clients_of_one_handshake_upstream_are_each_asked_their_own_question(
    gateways: Gateways, client: str
) -> None:
    people = [Person("Ann"), Person("Bob")]
    async with AsyncExitStack() as stack:
        sessions = [
            await stack.enter_async_context(person.client(gateways[HANDSHAKE].url, client))
            for person in people
        ]

        async def ask(number: int, turn: int) -> str:
            message = f"{people[number].name}, {turn}?"
            return text_of(
                await sessions[number].call_tool("test_elicitation", {"message": message})
            )

        calls = [ask(number, turn) for turn in range(6) for number in (0, 1)]
        said = await asyncio.gather(*calls)
    for number, person in enumerate(people):
        assert sorted(person.asked) == [f"{person.name}, {turn}?" for turn in range(6)]
        assert all(f'"username": "{person.name}"' in text for text in said[number::2])


# -- revisions that the SDK's client no longer speaks --------------------------------------


ANSWERS: Mapping[str, Any] = {
    "elicitation/create": {"action": "accept", "content": {"username": "Old", "email": "o@x"}},
    "sampling/createMessage": {
        "role": "assistant",
        "model": "m",
        "content": {"type": "text", "text": "sampled of old"},
    },
    "roots/list": {"roots": [{"uri": "file:///old"}]},
}


async def conversation(client: RawClient, *, can_elicit: bool) -> None:
    """List, call, read, complete, log, progress, sample, roots, elicit, subscribe."""
    names = {tool["name"] for tool in (await client.result("tools/list"))["tools"]}
    assert "test_simple_text" in names
    assert not (await client.call("test_simple_text")).get("isError")
    read = await client.result("resources/read", {"uri": "test://static-text"})
    assert read["contents"][0]["uri"] == "test://static-text"
    ref = {"type": "ref/prompt", "name": "test_prompt_with_arguments"}
    params = {"ref": ref, "argument": {"name": "arg1", "value": "par"}}
    assert "paris" in (await client.result("completion/complete", params))["completion"]["values"]
    await client.result("logging/setLevel", {"level": "info"})
    await client.call("test_tool_with_logging")
    assert (await client.notification("notifications/message"))["params"]["level"] == "info"
    await client.call("test_tool_with_progress", meta={"progressToken": "p"})
    assert (await client.notification("notifications/progress"))["params"]["progress"] == 0
    sampled = await client.call("test_sampling", {"prompt": "x"})
    assert sampled["content"][0]["text"] == "LLM response: sampled of old"
    rooted = await client.call("test_input_required_result_list_roots")
    assert rooted["content"][0]["text"] == "Roots: file:///old"
    await elicitation(client, can_elicit)


async def elicitation(client: RawClient, can_elicit: bool) -> None:
    params = {"name": "test_elicitation", "arguments": {"message": "Who?"}}
    answered = await client.request("tools/call", params)
    if can_elicit:
        assert '"username": "Old"' in answered["result"]["content"][0]["text"]
        return
    # A question that the client's revision does not have.
    said = str(answered.get("error") or answered["result"]["content"][0]["text"])
    assert "elicitation" in said.lower()
    assert "error" in answered or answered["result"]["isError"]


@pytest.mark.parametrize("upstream", [MODERN, HANDSHAKE])
async def test_a_client_of_2025_06_18_loses_nothing(gateways: Gateways, upstream: str) -> None:
    able: JsonObject = {"elicitation": {}, "sampling": {}, "roots": {}}
    async with over_http(
        gateways[upstream].url, "2025-06-18", capabilities=able, answers=ANSWERS
    ) as client:
        await client.open_get()
        await conversation(client, can_elicit=True)
        await client.result("resources/subscribe", {"uri": WATCHED})
        await client.call("test_trigger_resource_update")
        updated = await client.notification("notifications/resources/updated")
        assert updated["params"]["uri"] == WATCHED


@pytest.mark.parametrize("upstream", [MODERN, HANDSHAKE])
async def test_a_client_of_2024_11_05_loses_nothing_that_it_knows(
    gateways: Gateways, upstream: str
) -> None:
    able: JsonObject = {"sampling": {}, "roots": {}}
    url = f"{gateways[upstream].origin}/sse"
    async with over_sse(url, capabilities=able, answers=ANSWERS) as client:
        await conversation(client, can_elicit=False)
        await client.result("resources/subscribe", {"uri": WATCHED})
        await client.call("test_trigger_resource_update")
        updated = await client.notification("notifications/resources/updated")
        assert updated["params"]["uri"] == WATCHED
