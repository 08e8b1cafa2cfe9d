"""Two workers behind one address, two processes with one each, and one process: in turns.

    python -m bench.workers [SECONDS]

What else the machine does hits whoever is measured at that moment, and 16 connections on two
cores leave no room for it. So the turns are short, and only those count in which everything else
took less than a twentieth of a core. The two processes are started by one shell: Linux shares
its cores out among sessions first, and two sessions get more of them than one with two workers,
which says nothing about either.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from shlex import join

import orjson
import uvloop

from bench.load import drivers, post
from bench.usage import TICKS, cpu_seconds, family
from tests.cluster.yard import yard
from tests.peers.raw_http import HttpClient, routing
from tests.peers.serving import URL, Listening, listening, serving, toolyard
from tests.until import until

CONNECTIONS, CALLS = 16, 250
MOST_DISTURBED = 0.05


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

    async def turn(self, request: bytes) -> Turn:
        each = CONNECTIONS // len(self.urls)
        driving = [driver for url in self.urls for driver in await drivers(url, request, each)]
        await asyncio.gather(*(driver.drive(50) for driver in driving))
        began, busy, own, used = time.perf_counter(), _busy(), time.process_time(), self._used()
        await asyncio.gather(*(driver.drive(CALLS) for driver in driving))
        took, served = time.perf_counter() - began, self._used() - used
        others = _busy() - busy - served - (time.process_time() - own)
        for driver in driving:
            driver.close()
        count = CONNECTIONS * CALLS
        return Turn(count / took, served / count * 1e6, others / took)

    def _used(self) -> float:
        return cpu_seconds(self.pids)


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


async def main(folder: Path, seconds: float) -> None:
    async with (
        serving(folder, "--no-page", "--workers", "2") as crew,
        two_processes(folder) as pair,
    ):
        await until(lambda: len(list(family(crew.process.pid))) >= 3)
        urls, pids = URL.findall(pair.errors), list(family(pair.process.pid))
        sides = (
            Side("two workers", [crew.url], list(family(crew.process.pid))),
            Side("two processes", urls, pids),
            Side("one process", urls[:1], pids),
        )
        request = modern_list(crew.url)
        turns: dict[str, list[Turn]] = {side.what: [] for side in sides}
        until_then = time.monotonic() + seconds
        while time.monotonic() < until_then:
            for side in sides:
                turns[side.what].append(await side.turn(request))
    _report(turns)


def _report(turns: dict[str, list[Turn]]) -> None:
    quiet = {
        what: [turn for turn in all_of if turn.disturbed < MOST_DISTURBED]
        for what, all_of in turns.items()
    }
    rates = {
        what: statistics.median(turn.rate for turn in some) for what, some in quiet.items() if some
    }
    print("| | requests a second | of two processes | CPU a request | turns that count |")
    print("|---|---|---|---|---|")
    for what, rate in rates.items():
        cpu = statistics.mean(turn.cpu_us for turn in quiet[what])
        ratio = rate / rates.get("two processes", rate)
        count = f"{len(quiet[what])} of {len(turns[what])}"
        print(f"| {what} | {rate:.0f} | {ratio:.2f} | {cpu:.0f} µs | {count} |")


def modern_list(url: str) -> bytes:
    client = HttpClient(url, "2026-07-28")
    message = client.message("tools/list")
    return post(url, orjson.dumps(message), routing(message, client.revision))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="bench-workers-") as place:
        uvloop.run(main(yard(Path(place) / "yard"), float(sys.argv[1] if sys.argv[1:] else 60)))
