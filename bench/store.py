"""What a store is asked for, and what it holds: trips for each kind of request, memory of sessions.

    python -m bench.store [--sessions 10000]

Two replicas, a redis-server. Commands are counted as they arrive at the store (MONITOR); what the
replicas say about themselves all the time is counted apart. Memory is what the store uses more
than before, with all sessions open and idle; with --sessions 0 it is left out.
"""

from __future__ import annotations

import argparse
import asyncio
import socket
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.cluster.yard import YES, Replicas, replicas, yard
from tests.peers.raw_http import HttpClient, over_http
from tests.peers.redis import RedisServer

OLD, NEW = "2025-11-25", "2026-07-28"
ABLE: dict[str, object] = {"elicitation": {}}
TIMES = 50
AT_ONCE = 32
# What each process says twice a second, whatever is asked of it.
STANDING = ("{processes}", "{term:")


class Monitor:
    """Every command that arrives, except those that a script of ours runs inside the store."""

    def __init__(self, redis: RedisServer) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(str(redis.socket))
        self._socket.sendall(b"MONITOR\r\n")
        self.lines: list[str] = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self._socket.makefile("r", errors="replace"):
            if " lua] " not in line and "[" in line:
                self.lines.append(line)

    @contextmanager
    def count(self) -> Iterator[list[int]]:
        time.sleep(0.3)  # what the last one left
        begin = len(self.lines)
        counts: list[int] = []
        yield counts
        time.sleep(0.3)
        lines = self.lines[begin:]
        standing = sum(any(word in line for word in STANDING) for line in lines)
        counts += [len(lines) - standing, standing]


async def trips(monitor: Monitor, name: str, work: Callable[[], Awaitable[object]]) -> None:
    await work()  # the first of a kind may learn something
    with monitor.count() as counts:
        for _ in range(TIMES):
            await work()
    print(f"| {name} | {counts[0] / TIMES:.2f} |", flush=True)


async def requests(group: Replicas, monitor: Monitor) -> None:
    print("| request | commands at the store |\n|---|---|")
    one, other = group.servers
    async with over_http(one.url, NEW, start=False) as modern:
        await trips(monitor, f"{NEW}: a call", lambda: modern.call("who"))
        await trips(monitor, f"{NEW}: a list", lambda: modern.request("tools/list"))
    async with over_http(one.url, OLD, answers=YES, capabilities=ABLE) as session:
        await trips(monitor, "session: a call, at its owner", lambda: session.call("who"))
        await trips(monitor, "session: a list, at its owner", lambda: session.request("tools/list"))
        await trips(monitor, "session: a call with three reports", lambda: reported(session))
        await trips(monitor, "session: a call that asks once", lambda: session.call("ask"))
        session.url = other.url
        await trips(monitor, "session: a call, at another replica", lambda: session.call("who"))
        session.url = one.url
    await trips(monitor, "a session opened and ended", lambda: visit(one.url))


async def reported(session: HttpClient) -> None:
    await session.call("steps", meta={"progressToken": "t"})


async def visit(url: str) -> None:
    async with over_http(url, OLD):
        pass


def used(redis: RedisServer) -> int:
    lines = redis.ask("INFO", "memory").splitlines()
    return int(next(line for line in lines if line.startswith("used_memory:")).partition(":")[2])


async def memory(group: Replicas, monitor: Monitor, count: int) -> None:
    before, left = used(group.redis), iter(range(count))
    clients: list[HttpClient] = []

    async def open_some() -> None:
        for number in left:
            client = HttpClient(group.servers[number % 2].url, OLD)
            await client.start()
            clients.append(client)

    await asyncio.gather(*(open_some() for _ in range(AT_ONCE)))
    grown = used(group.redis) - before
    print(f"\n{count} sessions: {grown / 1e6:.1f} MB, {grown / count:.0f} bytes each")
    with monitor.count() as counts:
        await asyncio.sleep(30)
    print(f"idle for 30 s: {counts[0] / 30:.1f} commands a second for the sessions, ", end="")
    print(f"{counts[1] / 30:.1f} for two processes")


async def main(count: int) -> None:
    env = {"TOOLYARD_MAX_SESSIONS": "100000", "TOOLYARD_MAX_SESSIONS_PER_CALLER": "100000"}
    with tempfile.TemporaryDirectory() as folder:
        async with replicas(yard(Path(folder) / "yard"), "--no-page", env=env) as group:
            monitor = Monitor(group.redis)
            await requests(group, monitor)
            if count:
                await memory(group, monitor, count)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=10_000)
    asyncio.run(main(parser.parse_args().sessions))
