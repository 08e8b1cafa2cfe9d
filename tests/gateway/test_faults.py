"""Whatever one server does wrong, through the real gateway: nobody else notices, and it recovers.

A healthy server is called at a steady rate all the time. How long its slowest call takes while
others fail is compared with its slowest one before, in the same run.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from tests.gateway.faulty import Faulty, Remote
from tests.gateway.yard import Yard
from tests.peers.raw import MODERN
from tests.peers.raw_http import HttpClient, over_http
from tests.peers.serving import Listening, serving
from tests.processes import alive, processes
from tests.until import until, until_dead
from tests.upstreams.fake_http import fake_http

pytestmark = pytest.mark.long

Json = Any
EVERY = 0.02
CALLS_BEFORE, CALLS_WITH_EACH = 150, 10
RATIO, ALLOWANCE = 10, 1.5
RECOVERS_WITHIN = 30.0
MAY_HAVE_RUN = "; the request may have run"


@dataclass(frozen=True)
class Fault:
    """What is done to a server, or what it does, and what its caller is told: None is no error."""

    what: str
    server: str
    error: str | None
    how: str = ""  # in a call
    mood: str = ""  # in `initialize`
    killed: bool = False  # before the call
    times: int = 1


FAULTS = (
    Fault("killed while idle", "local", None, killed=True),
    Fault("killed in initialize", "local", "killed by SIGKILL", mood="crash", killed=True),
    Fault("killed in a call", "local", f"was killed by SIGKILL{MAY_HAVE_RUN}", how="crash"),
    Fault("killed again and again", "local", "was killed by SIGKILL", how="crash", times=5),
    Fault("hangs in initialize", "local", "no answer within 3 s", mood="wait", killed=True),
    Fault("hangs in a call", "local", f"within 1 s{MAY_HAVE_RUN}", how="hang"),
    Fault("closes its output", "local", f"closed its output{MAY_HAVE_RUN}", how="mute"),
    Fault("talks rubbish meanwhile", "local", None, how="garbage"),
    Fault("401 in a call", "remote", "HTTP 401", how="401"),
    Fault("404 in a call", "remote", "HTTP 404", how="404"),
    Fault("410 in a call", "remote", "HTTP 410", how="410"),
    Fault("500 in a call", "remote", "HTTP 500", how="500"),
    Fault("503 in a call", "remote", "HTTP 503", how="503"),
    Fault("503 again and again", "remote", "HTTP 503", how="503", times=5),
    Fault("a cut event stream", "remote", f"before the answer{MAY_HAVE_RUN}", how="cut"),
    Fault("a cut connection", "remote", MAY_HAVE_RUN, how="reset"),
    Fault("a half-open connection", "remote", f"within 1 s{MAY_HAVE_RUN}", how="half-open"),
    Fault("rubbish for an answer", "remote", MAY_HAVE_RUN, how="garbage"),
)


class Steady:
    """Calls the healthy server at a fixed rate, whether or not the calls before are back."""

    def __init__(self, client: HttpClient) -> None:
        self._client = client
        self._flying: set[asyncio.Task[None]] = set()
        self.took: list[float] = []
        self.failed: list[Json] = []

    async def run(self) -> None:
        while True:
            task = asyncio.create_task(self._one())
            self._flying.add(task)
            task.add_done_callback(self._flying.discard)
            await asyncio.sleep(EVERY)

    async def _one(self) -> None:
        began = asyncio.get_running_loop().time()
        try:
            result = await self._client.call("echo", {"n": 1})
        except Exception as error:
            self.failed.append(repr(error))
            return
        self.took.append(asyncio.get_running_loop().time() - began)
        if result.get("isError"):
            self.failed.append(result)

    async def more(self, number: int) -> None:
        """Until so many more have come back."""
        enough = len(self.took) + number
        await until(lambda: len(self.took) >= enough or self.failed)

    async def finish(self) -> None:
        await asyncio.gather(*self._flying)


@asynccontextmanager
async def steady(client: HttpClient) -> AsyncIterator[Steady]:
    calls = Steady(client)
    running = asyncio.create_task(calls.run())
    try:
        yield calls
    finally:
        running.cancel()
        await calls.finish()


class Scene:
    def __init__(self, faulty: Faulty, remote: Remote, client: HttpClient) -> None:
        self._faulty = faulty
        self._remote = remote
        self._client = client
        self._local = 0  # the process

    async def call(self, server: str, how: str = "") -> Json:
        result = await self._client.call(server, self._faulty.arguments(how))
        if server == "local" and not result.get("isError"):
            self._local = result["structuredContent"]["pid"]
        return result

    async def plays(self, fault: Fault) -> None:
        self._faulty.mood.write_text(fault.mood)
        if fault.killed:
            os.kill(self._local, signal.SIGKILL)
            await until_dead(self._local)
        for _ in range(fault.times):
            check(fault, await self.call(fault.server, fault.how))
        self._faulty.mood.write_text("")
        self._remote.silence.clear()
        await self.recovered(fault)

    async def recovered(self, fault: Fault) -> None:
        result: Json = None
        try:
            async with asyncio.timeout(RECOVERS_WITHIN):
                while (result := await self.call(fault.server)).get("isError"):
                    await asyncio.sleep(0.1)
        except TimeoutError:
            raise AssertionError(f"{fault.what}: still {result}") from None


def check(fault: Fault, result: Json) -> None:
    if fault.error is None:
        assert not result.get("isError"), (fault.what, result)
        return
    assert result["isError"], (fault.what, result)
    text = result["content"][0]["text"]
    assert re.match(rf"{fault.server}: .*{fault.error}", text), (fault.what, text)


def children_of(server: Listening) -> set[int]:
    """Zombies included."""
    return {pid for pid, fields in processes() if int(fields[1]) == server.process.pid}


async def only_two_and_a_watcher(server: Listening) -> set[int]:
    await until(lambda: len(children_of(server)) <= 3)
    found = children_of(server)
    assert len(found) == 3
    return found


async def test_what_one_server_does_wrong_is_nobody_else_s_trouble(yard: Yard) -> None:
    faulty = Faulty(yard, yard.root / "ran", yard.root / "mood")
    faulty.mood.write_text("")
    remote = Remote(faulty.ran)
    async with fake_http(remote) as listening:
        faulty.write(listening)
        async with (
            serving(yard.file) as server,
            over_http(server.url, MODERN, checked=False) as client,
        ):
            scene = Scene(faulty, remote, client)
            for name in ("local", "remote"):
                assert not (await scene.call(name)).get("isError")
            await client.call("echo")
            async with steady(client) as calls:
                await calls.more(CALLS_BEFORE)
                slowest_before, calls.took = max(calls.took), []
                for fault in FAULTS:
                    await asyncio.gather(scene.plays(fault), calls.more(CALLS_WITH_EACH))
            ours = await only_two_and_a_watcher(server)
            server.process.terminate()
            assert await server.process.wait() == 0
    assert calls.failed == []
    assert max(calls.took) <= RATIO * slowest_before + ALLOWANCE
    assert {note: times for note, times in faulty.times_run().items() if times != 1} == {}
    assert not any(map(alive, ours))
