"""What views cost, how fast tools are indexed and found, and how well.

    python -m bench.context

The tools and the questions are those of the Berkeley Function-Calling Leaderboard, as its package
holds them: functions of many services, and what people asked for, with the function that is right.
The two sets are used apart, and the questions of each in two halves: weights were chosen on one
half, and the figures that count are those of the other.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from bench.peers import ROOT
from toolyard.catalog.entries import Origin, Tool
from toolyard.catalog.snapshot import Catalog
from toolyard.context.display import tokens_of
from toolyard.context.finding import ToolIndex

Json = Any
PACKAGE = "bfcl-eval==2026.3.23"
PLACE = ROOT / ".cache" / "bench" / "bfcl"
SETS = {
    "functions of Python, written for it": ("simple_python", "multiple"),
    "functions of services, with what users asked": ("live_simple", "live_multiple"),
}
SIZES = (50, 500, 5_000)
SERVERS = 70
LONGEST = 1_000


class Nowhere:
    """Nobody calls these."""

    async def call(self, arguments: Json, call: Json, channel: Json) -> Json:
        return {}


class Question(NamedTuple):
    text: str
    right: frozenset[str]
    tuned_on: bool


def install() -> Path:
    data = PLACE / "bfcl_eval" / "data"
    if not data.is_dir():
        uv = Path(sys.executable).with_name("uv")
        command = [str(uv), "pip", "install", "--quiet", "--no-deps", "--target", str(PLACE)]
        subprocess.run([*command, PACKAGE], check=True, env=os.environ)
    return data


def lines(path: Path) -> Iterator[Json]:
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def questions(data: Path, categories: tuple[str, ...]) -> tuple[dict[str, Json], list[Question]]:
    functions: dict[str, Json] = {}
    asked: list[Question] = []
    for category in categories:
        name = f"BFCL_v4_{category}.json"
        answers = {entry["id"]: entry for entry in lines(data / "possible_answer" / name)}
        for entry in lines(data / name):
            for function in entry["function"]:
                functions.setdefault(function["name"], function)
            right = {next(iter(truth)) for truth in answers[entry["id"]]["ground_truth"]}
            said = [m["content"] for m in entry["question"][0] if m["role"] == "user"]
            half = hashlib.md5(entry["id"].encode()).digest()[0] % 2 == 0
            asked.append(Question(said[-1][:LONGEST], frozenset(right), half))
    return functions, asked


def tool(name: str, function: Json, server: str) -> Tool:
    parameters = {**function.get("parameters", {}), "type": "object"}
    description = function.get("description", "")
    definition = {"name": name, "description": description, "inputSchema": parameters}
    return Tool(name, definition, Nowhere(), Origin("upstream", server), extra={"server": server})


def catalog(functions: dict[str, Json], size: int | None = None) -> Catalog:
    """So many of them, again under other names where there are fewer."""
    pairs = list(functions.items())
    tools: dict[str, Tool] = {}
    for number in range(size or len(pairs)):
        name, function = pairs[number % len(pairs)]
        name = name if number < len(pairs) else f"{name}_{number // len(pairs)}"
        tools[name] = tool(name, function, f"server{number % SERVERS}")
    return Catalog(tools=tools)


def found(index: ToolIndex, asked: list[Question]) -> tuple[float, float]:
    first = five = 0
    for question in asked:
        names = [hit.tool.name for hit in index.search(question.text, 5).hits]
        first += bool(names and names[0] in question.right)
        five += not question.right.isdisjoint(names)
    return first / len(asked), five / len(asked)


def ranking(data: Path) -> Iterator[str]:
    yield "| how well tools are found | tools | questions | hit@1 | hit@5 |"
    yield "|---|---|---|---|---|"
    for title, categories in SETS.items():
        functions, asked = questions(data, categories)
        # Without servers: a made-up one would be a word that says nothing.
        tools = {name: tool(name, function, "") for name, function in functions.items()}
        index = ToolIndex(Catalog(tools=tools))
        for half, tuned in (("tuned on", True), ("held apart", False)):
            some = [question for question in asked if question.tuned_on is tuned]
            first, five = found(index, some)
            yield f"| {title}, {half} | {len(functions)} | {len(some)} | {first:.2f} | {five:.2f} |"


def costs(functions: dict[str, Json]) -> Iterator[str]:
    yield "| what a list costs, in tokens | full | index | search |"
    yield "|---|---|---|---|"
    for size in (*SIZES[:2], 527, SIZES[2]):
        some = catalog(functions, size)
        row = [f"{tokens_of(some, view):,}" for view in ("full", "index", "search")]
        yield f"| {size:,} tools of {min(SERVERS, size)} servers | {' | '.join(row)} |"


def _timed(some: Catalog) -> tuple[ToolIndex, float]:
    began = time.thread_time()
    return ToolIndex(some), time.thread_time() - began


async def indexed(some: Catalog) -> tuple[ToolIndex, float, float]:
    """The index, the CPU that it took, and the longest that the loop had to wait meanwhile."""
    gaps: list[float] = [0.0]

    async def tick() -> None:
        while True:
            before = time.perf_counter()
            await asyncio.sleep(0.001)
            gaps.append(time.perf_counter() - before - 0.001)

    ticking = asyncio.create_task(tick())
    index, took = await asyncio.to_thread(_timed, some)
    ticking.cancel()
    return index, took, max(gaps)


def times(functions: dict[str, Json], asked: list[Question]) -> Iterator[str]:
    yield "| how fast | indexed, s of CPU | the loop waits, ms | a query, ms | its p99, ms |"
    yield "|---|---|---|---|---|"
    for size in SIZES:
        index, took, gap = asyncio.run(indexed(catalog(functions, size)))
        spent = []
        for question in asked[:500]:
            began = time.thread_time()
            index.search(question.text, 5)
            spent.append((time.thread_time() - began) * 1000)
        spent.sort()
        middle, late = spent[len(spent) // 2], spent[len(spent) * 99 // 100]
        yield (f"| {size:,} tools | {took:.2f} | {gap * 1000:.0f} | {middle:.2f} | {late:.2f} |")


def main() -> int:
    data = install()
    functions: dict[str, Json] = {}
    asked: list[Question] = []
    for categories in SETS.values():
        more, others = questions(data, categories)
        functions |= more
        asked += others
    for part in (costs(functions), times(functions, asked[::3]), ranking(data)):
        print("\n".join(part) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
