"""What the page costs the gateway: without it, with it closed, and with it open and live.

    python -m bench.page [--count 400] [--rounds 30] [--pairs 10]

The same call to an upstream in memory, through a gateway without the page and one with it, in
turns of some 50 ms each: a machine whose speed moves does so for all of them. All calls count,
over several pairs of gateways, because no two processes are equally fast.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import uvloop

from bench.http import free_port, reachable
from bench.load import Load, load, modern_call
from bench.peers import environment
from tests.peers.http1 import fetch

LINK = re.compile(r"token=(\S+)")
WAYS = ("without the page", "page closed", "page open, live")


@dataclass(frozen=True, slots=True)
class Gateway:
    url: str
    pid: int
    token: str = ""


def started(command: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(command, env=environment(), stderr=subprocess.PIPE, text=True)


@asynccontextmanager
async def gateway(registry: Path, *flags: str) -> AsyncIterator[Gateway]:
    port = free_port()
    command = [sys.executable, "-m", "toolyard", "serve", str(registry), "--http", str(port)]
    process = started([*command, *flags])
    assert process.stderr is not None
    try:
        await reachable(port)
        said = process.stderr.readline() + ("" if flags else process.stderr.readline())
        found = LINK.search(said)
        yield Gateway(f"http://127.0.0.1:{port}/mcp", process.pid, found[1] if found else "")
    finally:
        process.terminate()
        process.wait()


@asynccontextmanager
async def looked_at(gateway: Gateway) -> AsyncIterator[None]:
    """An open page: it reads every event that it is sent."""
    headers = {"Authorization": f"Bearer {gateway.token}"}
    async with fetch("GET", gateway.url.replace("/mcp", "/api/events"), headers) as reply:

        async def read() -> None:
            async for _ in reply.events():
                pass

        reading = asyncio.create_task(read())
        try:
            yield
        finally:
            reading.cancel()


@dataclass(slots=True)
class Spent:
    """What all calls in one way took together."""

    calls: int = 0
    seconds: float = 0.0
    cpu: float = 0.0

    def add(self, found: Load, calls: int) -> None:
        self.calls += calls
        self.seconds += calls / found.rate
        self.cpu += calls * found.cpu_us / 1e6

    @property
    def rate(self) -> float:
        return self.calls / self.seconds


Found: TypeAlias = dict[str, Spent]


async def ask(target: Gateway, count: int, spent: Spent) -> None:
    request = modern_call(target.url, "echo", {"name": "x"})
    spent.add(await load(target.url, [target.pid], request, count=count), count)


async def compared(bare: Gateway, paged: Gateway, count: int, rounds: int) -> Found:
    found: Found = {way: Spent() for way in WAYS}
    for target in (bare, paged):
        await ask(target, 4000, Spent())  # what is slow at first is not compared

    async def open_page() -> None:
        async with looked_at(paged):
            await ask(paged, count, found[WAYS[2]])

    turns: list[Callable[[], Awaitable[None]]] = [
        lambda: ask(bare, count, found[WAYS[0]]),
        lambda: ask(paged, count, found[WAYS[1]]),
        open_page,
    ]
    for number in range(rounds):
        for turn in (*turns[number % 3 :], *turns[: number % 3]):
            await turn()
    return found


async def measure(count: int, rounds: int, pairs: int) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        registry = Path(folder) / "registry.json"
        peer = {"command": sys.executable, "args": ["-m", "tests.peers.inmemory", "stdio"]}
        path = {"PYTHONPATH": environment()["PYTHONPATH"]}
        server = {"name": "peer", "stdio": peer, "env": path, "expose": "all"}
        registry.write_text(json.dumps({"servers": [server]}))
        found = []
        for _ in range(pairs):
            async with gateway(registry, "--no-page") as bare, gateway(registry) as paged:
                found.append(await compared(bare, paged, count, rounds))
    return table(found)


def table(found: list[Found]) -> list[str]:
    rows = [
        "| one call through the gateway, 16 in flight | CPU, µs | calls a second "
        "| of the first | in each pair of gateways |",
        "|---|---|---|---|---|",
    ]
    for way in WAYS:
        cpu = sum(one[way].cpu for one in found) / sum(one[way].calls for one in found)
        each = [one[way].rate / one[WAYS[0]].rate for one in found]
        rate = statistics.mean(one[way].rate for one in found)
        shown = ", ".join(f"{ratio:.1%}" for ratio in each)
        rows.append(
            f"| {way} | {cpu * 1e6:.0f} | {rate:,.0f} | {statistics.mean(each):.1%} | {shown} |"
        )
    return [*rows, "", "Goal: at least 95 % with the page open and live."]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--pairs", type=int, default=10)
    options = parser.parse_args()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        print("\n".join(runner.run(measure(options.count, options.rounds, options.pairs))))
