"""HTTP `tools/call` on a target in memory: CPU of the server per request, against peers.

    python -m bench.http [--count 8000]

The floor is the same HTTP server with an app that answers at once. All in one run.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import uvloop

from bench.load import Load, load, modern_call, session_call
from bench.peers import commands, environment

FLOOR = """
import asyncio, sys, uvloop
from toolyard.asgi import JSON_TYPE, read_body, respond
from toolyard.transports.serving import listen, serve
ANSWER = b'{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"x"}]}}'

async def app(scope, receive, send):
    await read_body(receive, 1 << 20)
    await respond(send, 200, ANSWER, (JSON_TYPE,))

async def stopping(): pass

async def main():
    await serve(app, listen("127.0.0.1", int(sys.argv[1])), stopping, 1)

with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
    runner.run(main())
"""


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


@contextmanager
def running(command: list[str]) -> Iterator[int]:
    process = subprocess.Popen(
        command, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield process.pid
    finally:
        process.terminate()
        process.wait()


async def reachable(port: int) -> None:
    async with asyncio.timeout(30):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.05)
                continue
            writer.close()
            return


async def measured(command: list[str], port: int, count: int, *, modern: bool) -> Load:
    url = f"http://127.0.0.1:{port}/mcp"
    with running(command) as pid:
        await reachable(port)
        arguments: dict[str, object] = {"name": "x"}
        body = (
            modern_call(url, "echo", arguments)
            if modern
            else await session_call(url, "echo", arguments)
        )
        return await load(url, [pid], body, count=count)


async def measure(count: int) -> list[str]:
    rows = [
        "| one `tools/call` over HTTP, 16 in flight | CPU of the server, µs | requests a second |",
        "|---|---|---|",
    ]
    port = str(free_port())
    floor = [sys.executable, "-c", FLOOR, port]
    ours = [sys.executable, "-m", "tests.peers.inmemory", "http", port]
    for what, command, modern in (
        ("the bare HTTP server", floor, True),
        ("ours, 2026-07-28", ours, True),
        ("ours, 2025-11-25", ours, False),
    ):
        rows.append(row(what, await measured(command, int(port), count, modern=modern)))
    for peer, command in commands(port).items():
        rows.append(
            row(f"{peer}, 2025-11-25", await measured(command, int(port), count // 8, modern=False))
        )
    return [*rows, "", "Goal for ours: at most 100 µs, better 60."]


def row(what: str, found: Load) -> str:
    return f"| {what} | {found.cpu_us:.0f} | {found.rate:,.0f} |"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=8000)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        print("\n".join(runner.run(measure(parser.parse_args().count))))
