"""Load on replicas: every kind of request in every revision, counted; replicas killed under it."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.cluster.yard import KEY, YES, text
from tests.peers.nginx import balancer
from tests.peers.ports import free_port
from tests.peers.raw import EVERYTHING
from tests.peers.raw_http import HttpClient
from tests.peers.redis import RedisServer
from tests.peers.serving import Listening, listening, toolyard
from tests.processes import processes

MANNER: dict[str, Any] = {"capabilities": EVERYTHING, "answers": YES, "checked": False}
# What a client does in one round, and how many requests of its own that takes.
CLIENTS = 8
KINDS = ("call", "list", "call", "progress", "call", "list", "call", "subscription", "call", "ask")


class Rounds:
    """One client that makes requests of every kind in turn, and counts what went wrong."""

    def __init__(self, url: str, revision: str, number: int, folder: Path) -> None:
        self.client = HttpClient(url, revision, **MANNER)
        self.number = number
        self.errors: list[str] = []
        self.counts: Counter[str] = Counter()
        self._held = folder / "tools" / "held" / "began"

    async def run(self, requests: int) -> None:
        await self.client.start()
        turn = self.number
        while self.counts.total() < requests:
            kind = KINDS[turn % len(KINDS)]
            if turn % 50 == 49:
                kind = "cancellation"
            turn += 1
            try:
                await getattr(self, kind)()
            except Exception as error:
                self.errors.append(f"{self.client.revision} {kind}: {error!r}"[:300])
            self.counts[kind] += 1
        await self.client.close()

    async def call(self) -> None:
        assert text(await self.client.call("who")).strip().isdigit()

    async def list(self) -> None:
        assert len((await self.client.result("tools/list"))["tools"]) >= 4

    async def progress(self) -> None:
        token = f"{self.number} {self.counts['progress']}"
        await self.client.call("steps", meta={"progressToken": token})
        heard = [one["params"] for one in self.client.notifications if "ogress" in one["method"]]
        assert [one["progress"] for one in heard if one["progressToken"] == token] == [1, 2, 3]
        self.client.notifications.clear()

    async def ask(self) -> None:
        """Answered through the other replica: each message has a connection of its own."""
        if self.client.revision in ("2024-11-05", "2025-03-26"):
            await self.call()  # nobody can be asked there
        else:
            assert '"accept"' in text(await self.client.call("ask"))

    async def subscription(self) -> None:
        uri = (await self.client.result("resources/list"))["resources"][0]["uri"]
        if self.client.modern:
            filters = {"notifications": {"resourceSubscriptions": [uri]}}
            async with self.client.stream(
                self.client.message("subscriptions/listen", filters)
            ) as got:
                async for event in got.events():
                    assert "acknowledged" in (event.data or ""), event
                    break
            return
        await self.client.result("resources/subscribe", {"uri": uri})
        await self.client.result("resources/unsubscribe", {"uri": uri})

    async def cancellation(self) -> None:
        message = self.client.message("tools/call", {"name": "held", "arguments": {}})
        if self.client.modern:
            cut = asyncio.create_task(self.client.post(message))
            await asyncio.sleep(0.05)
            cut.cancel()
            await asyncio.gather(cut, return_exceptions=True)
            return
        posting = asyncio.create_task(self.client.post(message))
        while not posting.done():  # it may be heard before the request, on another connection
            await asyncio.sleep(0.05)
            await self.client.notify("notifications/cancelled", {"requestId": message["id"]})
        assert (await posting).messages == []


async def every_kind(
    url: str, revision: str, folder: Path, requests: int, clients: int = 8
) -> tuple[Counter[str], list[str]]:
    """So many requests in one revision; how many of each kind, and every error."""
    rounds = [Rounds(url, revision, number, folder) for number in range(clients)]
    await asyncio.gather(*(one.run(requests // clients) for one in rounds))
    counts = sum((one.counts for one in rounds), Counter[str]())
    return counts, [error for one in rounds for error in one.errors]


@dataclass(slots=True)
class Losses:
    """What killing replicas has cost."""

    calls: int = 0
    failures: int = 0
    unknown_sessions: int = 0
    wrong: list[str] = field(default_factory=list)
    slowest: float = 0.0


class Stubborn:
    """A client that goes on calling; a call that fails is not made again, but the next is."""

    def __init__(self, url: str, losses: Losses, folder: Path, number: int) -> None:
        self.client = HttpClient(url, "2025-11-25", checked=False)
        self._losses = losses
        self._number = number
        self.made = folder / "made"

    async def run(self, over: asyncio.Event) -> None:
        await self.client.start()
        count = 0
        while not over.is_set():
            count += 1
            await self.call(f"{self._number}-{count}")

    async def call(self, name: str) -> None:
        params = {"name": "mark", "arguments": {"name": name}}
        began = time.monotonic()
        self._losses.calls += 1
        try:
            posted = await self.client.post(self.client.message("tools/call", params))
        except (OSError, asyncio.IncompleteReadError, ValueError, IndexError):
            await self._failed()  # cut off, or nginx's own page
            return
        self._losses.slowest = max(self._losses.slowest, time.monotonic() - began)
        if posted.status == 404:
            self._losses.unknown_sessions += 1
        elif posted.status != 200 or "error" in posted.messages[0]:
            if "may have run" not in str(posted.messages):
                self._losses.wrong.append(str((posted.status, posted.messages))[:300])
            await self._failed()

    async def _failed(self) -> None:
        self._losses.failures += 1
        # A process that dies closes its connections one by one, and its port among them: a call
        # made at once could be cut off again by what had cut off the one before.
        await asyncio.sleep(0.2)


def runs_of(folder: Path) -> Counter[str]:
    """How often each marked call has run."""
    path = folder / "tools" / "mark" / "marks"
    return Counter(path.read_text().split() if path.exists() else ())


def left_of(folder: Path) -> set[int]:
    """Processes that serve a project, or run a script of it."""
    return {pid for pid, _ in processes() if str(folder) in _command_line(pid)}


def _command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


@asynccontextmanager
async def fixed_replicas(
    folder: Path, redis: RedisServer, count: int = 2
) -> AsyncIterator[tuple[str, list[Fixed]]]:
    """Replicas on ports of their own, so that one comes back to where it was."""
    async with AsyncExitStack() as stack:
        fixed = [Fixed(folder, redis, free_port()) for _ in range(count)]
        for one in fixed:
            await one.start()
            stack.push_async_callback(one.stop)
        url = stack.enter_context(balancer([f"http://127.0.0.1:{one.port}" for one in fixed]))
        yield url, fixed


class Fixed:
    def __init__(self, folder: Path, redis: RedisServer, port: int) -> None:
        self.port = port
        self._command = toolyard(
            "serve", folder, "--http", f"127.0.0.1:{port}", "--store", redis.url
        )
        self._stack = AsyncExitStack()
        self.server: Listening | None = None

    async def start(self) -> None:
        env = {"TOOLYARD_CLUSTER_KEY": KEY}
        self.server = await self._stack.enter_async_context(listening(self._command, env=env))

    async def stop(self) -> None:
        await self._stack.aclose()

    @property
    def pid(self) -> int:
        assert self.server is not None
        return self.server.process.pid

    async def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        await self.replaceable()

    async def drain(self) -> None:
        assert self.server is not None
        self.server.process.send_signal(signal.SIGTERM)
        assert await self.server.process.wait() == 0
        await self.replaceable()

    async def replaceable(self) -> None:
        await self.stop()
        self._stack = AsyncExitStack()


async def end_in_turns(
    url: str,
    fixed: list[Fixed],
    folder: Path,
    count: int,
    end: Callable[[Fixed], Awaitable[None]] = Fixed.kill,
) -> Losses:
    """Replicas are ended in turns under load, killed if nothing else is said, and come back."""
    losses, over = Losses(), asyncio.Event()
    callers = [Stubborn(url, losses, folder, number) for number in range(CLIENTS)]
    load = asyncio.gather(*(caller.run(over) for caller in callers))
    for number in range(count):
        await asyncio.sleep(1.0)
        victim = fixed[number % len(fixed)]
        await end(victim)
        await asyncio.sleep(2.0)
        await victim.start()
    over.set()
    await load
    return losses
