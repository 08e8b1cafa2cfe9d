"""What the page costs the gateway: without it, with it closed, and with it open and live.

    python -m bench.page [--count 1500] [--rounds 16]

The same call through the same gateway to an upstream in memory, in turns, in one run; the best
of each counts.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import uvloop

from bench.http import free_port, reachable
from bench.load import Contender, Load, in_turns, modern_call
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


def contender(way: str, target: Gateway, count: int) -> Contender:
    request = modern_call(target.url, "echo", {"name": "x"})
    return Contender(way, target.url, [target.pid], request, count)


async def measure(count: int, rounds: int) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        registry = Path(folder) / "registry.json"
        peer = {"command": sys.executable, "args": ["-m", "tests.peers.inmemory", "stdio"]}
        path = {"PYTHONPATH": environment()["PYTHONPATH"]}
        server = {"name": "peer", "stdio": peer, "env": path, "expose": "all"}
        registry.write_text(json.dumps({"servers": [server]}))
        async with gateway(registry, "--no-page") as bare, gateway(registry) as paged:
            found = await compared(bare, paged, count, rounds)
    return table(found)


async def compared(bare: Gateway, paged: Gateway, count: int, rounds: int) -> dict[str, Load]:
    without, closed, live = (
        contender(way, target, count)
        for way, target in zip(WAYS, (bare, paged, paged), strict=True)
    )
    for _ in range(rounds):
        await in_turns((without, closed), 1)
        async with looked_at(paged):
            await live.run()
    return await in_turns((without, closed, live), 0)


def table(found: dict[str, Load]) -> list[str]:
    first = found[WAYS[0]].rate
    rows = [
        "| one call through the gateway, 16 in flight | CPU, µs | calls a second | of the first |",
        "|---|---|---|---|",
    ]
    for way, load in found.items():
        rows.append(f"| {way} | {load.cpu_us:.0f} | {load.rate:,.0f} | {load.rate / first:.1%} |")
    return [*rows, "", "Goal: at least 95 % with the page open and live."]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1500)
    parser.add_argument("--rounds", type=int, default=16)
    options = parser.parse_args()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        print("\n".join(runner.run(measure(options.count, options.rounds))))
