"""The gateway's hop against other gateways, all before the same stdio upstream, in one run.

    python -m bench.gateway [--count 8000]

CPU and memory are those of the gateway alone, without its upstream. A call is `tools/call` over
HTTP, 16 in flight on keep-alive connections.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import uvloop

from bench.http import free_port, reachable, running
from bench.load import connect, load, modern_call, session_call
from bench.proxies import proxies, upstream
from bench.usage import megabytes, without

ARGUMENTS: dict[str, object] = {"name": "x"}
# Throughput against a peer: at least that many times.
WANTED = {
    "supergateway (stateful)": 5,
    "npm mcp-proxy": 5,
    "PyPI mcp-proxy": 10,
    "FastMCP's proxy": 20,
}


@dataclass(frozen=True, slots=True)
class Hop:
    rate: float
    cpu_us: float
    memory: float


async def hop(url: str, pid: int, request: bytes, count: int) -> Hop:
    own = without(pid, "upstream.py")
    found = await load(url, own, request, count=count)
    return Hop(found.rate, found.cpu_us, megabytes(own))


@asynccontextmanager
async def ours(servers: int = 1) -> AsyncIterator[tuple[str, int]]:
    """A gateway that exposes that many upstreams; its URL and its process."""
    command, *args = upstream()
    defined = [
        {
            "name": f"u{number}",
            "stdio": {"command": command, "args": args},
            "env": {"NUMBER": str(number)},
            "expose": "all",
            "prefix": "" if number == 0 else f"u{number}_",
        }
        for number in range(servers)
    ]
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="toolyard-bench-") as folder:
        registry = Path(folder) / "registry.json"
        registry.write_text(json.dumps({"servers": defined}))
        serve = [sys.executable, "-m", "toolyard", "serve", str(registry), "--http", str(port)]
        with running([*serve, "--no-page"]) as pid:
            await reachable(port)
            yield f"http://127.0.0.1:{port}/mcp", pid


async def measure_ours(count: int, *, modern: bool) -> Hop:
    async with ours() as (url, pid):
        await session_call(url, "echo", ARGUMENTS)
        request = (
            modern_call(url, "echo", ARGUMENTS)
            if modern
            else await session_call(url, "echo", ARGUMENTS)
        )
        return await hop(url, pid, request, count)


async def measure_peer(name: str, count: int) -> Hop:
    port = free_port()
    url = f"http://127.0.0.1:{port}/mcp"
    with running(proxies(port)[name]) as pid:
        await reachable(port)
        return await hop(
            url, pid, await answering(lambda: session_call(url, "echo", ARGUMENTS)), count
        )


async def answering(ask: Callable[[], Awaitable[bytes]]) -> bytes:
    """It listens before it is ready: ask until it answers."""
    async with asyncio.timeout(30):
        while True:
            try:
                return await ask()
            except (OSError, asyncio.IncompleteReadError):
                await asyncio.sleep(0.1)


async def idle_memory(servers: int) -> float:
    """Of a gateway whose upstreams have all been used."""
    async with ours(servers) as (url, pid):
        names = ["echo", *(f"u{number}_echo" for number in range(1, servers))]
        connection = await connect(url)
        for name in names:
            head, body = await connection.send(modern_call(url, name, ARGUMENTS))
            assert b'"result"' in body, (head, body)
        connection.close()
        return megabytes(without(pid, "upstream.py"))


async def measure(count: int = 8000) -> list[tuple[str, str]]:
    """(what, what was found) for each row."""
    modern = await measure_ours(count, modern=True)
    session = await measure_ours(count, modern=False)
    rows = [
        ("ours, client 2026-07-28", told(modern, modern)),
        ("ours, client 2025-11-25", told(session, modern)),
    ]
    for name, times in WANTED.items():
        try:
            peer = await measure_peer(name, count // 8)
        except (OSError, AssertionError, TimeoutError, ValueError) as error:
            print(f"{name} could not be measured: {error!r}", file=sys.stderr)
            rows.append((name, "could not be measured | | | | "))
            continue
        rows.append((f"{name} (goal: ours {times} times)", told(peer, modern)))
    memory = await idle_memory(5)
    rows.append(("ours, idle, 5 upstreams (goal: 50 MB)", f" | | | | {memory:.0f}"))
    return rows


def told(found: Hop, best: Hop) -> str:
    cpu, rate = found.cpu_us / best.cpu_us, best.rate / found.rate
    return f"{found.cpu_us:,.0f} | {cpu:.1f} | {found.rate:,.0f} | {rate:.1f} | {found.memory:.0f}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=8000)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    # Whoever asks must not be what is measured.
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        found = runner.run(measure(parser.parse_args().count))
    print("| one call to a stdio upstream | CPU, µs | of ours | calls/s | ours is faster by | MB |")
    print("|---|---|---|---|---|---|")
    print("\n".join(f"| {what} | {row} |" for what, row in found))
    print("\nGoal for the hop: at most 150 µs of CPU, better 60.")
