"""Compare calls of a bash script as a tool with a C program that spawns the same script.

    python bench/scripts.py [--rounds 12] [--calls 100] [--loop asyncio|uvloop]

Floor and ours are measured in turns, in the same run; only the ratios mean something.
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
from typing import NamedTuple

import uvloop

from toolyard.protocol.call import Call, Json, JsonObject, Questions, Session
from toolyard.protocol.revisions import R2025_11_25
from toolyard.runners.runner import Runner
from toolyard.runners.script import ScriptTarget
from toolyard.runners.settings import ProjectPaths, RunnerSettings

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


class Figures(NamedTuple):
    p50: float  # microseconds, one call at a time
    rate: float  # calls a second, 16 in flight


def floor(program: Path, script: Path, calls: int) -> Figures:
    def run(in_flight: int) -> list[float]:
        command = [str(program), str(script), str(calls), str(in_flight)]
        return [float(word) for word in subprocess.check_output(command).split()]

    return Figures(run(1)[0], run(IN_FLIGHT)[2])


async def ours(target: ScriptTarget, calls: int) -> Figures:
    call, channel = Call("tools/call", {}, R2025_11_25), Silent()
    took = []
    for _ in range(calls):
        began = time.perf_counter()
        await target.call({"n": 1}, call, channel)
        took.append(time.perf_counter() - began)
    left = calls

    async def worker() -> None:
        nonlocal left
        while left > 0:
            left -= 1
            await target.call({"n": 1}, call, channel)

    began = time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(IN_FLIGHT)))
    return Figures(statistics.median(took) * 1e6, calls / (time.perf_counter() - began))


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
        target = ScriptTarget("tool", str(script), {"name": "tool"}, runner)
        await ours(target, 20)
        print("| round | floor p50 µs | ours | ratio | floor calls/s | ours | ratio |")
        print("|---|---|---|---|---|---|---|")
        latency, rate = [], []
        for number in range(rounds):
            below, above = floor(program, script, calls), await ours(target, calls)
            latency.append(above.p50 / below.p50)
            rate.append(above.rate / below.rate)
            print(
                f"| {number + 1} | {below.p50:.0f} | {above.p50:.0f} | {latency[-1]:.2f} "
                f"| {below.rate:.0f} | {above.rate:.0f} | {rate[-1]:.2f} |",
                flush=True,
            )
        print(
            f"| median | | | {statistics.median(latency):.2f} | | | {statistics.median(rate):.2f} |"
        )
        await runner.close()


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
