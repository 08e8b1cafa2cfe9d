"""HTTP `tools/call` on a target in memory: CPU of the server per request, against peers.

    python -m bench.http [--count 4000] [--rounds 5]

The floor is the same HTTP server with an app that answers at once. All run at the same time and
are asked in turns; the best of each counts.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import uvloop

from bench.load import Contender, in_turns, modern_call, session_call
from bench.peers import commands, environment

FLOOR = """
import asyncio, sys, uvloop
from toolyard.http.headers import JSON_TYPE
from toolyard.http.serving.listening import listen
from toolyard.http.serving.server import serve
ANSWER = b'{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"x"}]}}'

async def respond(request, response):
    await request.read(1 << 20)
    await response.send(200, ANSWER, (JSON_TYPE,))

async def stopping(): pass

async def main():
    await serve(respond, listen("127.0.0.1", int(sys.argv[1])), stopping, 1)

with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
    runner.run(main())
"""
ENDS_WITHIN = 10.0  # seconds
ARGUMENTS: dict[str, object] = {"name": "x"}


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
        try:
            process.wait(ENDS_WITHIN)
        except subprocess.TimeoutExpired:  # a peer that hangs
            process.kill()
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


def choices(port: int) -> dict[str, tuple[list[str], bool]]:
    """What to start on a port, and whether it is asked as a modern client asks."""
    number = str(port)
    ours = [sys.executable, "-m", "tests.peers.inmemory", "http", number]
    return {
        "the bare HTTP server": ([sys.executable, "-c", FLOOR, number], True),
        "ours, 2026-07-28": (ours, True),
        "ours, 2025-11-25": (ours, False),
        **{f"{peer}, 2025-11-25": (words, False) for peer, words in commands(number).items()},
    }


async def measure(count: int, rounds: int) -> list[str]:
    with ExitStack() as stack:
        contenders = [await contender(stack, what, count) for what in choices(0)]
        found = await in_turns(contenders, rounds)
    rows = [
        "| one `tools/call` over HTTP, 16 in flight | CPU of the server, µs | requests a second |",
        "|---|---|---|",
    ]
    rows += [f"| {what} | {one.cpu_us:.0f} | {one.rate:,.0f} |" for what, one in found.items()]
    return [*rows, "", "Goal for ours: at most 100 µs, better 60."]


async def contender(stack: ExitStack, what: str, count: int) -> Contender:
    port = free_port()
    command, modern = choices(port)[what]
    pid = stack.enter_context(running(command))
    await reachable(port)
    url = f"http://127.0.0.1:{port}/mcp"
    request = modern_call(url, "echo", ARGUMENTS)
    if not modern:
        request = await session_call(url, "echo", ARGUMENTS)
    is_peer = "ours" not in what and "bare" not in what
    return Contender(what, url, [pid], request, count // 8 if is_peer else count)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        print("\n".join(runner.run(measure(options.count, options.rounds))))
