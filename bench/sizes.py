"""What a call through a gateway costs by the size of its payload, and of the catalog.

    python -m bench.sizes [--rounds 5]

Ours beside the gateways in Go and Rust that can be had. CPU is the gateway's alone. A large result
has a small argument; there and back, the upstream says back what it is sent, so that the payload
passes twice. All take turns.
"""

from __future__ import annotations

import argparse
import asyncio
from contextlib import AsyncExitStack

import uvloop

from bench.http import ARGUMENTS
from bench.proxies import upstream
from bench.standing import OURS, Standing, built_before, ours, over_http, over_stdio
from bench.table import LEGEND, Row, table, take_turns

# Characters, calls in a round, calls in flight.
PAYLOADS = ((1_000, 1600, 16), (10_000, 800, 16), (100_000, 320, 16), (1_000_000, 48, 4))
LARGE = PAYLOADS[2:]
CATALOGS = (10, 10_000)
CATALOG_CALLS = 1600


async def near(stack: AsyncExitStack) -> list[Standing]:
    return [await ours(stack, over_stdio()), *await built_before(stack, upstream())]


async def payload_rows(stack: AsyncExitStack) -> dict[str, Row]:
    gateways = await near(stack)
    rows: dict[str, Row] = {}
    for size, calls, at_once in PAYLOADS:
        sized: dict[str, object] = {"size": size}
        rows[f"a result of {told(size)}, {at_once} in flight"] = {
            one.name: await one.contender("echo", sized, calls, at_once) for one in gateways
        }
    # By others of the same: one that cannot take large arguments may take large results.
    return {**rows, **await there_and_back(await near(stack), "stdio", PAYLOADS)}


async def http_rows(stack: AsyncExitStack) -> dict[str, Row]:
    servers = await over_http(stack)
    behind = [str(servers[0]["url"])]
    gateways = [await ours(stack, servers), *await built_before(stack, behind)]
    return await there_and_back(gateways, "HTTP", LARGE)


async def there_and_back(
    gateways: list[Standing], way: str, payloads: tuple[tuple[int, int, int], ...]
) -> dict[str, Row]:
    rows: dict[str, Row] = {}
    for size, calls, at_once in payloads:
        name: dict[str, object] = {"name": "x" * size}
        rows[f"{told(size)} there and back over {way}, {at_once} in flight"] = {
            one.name: await one.contender("echo", name, calls, at_once) for one in gateways
        }
    return rows


def told(size: int) -> str:
    return f"{size // 1_000_000} MB" if size >= 1_000_000 else f"{size // 1000} kB"


async def catalog_row(stack: AsyncExitStack, number: int) -> Row:
    behind = over_stdio(tools=number)
    gateways = [await ours(stack, behind), *await built_before(stack, upstream(number))]
    tool = f"tool{number - 1}"
    return {one.name: await one.contender(tool, ARGUMENTS, CATALOG_CALLS) for one in gateways}


async def virtual_row(stack: AsyncExitStack, number: int) -> Row:
    tools: list[dict[str, object]] = [
        {"name": f"tool{index}", "source": "echo"} for index in range(number)
    ]
    gateway = await ours(stack, over_stdio(), tools)
    return {OURS: await gateway.contender(f"tool{number - 1}", ARGUMENTS, CATALOG_CALLS)}


async def measure(rounds: int) -> list[str]:
    async with AsyncExitStack() as stack:
        rows = {**await payload_rows(stack), **await http_rows(stack)}
        for number in CATALOGS:
            rows[f"a tool, one of {number:,}"] = await catalog_row(stack, number)
            rows[f"a virtual tool, one of {number:,}"] = await virtual_row(stack, number)
        await take_turns(rows, rounds)
    names = list(dict.fromkeys(name for row in rows.values() for name in row))
    return [*table("a call through a gateway", rows, names), "", LEGEND]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        print("\n".join(runner.run(measure(options.rounds))))
