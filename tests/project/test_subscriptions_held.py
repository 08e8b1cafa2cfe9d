"""What subscriptions and parked calls may take: a bound for each caller, one watch a URI."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from tests.peers.raw_http import over_http
from tests.peers.serving import ROOT, copied, serving
from tests.project.conftest import Folder, Heard
from toolyard.catalog.entries import Entries, Origin, Resource
from toolyard.catalog.keeper import Keeper
from toolyard.errors import RATE_LIMITED
from toolyard.methods.offer import Offer
from toolyard.methods.subscriptions import SubscriptionMethods
from toolyard.protocol.call import Call, Channel, JsonObject, Result
from toolyard.protocol.revisions import LATEST

pytestmark = pytest.mark.asyncio
OLD, NEW = "2025-11-25", "2026-07-28"


async def test_a_caller_has_so_many_subscriptions_and_no_more(folder: Folder) -> None:
    uris = [f"file://{folder.write(f'resources/{name}.txt', name)}" for name in "abcd"]
    env = {"TOOLYARD_MAX_SUBSCRIPTIONS": "3"}
    async with serving(folder.root, env=env) as server, over_http(server.url, OLD) as client:
        for uri in uris[:3]:
            await client.result("resources/subscribe", {"uri": uri})
        refused = await client.error("resources/subscribe", {"uri": uris[3]})
        assert (refused["code"], refused["message"]) == (
            RATE_LIMITED,
            "Too many subscriptions: at most 3 at the same time",
        )
        await client.result("resources/unsubscribe", {"uri": uris[0]})
        await client.result("resources/subscribe", {"uri": uris[3]})
        async with over_http(server.url, OLD) as other:  # the same caller, in another session
            await other.error("resources/subscribe", {"uri": uris[0]})
        await client.delete()
        async with over_http(server.url, OLD) as other:
            await other.result("resources/subscribe", {"uri": uris[0]})


async def test_watched_programs_leave_room_for_calls(folder: Folder) -> None:
    folder.tool("hello")
    for number in range(8):
        folder.script(f"resources/slow{number}.sh", "exec sleep 60\n")
        folder.write(f"resources/slow{number}.meta.json", {"uri": f"test://slow/{number}"})
    env = {"MCPBASH_MAX_CONCURRENT_REQUESTS": "4", "MCPBASH_DEFAULT_TOOL_TIMEOUT": "60"}
    async with serving(folder.root, env=env) as server, over_http(server.url, OLD) as client:
        for number in range(8):
            await client.result("resources/subscribe", {"uri": f"test://slow/{number}"})
        called = await client.call("hello", within=15)
        assert called["content"][0]["text"].strip() == "hi"


class Watching:
    """A resource that says when it is watched, and when it is not any more."""

    def __init__(self) -> None:
        self.begun = self.ended = 0

    async def call(self, arguments: JsonObject, call: Call, channel: Channel) -> Result:
        return {}

    async def watch(self, arguments: JsonObject, call: Call, changed: Callable[[], None]) -> None:
        self.begun += 1
        try:
            await asyncio.Event().wait()
        finally:
            self.ended += 1


class Once:
    def __init__(self, entries: Entries) -> None:
        self._entries = entries

    def read(self) -> Entries:
        return self._entries

    async def settle(self) -> None: ...

    async def watch(self, changed: Callable[[], None]) -> None: ...


class Session:
    key = "one"

    def notify(self, method: str, params: JsonObject) -> None: ...

    async def ask(self, method: str, params: JsonObject, timeout: float) -> Any: ...

    def on_close(self, callback: Callable[[], None]) -> None: ...


class OnSession(Heard):
    session: Any = Session()


async def test_two_subscriptions_at_once_to_one_uri_are_one_watch_that_ends() -> None:
    target = Watching()
    uri = "test://one"
    thing = Resource(uri, {"uri": uri, "name": "one"}, target, Origin("project"))
    methods = SubscriptionMethods(Offer(Keeper([Once(Entries(resources=(thing,)))]), {}))
    call = Call("resources/subscribe", {"uri": uri}, LATEST)
    await asyncio.gather(*(methods.subscribe(call, OnSession()) for _ in range(2)))
    assert (target.begun, len(methods.watches)) == (1, 1)
    await methods.unsubscribe(call, OnSession())
    await asyncio.sleep(0)
    assert (target.ended, methods.watches) == (1, {})


async def test_a_wrong_answer_leaves_the_call_waiting_and_counted() -> None:
    with copied(ROOT / "tests/projects/contract") as project:
        async with (
            serving(project, env={"MCPBASH_TOOL_ALLOWLIST": "*"}) as server,
            over_http(server.url, NEW, capabilities={"elicitation": {}}) as client,
        ):
            params: JsonObject = {"name": "ask", "arguments": {"kind": "string"}}
            asked = await client.result("tools/call", params)
            (key,) = asked["inputRequests"]
            again = {**params, "requestState": asked["requestState"]}
            for _ in range(3):
                refused = await client.error("tools/call", {**again, "inputResponses": {key: 1}})
                assert refused["message"] == "inputResponses must be objects"
            right = {key: {"action": "accept", "content": {"name": "Ann"}}}
            done = await client.result("tools/call", {**again, "inputResponses": right})
            assert "Ann" in done["content"][0]["text"]
