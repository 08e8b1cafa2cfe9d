"""Handles of tasks that are refused: forged ones, those of others, and those whose time is over.

    python -m bench.tasks [--each 1000]

One server, two callers with tokens, each request on a connection of its own, the kinds by turns.
An invented handle and somebody else's must tell nothing, neither by the answer nor by the time it
takes. One of the caller's own that is over is looked up first: it learns what it knew.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics
import tempfile
import time
from pathlib import Path

from tests.hooks.yard import Yard
from tests.peers.raw_http import HttpClient
from tests.peers.serving import Listening, serving
from tests.tasks.knowing import begun, outcome
from tests.tasks.test_bounds import ANN, BOB, CORE, MODERN, as_caller, with_callers
from toolyard.tasks.identifiers import new_id

SHORT = {"ttl": 50}  # milliseconds


async def foreign(server: Listening, each: int) -> list[str]:
    """Tasks of somebody else that are over, and kept."""
    async with as_caller(server, ANN, MODERN) as ann:
        ids = [(await begun(ann, "job"))["taskId"] for _ in range(each)]
        await outcome(ann, ids[-1])
    return ids


async def expired(server: Listening, each: int) -> list[str]:
    async with as_caller(server, BOB, CORE) as bob:
        ids = [(await begun(bob, "job", task=SHORT))["taskId"] for _ in range(each)]
        while "error" not in await bob.request("tasks/get", {"taskId": ids[-1]}):
            await asyncio.sleep(0.05)
    return ids


async def refused(client: HttpClient, task_id: str) -> tuple[float, str]:
    begin = time.perf_counter()
    error = await client.error("tasks/get", {"taskId": task_id})
    return time.perf_counter() - begin, json.dumps(error)


async def main(each: int) -> None:
    with tempfile.TemporaryDirectory(prefix="bench-tasks-") as folder:
        yard = Yard(Path(folder) / "works")
        yard.tool("job", "exit 0", taskSupport="optional")
        with_callers(yard)
        state = {"XDG_STATE_HOME": str(Path(folder) / "state")}
        async with serving(yard.root, env=state) as server, as_caller(server, BOB, MODERN) as bob:
            ids = {
                "forged": [new_id(b"another key".ljust(32), "bob") for _ in range(each)],
                "foreign": await foreign(server, each),
                "expired": await expired(server, each),
            }
            times: dict[str, list[float]] = {kind: [] for kind in ids}
            answers: set[str] = set()
            for number in range(each):
                for kind in random.sample(list(ids), len(ids)):
                    seconds, answer = await refused(bob, ids[kind][number])
                    times[kind].append(seconds)
                    answers.add(answer)
    show(each, times, answers)


def show(each: int, times: dict[str, list[float]], answers: set[str]) -> None:
    print(f"| {each:,} handles of each kind | median, ms | 95 %, ms | times a forged one |")
    print("|---|---|---|---|")
    base = statistics.median(times["forged"])
    for kind, values in times.items():
        median, slow = statistics.median(values), statistics.quantiles(values, n=20)[-1]
        print(f"| {kind} | {median * 1000:.2f} | {slow * 1000:.2f} | {median / base:.3f} |")
    print(f"\nDifferent answers to all of them: {len(answers)}.")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--each", type=int, default=1000)
    asyncio.run(main(parser.parse_args().each))
