"""Compare calls of a bash script as a tool with a C program that spawns the same script.

    python bench/scripts.py [--rounds 12] [--calls 100] [--loop asyncio|uvloop]

The two take turns, call by call and round by round, so that only the ratios of their
medians mean something, and those do on a busy machine too.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import uvloop

from toolyard.protocol.call import Call, Json, JsonObject, Questions, Session
from toolyard.protocol.revisions import R2025_11_25
from toolyard.scripts.running.runner import Runner
from toolyard.scripts.settings import ProjectPaths, RunnerSettings
from toolyard.scripts.tool import ScriptTarget

HERE = Path(__file__).resolve().parent
IN_FLIGHT = 16
SCRIPT = '#!/bin/bash\necho "{\\"ok\\":true}"\n'


class Silent:
    """A Channel that nobody listens to."""

    session: Session | None = None

    def notify(self, method: str, params: JsonObject) -> None: ...

    def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None: ...

    def log(self, level: str, data: Json, logger: str | None = None) -> None: ...

    async def ask(self, questions: Questions, timeout: float | None = None) -> JsonObject:
        return {}

    def close_stream(self) -> None: ...


class Floor:
    """The C program: one spawn when told to, or many at once."""

    def __init__(self, program: Path, script: Path) -> None:
        self._command = [str(program), str(script)]
        self._turns = subprocess.Popen(
            [*self._command, "0", "1"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )

    def once(self) -> float:
        """Microseconds."""
        assert self._turns.stdin is not None and self._turns.stdout is not None
        self._turns.stdin.write(b".")
        return float(self._turns.stdout.readline())

    def rate(self, calls: int) -> float:
        """Calls a second."""
        words = subprocess.check_output([*self._command, str(calls), str(IN_FLIGHT)]).split()
        return float(words[2])

    def close(self) -> None:
        self._turns.communicate()


class Ours:
    def __init__(self, target: ScriptTarget) -> None:
        self._target = target
        self._call, self._channel = Call("tools/call", {}, R2025_11_25), Silent()

    async def once(self) -> float:
        began = time.perf_counter()
        await self._target.call({"n": 1}, self._call, self._channel)
        took = time.perf_counter() - began
        await asyncio.sleep(0)  # where a server goes on to its next message
        return took * 1e6

    async def rate(self, calls: int) -> float:
        left = calls

        async def worker() -> None:
            nonlocal left
            while left > 0:
                left -= 1
                await self.once()

        began = time.perf_counter()
        await asyncio.gather(*(worker() for _ in range(IN_FLIGHT)))
        return calls / (time.perf_counter() - began)


def prepare(program: Path, script: Path) -> None:
    subprocess.run(["cc", "-O2", "-o", program, HERE / "spawn_floor.c"], check=True)
    script.write_text(SCRIPT)
    script.chmod(0o755)


async def measure(rounds: int, calls: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        program, script = folder / "floor", folder / "tool.sh"
        prepare(program, script)
        os.chdir(folder)  # as a server of one project does
        runner = Runner(RunnerSettings(), ProjectPaths(str(folder), str(folder)))
        ours = Ours(ScriptTarget("tool", str(script), {"name": "tool"}, runner))
        floor = Floor(program, script)
        await ours.rate(20)
        turns = [(floor.once(), await ours.once()) for _ in range(rounds * calls)]
        rates = [(floor.rate(calls), await ours.rate(calls)) for _ in range(rounds)]
        floor.close()
        await runner.close()
        os.chdir("/")
    print("| a bash script | C program | ours | ratio |")
    print("|---|---|---|---|")
    print(row("p50 of a call, µs", turns))
    print(row(f"calls a second, {IN_FLIGHT} in flight", rates))


def row(title: str, pairs: list[tuple[float, float]]) -> str:
    below, above = (statistics.median(side) for side in zip(*pairs, strict=True))
    return f"| {title} | {below:.0f} | {above:.0f} | {above / below:.2f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--calls", type=int, default=100)
    parser.add_argument("--loop", choices=("asyncio", "uvloop"), default="asyncio")
    options = parser.parse_args()
    run = uvloop.run if options.loop == "uvloop" else asyncio.run
    run(measure(options.rounds, options.calls))


if __name__ == "__main__":
    main()
