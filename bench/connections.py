"""What a call through a gateway costs when many are in flight, against 16 in flight.

    python -m bench.connections [--count 4000] [--rounds 5]

Ours beside the gateways in Go and Rust that can be had. CPU is the gateway's alone. Every
connection has one call in flight. All take turns. With one call at a time every step of it wakes
the process, which is dear and none of ours: what that costs shows in a relay that only passes bytes
on.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from contextlib import AsyncExitStack
from urllib.parse import urlsplit

import uvloop

from bench.http import ARGUMENTS, free_port, reachable, running
from bench.load import Contender, modern_call
from bench.proxies import upstream
from bench.standing import Standing, built_before, ours, over_http, over_stdio
from bench.table import LEGEND, Row, cpu_times, table, take_turns

CONNECTIONS = (1, 16, 128, 1000)
USUAL = 16
GOAL = 1.2
RELAY = "a bare relay"


async def relay(stack: AsyncExitStack, behind: str) -> Standing:
    """Before the upstream that listens at this URL."""
    port = free_port()
    words = [sys.executable, "-m", "bench.relay", str(port), str(urlsplit(behind).port)]
    pid = stack.enter_context(running(words))
    await reachable(port)
    return Standing(RELAY, f"http://127.0.0.1:{port}/mcp", pid)


async def rows_of(gateways: list[Standing], way: str, count: int) -> dict[str, Row]:
    return {
        named(way, number): {one.name: await contender(one, number, count) for one in gateways}
        for number in CONNECTIONS
    }


async def contender(gateway: Standing, number: int, count: int) -> Contender:
    calls = max(count, number * 8)  # those that open a connection count for little
    if gateway.name == RELAY:
        request = modern_call(gateway.url, "echo", ARGUMENTS)
        return Contender(RELAY, gateway.url, gateway.pids, request, calls, number)
    return await gateway.contender("echo", ARGUMENTS, calls, number)


def named(way: str, number: int) -> str:
    return f"upstream over {way}, {number:,} connection{'s' if number > 1 else ''}"


async def measure(count: int, rounds: int) -> list[str]:
    async with AsyncExitStack() as stack:
        near = [await ours(stack, over_stdio()), *await built_before(stack, upstream())]
        servers = await over_http(stack)
        url = str(servers[0]["url"])
        far = [await ours(stack, servers), *await built_before(stack, [url])]
        far.append(await relay(stack, url))
        rows = {**await rows_of(near, "stdio", count), **await rows_of(far, "HTTP", count)}
        await take_turns(rows, rounds)
    names = list(dict.fromkeys(name for row in rows.values() for name in row))
    whole = table("a call through a gateway", rows, names)
    return [*whole, "", LEGEND, "", *growth(rows, names)]


def growth(rows: dict[str, Row], names: list[str]) -> list[str]:
    """Each beside itself with as many connections as usual."""
    grown = [
        f"| CPU at so many connections, of that at {USUAL} (ours: at most {GOAL}) "
        f"| {' | '.join(names)} |",
        "|---" * (len(names) + 1) + "|",
    ]
    for way in ("stdio", "HTTP"):
        usual = rows[named(way, USUAL)]
        for number in CONNECTIONS:
            if number != USUAL:
                row = rows[named(way, number)]
                cells = (times(row.get(name), usual.get(name)) for name in names)
                grown.append(f"| over {way}, {number:,} | {' | '.join(cells)} |")
    return grown


def times(many: Contender | None, usual: Contender | None) -> str:
    return "-" if many is None or usual is None else cpu_times(many, usual)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    # Whoever asks must not be what is measured.
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        print("\n".join(runner.run(measure(options.count, options.rounds))))
