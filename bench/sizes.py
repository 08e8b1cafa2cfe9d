"""What a call through the gateway costs by the size of its payload, and of the catalog.

    python -m bench.sizes [--rounds 5]

CPU is the gateway's alone; the upstream is a stdio server that says back what it is sent, so
that a payload passes twice. Rows take turns, and the best round of each counts.
"""

from __future__ import annotations

import argparse
import asyncio
from contextlib import AsyncExitStack
from typing import NamedTuple

import uvloop

from bench.gateway import BEHIND, over_stdio, serving
from bench.http import ARGUMENTS
from bench.load import Load, load, modern_call
from bench.usage import without

# Characters there and back, calls in a round, calls in flight.
PAYLOADS = ((1_000, 3000, 16), (100_000, 320, 16), (1_000_000, 64, 4))
CATALOGS = (10, 10_000)
CATALOG_CALLS = 3000


class Row(NamedTuple):
    """One way of calling, and how often in a round."""

    what: str
    url: str
    pids: list[int]
    request: bytes
    calls: int
    at_once: int


async def payload_rows(stack: AsyncExitStack) -> list[Row]:
    url, pid = await stack.enter_async_context(serving(over_stdio()))
    await load(url, [pid], modern_call(url, "echo", ARGUMENTS), count=16)
    pids = without(pid, BEHIND)
    return [
        Row(
            f"{size // 1000:,} kB there and back, {at_once} in flight",
            *(url, pids, modern_call(url, "echo", {"name": "x" * size}), calls, at_once),
        )
        for size, calls, at_once in PAYLOADS
    ]


async def catalog_row(stack: AsyncExitStack, number: int) -> Row:
    tools: list[dict[str, object]] = [
        {"name": f"tool{index}", "source": "echo"} for index in range(number)
    ]
    url, pid = await stack.enter_async_context(serving(over_stdio(), tools))
    request = modern_call(url, f"tool{number - 1}", ARGUMENTS)
    await load(url, [pid], request, count=16)
    what = f"a virtual tool, one of {number:,}"
    return Row(what, url, without(pid, BEHIND), request, CATALOG_CALLS, 16)


async def measure(rounds: int) -> list[str]:
    best = dict[str, Load]()
    async with AsyncExitStack() as stack:
        rows = await payload_rows(stack)
        rows += [await catalog_row(stack, number) for number in CATALOGS]
        for _ in range(rounds):
            for row in rows:
                result = await load(
                    row.url, row.pids, row.request, count=row.calls, at_once=row.at_once
                )
                best[row.what] = result.better(best.get(row.what))
    head = ["| a call through the gateway | CPU, µs | calls a second |", "|---|---|---|"]
    return head + [
        f"| {what} | {result.cpu_us:,.0f} | {result.rate:,.0f} |" for what, result in best.items()
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        print("\n".join(runner.run(measure(options.rounds))))
