"""A project served by several workers, and what tests look at from outside."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from tests.peers.raw_http import over_http
from tests.peers.serving import Listening, serving
from tests.processes import processes
from tests.until import until
from tests.workers.doors import all_serve, workers_of

NEW = "2026-07-28"
# The scripts' parent is the worker that runs them.
TOOLS = {
    "who": "echo $PPID",
    # Runs until the test lets it end.
    "held": 'cd "$(dirname "$0")"; echo $PPID >began; '
    "until [ -e go ]; do sleep 0.02; done; echo $PPID",
}


def project(folder: Path, tools: Mapping[str, str] = TOOLS) -> Path:
    (folder / "server.d").mkdir(parents=True)
    (folder / "server.d" / "server.meta.json").write_text('{"name": "crew"}')
    for name, script in tools.items():
        home = folder / "tools" / name
        home.mkdir(parents=True)
        (home / "tool.sh").write_text(f"#!/usr/bin/env bash\n{script}\n")
        (home / "tool.sh").chmod(0o755)
        (home / "tool.meta.json").write_text(f'{{"name": "{name}", "description": "{name}"}}')
    return folder


@asynccontextmanager
async def crewed(
    folder: Path, *flags: str, workers: int = 2, env: Mapping[str, str] | None = None
) -> AsyncIterator[Listening]:
    async with serving(folder, "--workers", str(workers), *flags, env=env) as server:
        await until(lambda: len(workers_of(server)) == workers)
        await all_serve(server)
        yield server


async def who(server: Listening) -> int:
    """Which worker a new connection comes to."""
    return await worker_at(server.url)


async def worker_at(url: str) -> int:
    async with over_http(url, NEW, start=False) as client:
        return int((await client.call("who"))["content"][0]["text"])


def place_of(folder: Path, name: str) -> Path:
    """Where the script of a tool is, and what it writes."""
    return folder / "tools" / name


def group_of(leader: int) -> set[int]:
    """The program and its workers; scripts and watchers have groups of their own."""
    return {pid for pid, fields in processes() if int(fields[2]) == leader and fields[0] != "Z"}
