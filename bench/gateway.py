"""The gateway's hop against other gateways, all before the same upstream, in one run.

    python -m bench.gateway [--count 2000] [--rounds 12]

CPU and memory are those of the gateway alone, without its upstream; memory as it is after one
call. A call is `tools/call` over HTTP, 16 in flight on keep-alive connections. All run at the same
time and are asked in turns; the best round of each counts. In brackets the middle of the rounds.
A peer before an upstream over HTTP is compared with ours before the same one. The floors are hops
that do nothing else: what ours costs as a multiple of them can be read on any machine.
"""

from __future__ import annotations

import argparse
import asyncio
import os
from contextlib import AsyncExitStack
from dataclasses import replace

import uvloop

from bench.built import BUILT
from bench.floors import FLOORS, IN_C, IN_PYTHON
from bench.http import ARGUMENTS
from bench.load import Contender, connect, in_turns, modern_call
from bench.proxies import upstream
from bench.standing import (
    BEHIND,
    Standing,
    built_before,
    ours,
    over_http,
    over_stdio,
    peers,
    serving,
)
from bench.table import cpu_times
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
OVER_HTTP = ", upstream over HTTP"
OURS_FAR = f"ours{OVER_HTTP}"
# CPU as a multiple of a floor's: at most that. Where such floors took 8, 17 and 27 µs, it was 35
# before an upstream over stdio and 50 before one over HTTP.
MULTIPLES = {IN_C: 4.4, f"{IN_C}{OVER_HTTP}": 2.9, f"{IN_PYTHON}{OVER_HTTP}": 1.85}


async def standing(stack: AsyncExitStack) -> list[Standing]:
    ours_here = await ours(stack, over_stdio())
    servers = await over_http(stack)
    url = [str(servers[0]["url"])]
    return [
        replace(ours_here, name=OURS),
        replace(await ours(stack, servers), name=OURS_FAR),
        *await peers(stack, (IN_C,), upstream()),
        *far(await peers(stack, tuple(FLOORS), url)),
        *await peers(stack, (*BUILT, *WANTED), upstream()),
        *far(await built_before(stack, url)),
    ]


def far(gateways: list[Standing]) -> list[Standing]:
    return [replace(one, name=f"{one.name}{OVER_HTTP}") for one in gateways]


async def contenders(gateways: list[Standing], count: int) -> list[Contender]:
    first = gateways[0]
    request = modern_call(first.url, "echo", ARGUMENTS)
    found = [Contender("ours, client 2026-07-28", first.url, first.pids, request, count)]
    for one in gateways:
        found.append(await one.contender("echo", ARGUMENTS, calls(one.name, count)))
    return [found[1], found[0], *found[2:]]


def calls(name: str, count: int) -> int:
    """So many that a round takes about as long: of short ones the best is better than it should."""
    if name in MULTIPLES:
        return count * 4
    return count // 5 if name in WANTED else count


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
        gateways = await standing(stack)
        memory = {one.name: f"{one.megabytes:.0f}" for one in gateways}
        found = await contenders(gateways, count)
        await in_turns(found, rounds)
    rows = [
        "| one call through a gateway | CPU, µs | of ours | calls/s | ours is faster by | MB |",
        "|---|---|---|---|---|---|",
    ]
    for one in found:
        goal = f" (goal: {WANTED[one.what]} times)" if one.what in WANTED else ""
        figures = told(one, beside(one, found))
        rows.append(f"| {one.what}{goal} | {figures} | {memory.get(one.what, '')} |")
    rows.append(f"| ours, idle, 5 upstreams (goal: 50 MB) | | | | | {await idle_memory(5):.0f} |")
    return [*rows, "", "Goal for the hop: at most 150 µs of CPU, better 60.", *multiples(found)]


def beside(peer: Contender, found: list[Contender]) -> Contender:
    """Ours before the same upstream; ours over HTTP is itself shown beside ours over stdio."""
    is_far = peer.what.endswith(OVER_HTTP) and peer.what != OURS_FAR
    return next(one for one in found if one.what == (OURS_FAR if is_far else OURS))


def multiples(found: list[Contender]) -> list[str]:
    """Ours beside each floor that could be had."""
    each = [
        f"{cpu_times(beside(floor, found), floor)} of {floor.what} (goal: {MULTIPLES[floor.what]})"
        for floor in found
        if floor.what in MULTIPLES
    ]
    return ["", f"CPU of ours as a multiple of a floor's: {'; '.join(each)}."] if each else []


def told(one: Contender, first: Contender) -> str:
    """Each figure by the best of the rounds, and by their middle."""
    best, middle = one.best, one.middle
    pairs = (
        (f"{best.cpu_us:,.0f}", f"{middle.cpu_us:,.0f}"),
        (f"{best.cpu_us / first.best.cpu_us:.1f}", f"{middle.cpu_us / first.middle.cpu_us:.1f}"),
        (f"{best.rate:,.0f}", f"{middle.rate:,.0f}"),
        (f"{first.best.rate / best.rate:.1f}", f"{first.middle.rate / middle.rate:.1f}"),
    )
    return " | ".join(f"{one} ({other})" for one, other in pairs)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=12)
    options = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    # Whoever asks must not be what is measured.
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        print("\n".join(runner.run(measure(options.count, options.rounds))))
