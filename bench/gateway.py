"""The gateway's hop against other gateways, all before the same upstream, in one run.

    python -m bench.gateway [--count 2000] [--rounds 12]

CPU and memory are those of the gateway alone, without its upstream. A call is `tools/call` over
HTTP, 16 in flight on keep-alive connections. All run at the same time and are asked in turns;
the best round of each counts. In brackets the middle of the rounds.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import uvloop

from bench.built import BUILT, Unavailable
from bench.http import ARGUMENTS, free_port, reachable, running
from bench.load import Contender, Load, connect, in_turns, modern_call, session_call
from bench.proxies import proxies, upstream
from bench.usage import megabytes, without

# Asked as the others are asked, who do not know the newest revision.
OURS = "ours, client 2025-11-25"
# Throughput against a peer: at least that many times.
WANTED = {
    "supergateway (stateful)": 5,
    "npm mcp-proxy": 5,
    "PyPI mcp-proxy": 10,
    "FastMCP's proxy": 20,
}
# In the command line of whatever stands behind a gateway.
BEHIND = "upstream.py"


@asynccontextmanager
async def serving(
    servers: list[dict[str, object]], tools: Sequence[dict[str, object]] = ()
) -> AsyncIterator[tuple[str, int]]:
    """Our gateway before these servers; its URL and its process."""
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="toolyard-bench-") as folder:
        registry = Path(folder) / "registry.json"
        registry.write_text(json.dumps({"servers": servers, "tools": list(tools)}))
        serve = [sys.executable, "-m", "toolyard", "serve", str(registry), "--http", str(port)]
        with running([*serve, "--no-page"]) as pid:
            await reachable(port)
            yield f"http://127.0.0.1:{port}/mcp", pid


def over_stdio(count: int = 1) -> list[dict[str, object]]:
    command, *args = upstream()
    return [
        {
            "name": f"u{number}",
            "stdio": {"command": command, "args": args},
            "env": {"NUMBER": str(number)},
            "expose": "all",
            "prefix": "" if number == 0 else f"u{number}_",
        }
        for number in range(count)
    ]


async def over_http(stack: AsyncExitStack) -> list[dict[str, object]]:
    """An upstream in memory, of our own kind, because it is the cheapest there is."""
    port = free_port()
    words = [sys.executable, "-m", "tests.peers.inmemory", "http", str(port)]
    stack.enter_context(running(words))
    await reachable(port)
    return [{"name": "u", "url": f"http://127.0.0.1:{port}/mcp", "expose": "all", "prefix": ""}]


async def our_contender(
    stack: AsyncExitStack, what: str, servers: list[dict[str, object]], count: int
) -> Contender:
    url, pid = await stack.enter_async_context(serving(servers))
    session = await session_call(url, "echo", ARGUMENTS)
    request = session if what == OURS else modern_call(url, "echo", ARGUMENTS)
    contender = Contender(what, url, [pid], request, count)
    await contender.run()
    return Contender(what, url, without(pid, BEHIND), request, count)


async def peer_contender(stack: AsyncExitStack, name: str, count: int) -> Contender:
    port = free_port()
    peer = BUILT.get(name)
    url = f"http://127.0.0.1:{port}{peer.path if peer else '/mcp'}"
    command = peer.command(port, upstream()) if peer else proxies(port)[name]
    pid = stack.enter_context(running(command))
    await reachable(port)
    request = await answering(lambda: session_call(url, "echo", ARGUMENTS))
    return Contender(name, url, without(pid, BEHIND), request, count)


async def answering(ask: Callable[[], Awaitable[bytes]]) -> bytes:
    """It listens before it is ready: ask until it answers."""
    async with asyncio.timeout(30):
        while True:
            try:
                return await ask()
            except (OSError, asyncio.IncompleteReadError):
                await asyncio.sleep(0.1)


async def contenders(stack: AsyncExitStack, count: int) -> list[Contender]:
    found = [
        await our_contender(stack, OURS, over_stdio(), count),
        await our_contender(stack, "ours, client 2026-07-28", over_stdio(), count),
        await our_contender(stack, "ours, upstream over HTTP", await over_http(stack), count),
    ]
    for name in (*WANTED, *BUILT):
        try:
            found.append(await peer_contender(stack, name, count // 5))
        except Unavailable as error:
            print(f"{name} is left out: {error}", file=sys.stderr)
        except (OSError, TimeoutError, ValueError) as error:
            print(f"{name} could not be measured: {error!r}", file=sys.stderr)
    return found


async def idle_memory(count: int) -> float:
    """Of a gateway whose upstreams have all been used."""
    async with serving(over_stdio(count)) as (url, pid):
        names = ["echo", *(f"u{number}_echo" for number in range(1, count))]
        connection = await connect(url)
        for name in names:
            head, body = await connection.send(modern_call(url, name, ARGUMENTS))
            assert b'"result"' in body, (head, body)
        connection.close()
        return megabytes(without(pid, BEHIND))


async def measure(count: int, rounds: int) -> list[str]:
    async with AsyncExitStack() as stack:
        running_now = await contenders(stack, count)
        found = await in_turns(running_now, rounds)
        memory = {one.what: megabytes(one.pids) for one in running_now}
    rows = [
        "| one call through a gateway | CPU, µs | of ours | calls/s | ours is faster by "
        "(by the middle of the rounds) | MB |",
        "|---|---|---|---|---|---|",
    ]
    middle = {one.what: statistics.median(one.rates) for one in running_now}
    for what, load in found.items():
        goal = f" (goal: {WANTED[what]} times)" if what in WANTED else ""
        usual = f"({middle[OURS] / middle[what]:.1f})"
        rows.append(f"| {what}{goal} | {told(load, found[OURS])} {usual} | {memory[what]:.0f} |")
    rows.append(f"| ours, idle, 5 upstreams (goal: 50 MB) | | | | | {await idle_memory(5):.0f} |")
    return [*rows, "", "Goal for the hop: at most 150 µs of CPU, better 60."]


def told(found: Load, ours: Load) -> str:
    cpu, rate = found.cpu_us / ours.cpu_us, ours.rate / found.rate
    return f"{found.cpu_us:,.0f} | {cpu:.1f} | {found.rate:,.0f} | {rate:.1f}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=12)
    options = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    # Whoever asks must not be what is measured.
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        print("\n".join(runner.run(measure(options.count, options.rounds))))
