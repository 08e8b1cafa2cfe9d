"""This checkout beside another one: every usual way of asking, in turns, in one run.

    python -m bench.against COMMIT|FOLDER [--rounds 15] [start list script hop many ...]

Both run at the same time in the same environment, each with its own sources. A round asks one and
then the other, and the next round the other way about. Each figure is the median over the rounds;
the ratio is that of the medians, and in brackets that of the best rounds. CPU is that of the server
without what stands behind it; a start is wall clock.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import orjson
import uvloop

from bench.http import ARGUMENTS, free_port, reachable, running
from bench.load import drivers, modern_call, modern_request, session_call
from bench.peers import HOME, ROOT, script
from bench.projection import SCHEMA, result_text
from bench.standing import BEHIND, over_http, over_stdio
from bench.start import make_project, started, started_over_http
from bench.usage import cpu_seconds, without

TEXT_SERVER = """
import json, sys
TEXT = open(sys.argv[1]).read()
TOOL = {"name": "text", "inputSchema": {"type": "object"}}
HELLO = {"capabilities": {"tools": {}}, "serverInfo": {"name": "upstream", "version": "1"}}
RESULT = json.dumps({"content": [{"type": "text", "text": TEXT}]})
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message: continue
    result = {"initialize": json.dumps({"protocolVersion": "2025-11-25", **HELLO}),
              "tools/list": json.dumps({"tools": [TOOL]}), "tools/call": RESULT}
    found = result.get(message["method"], "{}")
    print('{"jsonrpc": "2.0", "id": %s, "result": %s}' % (json.dumps(message["id"]), found),
          flush=True)
