"""What observing costs a call: off, metrics, traces of everything; in turns, in one run.

    python -m bench.observing [--count 3000] [--rounds 10] [--before FOLDER]

A call is `tools/call` through the gateway to a server in memory over HTTP, 16 in flight. CPU is
that of the gateway: of the thread that serves, and of the whole process, in which a thread makes
OTLP of spans and sends it. `--before` names another checkout, which runs beside this one with
everything off. The collector takes what it is sent and throws it away.
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
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import uvloop

from bench.http import ARGUMENTS, free_port, reachable
from bench.load import drivers, modern_call
from bench.standing import over_http

OFF = {"TOOLYARD_METRICS": "false"}


@dataclass(slots=True)
class Observed:
    """A gateway that runs, and the CPU of each round per call, in microseconds."""

    what: str
    url: str
    pid: int
    serving: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)

    async def run(self, count: int) -> None:
        found = await drivers(self.url, modern_call(self.url, "echo", ARGUMENTS), 16)
        each = count // 16
        await asyncio.gather(*(driver.drive(each // 8) for driver in found))
        before = self._cpu()
        await asyncio.gather(*(driver.drive(each) for driver in found))
        # The exporter's thread may be behind: its share of these calls must be in.
        await asyncio.sleep(0.3)
        after = self._cpu()
        for driver in found:
            driver.close()
        self.serving.append((after[0] - before[0]) / (each * 16) / 1000)
        self.whole.append((after[1] - before[1]) / (each * 16) / 1000)

    def _cpu(self) -> tuple[int, int]:
        tasks = Path(f"/proc/{self.pid}/task")
        used = {t.name: int((t / "schedstat").read_text().split()[0]) for t in tasks.iterdir()}
        return used[str(self.pid)], sum(used.values())


@contextmanager
def started(words: list[str], env: dict[str, str]) -> Iterator[int]:
    process = subprocess.Popen(
        [sys.executable, *words], env={**os.environ, **env}, stderr=subprocess.DEVNULL
    )
    try:
        yield process.pid
    finally:
        process.terminate()
        process.wait()


@asynccontextmanager
async def gateway(
    servers: list[dict[str, object]], env: dict[str, str], source: Path
) -> AsyncIterator[tuple[str, int]]:
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="toolyard-bench-") as folder:
        registry = Path(folder) / "registry.json"
        registry.write_text(json.dumps({"servers": servers}))
        words = ["-m", "toolyard", "serve", str(registry), "--http", str(port), "--no-page"]
        path = {"PYTHONPATH": str(source / "src")}
        with started(words, {**path, **env}) as pid:
            await reachable(port)
            yield f"http://127.0.0.1:{port}/mcp", pid


@asynccontextmanager
async def swallowing() -> AsyncIterator[str]:
    """A collector in a process of its own, so that it is not measured."""
    port = free_port()
    with started(["-m", "bench.observing", "--collect", str(port)], {}):
        await reachable(port)
        yield f"http://127.0.0.1:{port}"


async def collect(port: int) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
                await reader.readexactly(int(length or b"0"))
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", port)
    await server.serve_forever()


async def measure(count: int, rounds: int, before: Path | None) -> list[str]:
    here = Path(__file__).resolve().parents[1]
    async with AsyncExitStack() as stack:
        endpoint = await stack.enter_async_context(swallowing())
        traces = {
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": f"{endpoint}/v1/traces",
            "OTEL_BSP_MAX_QUEUE_SIZE": "100000",
        }
        kinds = [
            ("off", OFF, here),
            ("metrics", {}, here),
            ("traces, everything sampled", {**OFF, **traces}, here),
            (
                "traces, nothing sampled",
                {**OFF, **traces, "OTEL_TRACES_SAMPLER": "always_off"},
                here,
            ),
        ]
        if before is not None:
            kinds.insert(0, ("before", {}, before))
        servers = await over_http(stack)
        running = []
        for what, env, source in kinds:
            url, pid = await stack.enter_async_context(gateway(servers, env, source))
            running.append(Observed(what, url, pid))
        for _ in range(rounds):
            for each in running:
                await each.run(count)
    return table(running)


def table(running: list[Observed]) -> list[str]:
    rows = ["| a call | thread that serves, µs | against off | whole process, µs | against off |"]
    rows.append("|---|---|---|---|---|")
    off = next(each for each in running if each.what == "off")
    for each in running:
        ratios = [
            statistics.median(a / b for a, b in zip(own, base, strict=True))
            for own, base in ((each.serving, off.serving), (each.whole, off.whole))
        ]
        serving, whole = statistics.median(each.serving), statistics.median(each.whole)
        rows.append(
            f"| {each.what} | {serving:.1f} | {(ratios[0] - 1) * 100:+.1f} % "
            f"| {whole:.1f} | {(ratios[1] - 1) * 100:+.1f} % |"
        )
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--before", type=Path)
    parser.add_argument("--collect", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        if options.collect:
            runner.run(collect(options.collect))
        else:
            print("\n".join(runner.run(measure(options.count, options.rounds, options.before))))
