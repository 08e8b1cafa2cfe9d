"""What a call through the gateway costs when many are in flight, against 16 in flight.

    python -m bench.connections [--count 4000] [--rounds 5]

CPU is the gateway's alone. Every connection has one call in flight. The numbers of connections
take turns, and the best round of each counts. With one call at a time every step of it wakes the
process, which is dear and none of ours: what it costs shows in a relay that only passes bytes on.
So each figure also stands beside the relay's at the same number of connections.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from contextlib import AsyncExitStack
from urllib.parse import urlsplit

import uvloop

from bench.gateway import BEHIND, over_http, over_stdio, serving
from bench.http import ARGUMENTS, free_port, reachable, running
from bench.load import Load, load, modern_call
from bench.usage import without

CONNECTIONS = (1, 16, 128, 1000)
USUAL = 16
GOAL = 1.2


async def costs(
    stack: AsyncExitStack, servers: list[dict[str, object]], count: int, rounds: int
) -> dict[int, Load]:
    url, pid = await stack.enter_async_context(serving(servers))
    await load(url, [pid], modern_call(url, "echo", ARGUMENTS), count=count // 8)
    return await by_number(url, without(pid, BEHIND), count, rounds)


async def floor(stack: AsyncExitStack, behind: str, count: int, rounds: int) -> dict[int, Load]:
    """A relay before the upstream that listens at this URL."""
    port = free_port()
    words = [sys.executable, "-m", "bench.relay", str(port), str(urlsplit(behind).port)]
    pid = stack.enter_context(running(words))
    await reachable(port)
    return await by_number(f"http://127.0.0.1:{port}/mcp", [pid], count, rounds)


async def by_number(url: str, pids: list[int], count: int, rounds: int) -> dict[int, Load]:
    request, best = modern_call(url, "echo", ARGUMENTS), dict[int, Load]()
    for _ in range(rounds):
        for number in CONNECTIONS:
            calls = max(count, number * 8)  # those that open a connection count for little
            round_load = await load(url, pids, request, count=calls, at_once=number)
            best[number] = round_load.better(best.get(number))
    return best


async def measure(count: int, rounds: int) -> list[str]:
    rows = [
        f"| upstream | connections | CPU, µs | of that at {USUAL} (goal: {GOAL}) "
        f"| times the relay | of that at {USUAL} | calls/s |",
        "|---|---|---|---|---|---|---|",
    ]
    async with AsyncExitStack() as stack:
        upstreams = {"over stdio": over_stdio(), "over HTTP": await over_http(stack)}
        behind = str(upstreams["over HTTP"][0]["url"])
        costs_by = {
            name: await costs(stack, servers, count, rounds) for name, servers in upstreams.items()
        }
        relay = costs_by["(a bare relay)"] = await floor(stack, behind, count, rounds)
        for name, loads in costs_by.items():
            rows += [row(name, number, loads, relay) for number in loads]
    return rows


def row(name: str, number: int, loads: dict[int, Load], relay: dict[int, Load]) -> str:
    cost = loads[number]
    of_usual = cost.cpu_us / loads[USUAL].cpu_us
    times = cost.cpu_us / relay[number].cpu_us
    times_usual = loads[USUAL].cpu_us / relay[USUAL].cpu_us
    return (
        f"| {name} | {number:,} | {cost.cpu_us:,.0f} | {of_usual:.2f} "
        f"| {times:.1f} | {times / times_usual:.2f} | {cost.rate:,.0f} |"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    # Whoever asks must not be what is measured.
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        print("\n".join(runner.run(measure(options.count, options.rounds))))
