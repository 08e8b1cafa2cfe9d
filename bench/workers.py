"""Two workers behind one address, two processes with one each, and one process: in turns.

    python -m bench.workers [--seconds 60]

What else the machine does hits whoever is measured at that moment. So the turns are short, each
asks all three one after the other, and a ratio is that of two neighbours in one turn: the middle
of these counts, with the middle half of them in brackets. The last column says how much of a core
everything else took meanwhile; from a twentieth on, a rate says little, and CPU a request still
does. The two processes are started by one shell: Linux shares its cores out among sessions first,
and two sessions get more of them than one with two workers, which says nothing about either.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from shlex import join

import uvloop

from bench.http import ARGUMENTS
from bench.load import drivers, modern_call, modern_request
from bench.standing import over_http
from bench.usage import TICKS, cpu_seconds, family
from tests.cluster.yard import yard
from tests.peers.serving import URL, Listening, listening, serving, toolyard
from tests.until import until

CONNECTIONS, CALLS = 16, 100
WORKERS, PAIR, ALONE = "two workers", "two processes", "one process"
GOAL = 0.95
Asking = Callable[[str], bytes]
REQUESTS: dict[str, Asking] = {
    "`tools/list`": lambda url: modern_request(url, "tools/list", {}, {}),
    "a call to an HTTP upstream": lambda url: modern_call(url, "echo", ARGUMENTS),
}


@dataclass(frozen=True, slots=True)
class Turn:
    rate: float
    cpu_us: float
    disturbed: float  # cores that everything else took


@dataclass(slots=True)
class Side:
    """One of those that are compared: where it is reached, what its processes are."""

    what: str
    urls: Sequence[str]
    pids: Sequence[int]

    async def turn(self, asking: Asking, all_of_ours: Sequence[int]) -> Turn:
        each = CONNECTIONS // len(self.urls)
        driving = [one for url in self.urls for one in await drivers(url, asking(url), each)]
        await asyncio.gather(*(driver.drive(CALLS // 8) for driver in driving))
        began, busy = time.perf_counter(), _busy()
        used, whole = cpu_seconds(self.pids), cpu_seconds(all_of_ours)
        await asyncio.gather(*(driver.drive(CALLS) for driver in driving))
        took, served = time.perf_counter() - began, cpu_seconds(self.pids) - used
        others = max(_busy() - busy - (cpu_seconds(all_of_ours) - whole), 0.0)
        for driver in driving:
            driver.close()
        count = CONNECTIONS * CALLS
        return Turn(count / took, served / count * 1e6, others / took)


def _busy() -> float:
    """CPU seconds that the machine has spent."""
    fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    user, nice, system, _idle, _waiting, *interrupts = map(int, fields[:8])
    return (user + nice + system + sum(interrupts)) / TICKS


@asynccontextmanager
async def two_processes(folder: Path) -> AsyncIterator[Listening]:
    command = join(toolyard("serve", folder, "--http", "127.0.0.1:0", "--no-page"))
    async with listening(["sh", "-c", f"{command} & {command} & wait"]) as server:
        await until(lambda: len(URL.findall(server.errors)) == 2)
        yield server


async def sides(stack: AsyncExitStack, folder: Path) -> list[Side]:
    crew = await stack.enter_async_context(serving(folder, "--no-page", "--workers", "2"))
    pair = await stack.enter_async_context(two_processes(folder))
    await until(lambda: len(list(family(crew.process.pid))) >= 3)
    urls, pids = URL.findall(pair.errors), list(family(pair.process.pid))
    return [
        Side(WORKERS, [crew.url], list(family(crew.process.pid))),
        Side(PAIR, urls, pids),
        Side(ALONE, urls[:1], pids),
    ]


async def measure(folder: Path, seconds: float) -> list[str]:
    rows = [
        f"| | requests a second | of two processes (goal: {GOAL}) | CPU, µs "
        "| of two processes | turns | cores that others took |",
        "|---|---|---|---|---|---|---|",
    ]
    async with AsyncExitStack() as stack:
        servers = await over_http(stack)
        (folder / "registry.json").write_text(json.dumps({"servers": servers}))
        compared = await sides(stack, folder)
        for what, asking in REQUESTS.items():
            turns = await in_turns(compared, asking, seconds / len(REQUESTS))
            rows += [row(f"{what}, {one.what}", turns[one.what], turns[PAIR]) for one in compared]
    return rows


async def in_turns(
    compared: Sequence[Side], asking: Asking, seconds: float
) -> dict[str, list[Turn]]:
    turns: dict[str, list[Turn]] = {side.what: [] for side in compared}
    all_of_ours = list(family(os.getpid()))
    until_then = time.monotonic() + seconds
    while not turns[PAIR] or time.monotonic() < until_then:
        # Now this one first, now that one.
        for side in compared if len(turns[PAIR]) % 2 else compared[::-1]:
            turns[side.what].append(await side.turn(asking, all_of_ours))
    return turns


def row(what: str, turns: Sequence[Turn], pair: Sequence[Turn]) -> str:
    rates = ratios([one.rate for one in turns], [one.rate for one in pair])
    costs = ratios([one.cpu_us for one in turns], [one.cpu_us for one in pair])
    rate = statistics.median(one.rate for one in turns)
    cpu = statistics.median(one.cpu_us for one in turns)
    disturbed = statistics.median(one.disturbed for one in turns)
    return (
        f"| {what} | {rate:,.0f} | {rates} | {cpu:.0f} | {costs} | {len(turns)} | {disturbed:.2f} |"
    )


def ratios(some: Sequence[float], others: Sequence[float]) -> str:
    """The middle of those of neighbours, and where the middle half of them lies."""
    found = sorted(one / other for one, other in zip(some, others, strict=True))
    quarter = len(found) // 4
    return f"{statistics.median(found):.2f} ({found[quarter]:.2f} to {found[-1 - quarter]:.2f})"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-workers-") as place:
        print("\n".join(uvloop.run(measure(yard(Path(place) / "yard"), options.seconds))))
