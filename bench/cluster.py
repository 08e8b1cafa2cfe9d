"""Two replicas behind nginx with a store: what goes wrong, and what it costs.

    python -m bench.cluster requests   10,000 of each revision, round robin
    python -m bench.cluster events     1,000 numbered events, resumed across replicas
    python -m bench.cluster kills      a replica killed under load, twenty times
    python -m bench.cluster deploys    the same with TERM: a replica replaced under load
    python -m bench.cluster cpu        a session's calls with a store and without, in turns

A number after the word replaces its count. What the store is asked for and holds: bench.store.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

import orjson
import uvloop

from bench.load import Contender, in_turns, post
from tests.cluster.load import (
    Fixed,
    Losses,
    end_in_turns,
    every_kind,
    fixed_replicas,
    left_of,
    runs_of,
)
from tests.cluster.resuming import counting, resumed
from tests.cluster.yard import replica, replicas, yard
from tests.peers.raw_http import HttpClient, over_http
from tests.peers.redis import redis_server
from tests.peers.serving import serving
from tests.workers.yard import project

REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")
HANDSHAKE = "2025-11-25"


async def requests(folder: Path, count: int = 10_000) -> None:
    print("| revision | requests | errors | of these kinds |\n|---|---|---|---|")
    async with replicas(folder) as both:
        for revision in REVISIONS:
            counts, errors = await every_kind(both.url, revision, folder, count)
            kinds = ", ".join(f"{number} {kind}" for kind, number in sorted(counts.items()))
            print(f"| {revision} | {counts.total()} | {len(errors)} | {kinds} |", flush=True)
            for error in errors[:5]:
                print(f"  {error}", file=sys.stderr)


async def events(folder: Path, count: int = 1000) -> None:
    env = {"MCPBASH_MAX_PROGRESS_PER_MIN": "1000000"}
    async with replicas(folder, env=env) as both, over_http(both.url, HANDSHAKE) as client:
        numbers = await resumed(client, count, 25)
    lost = len(set(range(1, count + 1)) - set(numbers))
    print(f"{count} events: {lost} lost, {len(numbers) - len(set(numbers))} twice")


async def kills(folder: Path, count: int = 20) -> None:
    await _ended(folder, count, "kills", Fixed.kill)


async def deploys(folder: Path, count: int = 20) -> None:
    await _ended(folder, count, "deploys", Fixed.drain)


async def _ended(
    folder: Path, count: int, what: str, end: Callable[[Fixed], Awaitable[None]]
) -> None:
    with redis_server() as redis:
        async with fixed_replicas(folder, redis) as (url, fixed):
            losses = await end_in_turns(url, fixed, folder, count, end)
    _say(f"{count} {what}", losses, folder)


def _say(what: str, losses: Losses, folder: Path) -> None:
    runs, left = runs_of(folder), left_of(folder)
    print(
        f"{what}, {losses.calls} calls: {losses.failures} failed, "
        f"{losses.unknown_sessions} sessions lost, {len(losses.wrong)} unclear, "
        f"{sum(1 for number in runs.values() if number > 1)} run twice, "
        f"{len(left)} processes left, "
        f"the slowest took {losses.slowest:.2f} s"
    )


async def cpu(folder: Path, rounds: int = 5) -> None:
    with redis_server() as redis:
        async with serving(folder, "--no-page") as alone, replica(folder, redis, "--no-page") as of:
            contenders = [
                await _pinging("without a store", alone.url, alone.process.pid),
                await _pinging("with a store", of.url, of.process.pid),
            ]
            best = await in_turns(contenders, rounds)
    alone_us, of_us = best["without a store"].cpu_us, best["with a store"].cpu_us
    ratio = of_us / alone_us
    print(f"a session's call: {alone_us:.0f} µs alone, {of_us:.0f} µs with a store: {ratio:.3f}")


async def _pinging(what: str, url: str, pid: int) -> Contender:
    client = HttpClient(url, HANDSHAKE, checked=False)
    await client.start()
    headers = {"Mcp-Session-Id": client.session or "", "MCP-Protocol-Version": HANDSHAKE}
    request = post(url, orjson.dumps(client.message("tools/list", id=1)), headers)
    return Contender(what, url, [pid], request, 4000)


PARTS: dict[str, Callable[..., Coroutine[Any, Any, None]]] = {
    "requests": requests,
    "events": events,
    "kills": kills,
    "deploys": deploys,
    "cpu": cpu,
}


def main(part: str, *count: str) -> None:
    with tempfile.TemporaryDirectory(prefix="bench-cluster-") as place:
        folder = yard(Path(place) / "yard")
        number = int(count[0]) if count else 0
        project(Path(place) / "more", {"count": counting(number or 1000)})
        (Path(place) / "more" / "tools" / "count").rename(folder / "tools" / "count")
        (folder / "tools" / "count" / "go").touch()
        uvloop.run(PARTS[part](folder, *([number] if number else [])))


if __name__ == "__main__":
    main(*sys.argv[1:])