"""
Measure = Callable[[], Awaitable[float]]


@dataclass(slots=True)
class Row:
    """One way of asking, and what it took here and there in each round."""

    what: str
    unit: str
    ways: tuple[Measure, Measure]
    taken: tuple[list[float], list[float]] = field(default_factory=lambda: ([], []))

    async def round(self, number: int) -> None:
        for side in (0, 1) if number % 2 else (1, 0):
            self.taken[side].append(await self.ways[side]())

    def __str__(self) -> str:
        here, there = (statistics.median(side) for side in self.taken)
        best = min(self.taken[0]) / min(self.taken[1])
        return (
            f"| {self.what}, {self.unit} | {here:,.1f} | {there:,.1f} "
            f"| {here / there:.3f} ({best:.3f}) |"
        )


class Sides:
    """The sources of both, and how a server is started from each."""

    def __init__(self, other: Path) -> None:
        self.sources = (ROOT, other)

    @asynccontextmanager
    async def serving(self, side: int, *words: str) -> AsyncIterator[tuple[str, int]]:
        port = free_port()
        command = [sys.executable, "-m", "toolyard", "serve", *words, "--http", str(port)]
        path = f"PYTHONPATH={self.sources[side] / 'src'}"
        with running(["env", path, *command, "--no-page"]) as pid:
            await reachable(port)
            yield f"http://127.0.0.1:{port}/mcp", pid


async def asked(url: str, pid: int, request: bytes, count: int, at_once: int = 16) -> Measure:
    """What a request costs the server: microseconds of CPU."""

    async def once() -> float:
        driving = await drivers(url, request, at_once)
        await asyncio.gather(*(driver.drive(max(count // at_once // 8, 1)) for driver in driving))
        pids = without(pid, BEHIND)
        before = cpu_seconds(pids)
        await asyncio.gather(*(driver.drive(count // at_once) for driver in driving))
        used = cpu_seconds(pids) - before
        for driver in driving:
            driver.close()
        return used / (count // at_once * at_once) * 1e6

    await once()
    return once


async def before_servers(
    stack: AsyncExitStack, sides: Sides, registry: dict[str, object], folder: Path
) -> list[tuple[str, int]]:
    file = Path(tempfile.mkstemp(dir=folder, suffix=".json")[1])
    file.write_text(json.dumps(registry))
    return [await stack.enter_async_context(sides.serving(side, str(file))) for side in (0, 1)]


async def hop_rows(stack: AsyncExitStack, sides: Sides, folder: Path) -> list[Row]:
    found = []
    for what, servers in (("stdio", over_stdio()), ("HTTP", await over_http(stack))):
        places = await before_servers(stack, sides, {"servers": servers}, folder)
        modern = [modern_call(url, "echo", ARGUMENTS) for url, _ in places]
        session = [await session_call(url, "echo", ARGUMENTS) for url, _ in places]
        for era, requests in (("2026-07-28", modern), ("2025-11-25", session)):
            ways = [await asked(*at, each, 4000) for at, each in zip(places, requests, strict=True)]
            found.append(Row(f"hop over {what}, client {era}", "µs", (ways[0], ways[1])))
    return found


async def many_rows(stack: AsyncExitStack, sides: Sides, folder: Path) -> list[Row]:
    found = []
    for what, servers in (("stdio", over_stdio()), ("HTTP", await over_http(stack))):
        places = await before_servers(stack, sides, {"servers": servers}, folder)
        for number in (1, 128, 1000):
            ways = [
                await asked(
                    *at, modern_call(at[0], "echo", ARGUMENTS), max(2000, 8 * number), number
                )
                for at in places
            ]
            name = f"hop over {what}, {number:,} connection{'s' if number > 1 else ''}"
            found.append(Row(name, "µs", (ways[0], ways[1])))
    return found


async def size_rows(stack: AsyncExitStack, sides: Sides, folder: Path) -> list[Row]:
    places = await before_servers(stack, sides, {"servers": over_stdio()}, folder)
    found = []
    for size, count, at_once in ((100_000, 320, 16), (1_000_000, 48, 4)):
        kinds: dict[str, dict[str, object]] = {
            f"a result of {size // 1000} kB": {"size": size},
            f"{size // 1000} kB there and back": {"name": "x" * size},
        }
        for what, arguments in kinds.items():
            ways = [
                await asked(*at, modern_call(at[0], "echo", arguments), count, at_once)
                for at in places
            ]
            found.append(Row(what, "µs", (ways[0], ways[1])))
    return found


async def projection_rows(stack: AsyncExitStack, sides: Sides, folder: Path) -> list[Row]:
    text = folder / "text"
    text.write_text(result_text())
    program = script("text_upstream.py", TEXT_SERVER)
    stdio = {"command": sys.executable, "args": ["-S", program, str(text)]}
    registry: dict[str, object] = {
        "servers": [{"name": "u", "stdio": stdio}],
        "tools": [
            {"name": "text", "server": "u"},
            {"name": "small", "source": "text", "outputSchema": SCHEMA},
        ],
    }
    places = await before_servers(stack, sides, registry, folder)
    ways = [await asked(*at, modern_call(at[0], "small", {}), 320) for at in places]
    return [Row("a projection of 150 kB", "µs", (ways[0], ways[1]))]


async def list_rows(stack: AsyncExitStack, sides: Sides, folder: Path) -> list[Row]:
    project = str(make_project(folder / "listed", 100))
    places = [await stack.enter_async_context(sides.serving(side, project)) for side in (0, 1)]
    ways = [await asked(*at, modern_request(at[0], "tools/list", {}, {}), 4000) for at in places]
    calls = [await asked(*at, modern_call(at[0], "t0000", ARGUMENTS), 96) for at in places]
    return [
        Row("tools/list of 100 tools over HTTP", "µs", (ways[0], ways[1])),
        Row("a script over HTTP, 16 in flight", "µs of CPU", (calls[0], calls[1])),
    ]


async def script_rows(stack: AsyncExitStack, sides: Sides, folder: Path) -> list[Row]:
    project = make_project(folder / "called", 2)
    ways = [await piped(stack, sides, side, project) for side in (0, 1)]
    return [Row("a script over stdio, one at a time", "µs", (ways[0], ways[1]))]


async def piped(stack: AsyncExitStack, sides: Sides, side: int, project: Path) -> Measure:
    pipe = stack.enter_context(Pipe(sides.sources[side] / "src", project))
    client = {"name": "bench", "version": "1"}
    pipe.ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=client)
    pipe.send({"method": "notifications/initialized"})

    async def once() -> float:
        began = time.perf_counter()
        for _ in range(50):
            pipe.ask("tools/call", name="t0000", arguments=ARGUMENTS)
        return (time.perf_counter() - began) / 50 * 1e6

    await once()
    return once


class Pipe:
    """A server over stdio that is asked one thing at a time."""

    def __init__(self, sources: Path, project: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "toolyard", "serve", str(project)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": str(sources)},
        )

    def __enter__(self) -> Pipe:
        return self

    def __exit__(self, *_error: object) -> None:
        self._process.communicate()

    def send(self, message: dict[str, object]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(orjson.dumps({"jsonrpc": "2.0", **message}) + b"\n")
        self._process.stdin.flush()

    def ask(self, method: str, **params: object) -> None:
        assert self._process.stdout is not None
        self.send({"id": 1, "method": method, "params": params})
        answer = self._process.stdout.readline()
        if b'"result"' not in answer or b'"isError":true' in answer:
            raise SystemExit(f"{method} was answered {answer!r}")


async def start_rows(_stack: AsyncExitStack, sides: Sides, folder: Path) -> list[Row]:
    project = make_project(folder / "started", 20)
    over_http_folder = folder / "over-http"
    over_http_folder.mkdir()

    def way(side: int, start: Callable[[], float]) -> Measure:
        async def once() -> float:
            os.environ["BENCH_SOURCES"] = str(sides.sources[side] / "src")
            return start() * 1e3

        return once

    ours = [sys.executable, "-m", "toolyard", "serve"]
    starts: tuple[tuple[str, Callable[[], float]], ...] = (
        ("start to `initialize` over stdio", lambda: started([*ours, str(project)], listing=False)),
        ("start to `tools/list` over stdio", lambda: started([*ours, str(project)], listing=True)),
        ("start of a gateway over HTTP", lambda: started_over_http(over_http_folder)),
    )
    return [Row(what, "ms", (way(0, start), way(1, start))) for what, start in starts]


ROWS = {
    "start": start_rows,
    "list": list_rows,
    "script": script_rows,
    "hop": hop_rows,
    "many": many_rows,
    "projection": projection_rows,
    "size": size_rows,
}


def checkout(name: str) -> Path:
    """The folder of another checkout: the one named, or a work tree of that commit."""
    if Path(name).is_dir():
        return Path(name).resolve()
    place = HOME / f"at-{name}"
    if not place.exists():
        subprocess.run(["git", "worktree", "add", "--detach", place, name], cwd=ROOT, check=True)
    return place


async def measure(other: Path, rounds: int, wanted: Sequence[str]) -> list[str]:
    head = [f"| | here | {other.name} | ratio (of the best) |", "|---|---|---|---|"]
    with tempfile.TemporaryDirectory(prefix="toolyard-bench-") as folder:
        for name in wanted or ROWS:
            async with AsyncExitStack() as stack:
                rows = await ROWS[name](stack, Sides(other), Path(folder))
                for number in range(rounds):
                    for row in rows:
                        await row.round(number)
            for row in rows:
                print(row, file=sys.stderr, flush=True)
                head.append(str(row))
    return head


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("other", help="a commit, or the folder of another checkout")
    parser.add_argument("rows", nargs="*", metavar="|".join(ROWS))
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_intermixed_args()
    if unknown := set(options.rows) - set(ROWS):
        parser.error(f"no such rows: {', '.join(unknown)}; there are {', '.join(ROWS)}")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        table = runner.run(measure(checkout(options.other), options.rounds, options.rows))
        print("\n".join(table))
