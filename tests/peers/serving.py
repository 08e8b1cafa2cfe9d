"""Start a real program for a test and take it down again. Knows no MCP.

`serving` and `listening` wait for the URL that the program prints on stderr;
`spawned` gives the pipes of a program that talks over stdio.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# The checkout whose program is tested: another one shows that a test fails on an older build.
BUILD = Path(os.environ.get("BUILD_UNDER_TEST", ROOT))
URL = re.compile(r"https?://[^\s\"',]+/mcp\b")
# Only a test that fails waits that long: enough for a machine that has much else to do.
START_WITHIN = 60.0
STOP_WITHIN = 5.0
LINE_LIMIT = 64 * 1024 * 1024


@dataclass(slots=True)
class Running:
    """A started program and the lines that it has written to stderr so far."""

    process: asyncio.subprocess.Process
    stderr: list[str] = field(default_factory=list)
    silent: asyncio.Event = field(default_factory=asyncio.Event)  # stderr has come to its end
    news: asyncio.Event = field(default_factory=asyncio.Event)  # there is another line

    async def says(self, pattern: str, since: int = 0) -> re.Match[str]:
        """What it writes to stderr after so many lines, once that has come."""
        async with asyncio.timeout(START_WITHIN):
            while not (found := re.search(pattern, "\n".join(self.stderr[since:]))):
                self.news.clear()
                await self.news.wait()
        return found

    async def last_words(self) -> str:
        """All of stderr, once the program has closed it."""
        with suppress(TimeoutError):
            async with asyncio.timeout(STOP_WITHIN):
                await self.silent.wait()
        return self.errors

    @property
    def errors(self) -> str:
        return "\n".join(self.stderr)


@dataclass(slots=True)
class Listening(Running):
    """A started program that answers at `url`, which ends in `/mcp`."""

    url: str = ""

    @property
    def origin(self) -> str:
        return self.url.removesuffix("/mcp")


def toolyard(*arguments: str | Path) -> list[str]:
    """The command line of the program under test."""
    return [sys.executable, "-m", "toolyard", *map(str, arguments)]


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Ours, with the code under test first and none of the product's own settings.

    But one: whoever has no balancer before it does not wait for one at the end.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("MCP_", "MCPBASH_", "TOOLYARD_"))
    }
    paths = f"{BUILD / 'src'}{os.pathsep}{ROOT}"
    own = {"PYTHONPATH": paths, "PYTHONUNBUFFERED": "1", "TOOLYARD_DRAIN_PAUSE": "0"}
    return {**kept, **own, **(extra or {})}


@contextmanager
def copied(project: Path) -> Iterator[Path]:
    """A private copy of a project, so that a test may change it and caches stay out of git."""
    with tempfile.TemporaryDirectory(prefix="toolyard-test-") as folder:
        copy = Path(folder) / project.name
        shutil.copytree(project, copy, symlinks=True)
        yield copy


@asynccontextmanager
async def serving(
    path: Path, *flags: str, env: Mapping[str, str] | None = None
) -> AsyncIterator[Listening]:
    """`toolyard serve PATH` over HTTP, on a free port of the loopback interface."""
    command = toolyard("serve", path, "--http", "127.0.0.1:0", *flags)
    async with listening(command, env=env) as server:
        yield server


@asynccontextmanager
async def listening(
    command: Sequence[str], *, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> AsyncIterator[Listening]:
    """Any program that announces its `http://.../mcp` on stderr."""
    announced: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    process = await start(command, env, cwd, asyncio.subprocess.DEVNULL)
    server = Listening(process)
    async with followed(server, announced):
        server.url = await announcement(announced, server)
        yield server


@asynccontextmanager
async def spawned(
    command: Sequence[str], *, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> AsyncIterator[Running]:
    """A program with stdin and stdout as pipes: closing stdin is the first thing that ends it."""
    running = Running(await start(command, env, cwd, asyncio.subprocess.PIPE))
    async with followed(running):
        yield running


async def start(
    command: Sequence[str], env: Mapping[str, str] | None, cwd: Path | None, pipe: int
) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *command,
        stdin=pipe,
        stdout=pipe,
        stderr=asyncio.subprocess.PIPE,
        env=environment(env),
        cwd=cwd,
        limit=LINE_LIMIT,
        start_new_session=True,
    )


@asynccontextmanager
async def followed(
    running: Running, announced: asyncio.Future[str] | None = None
) -> AsyncIterator[None]:
    """Collect stderr while the body runs, so that the program never blocks; then end it."""
    task = asyncio.create_task(follow(running, announced))
    try:
        yield
    finally:
        await stop(running.process)
        await asyncio.wait([task], timeout=STOP_WITHIN)
        task.cancel()


async def follow(running: Running, announced: asyncio.Future[str] | None) -> None:
    assert running.process.stderr is not None
    async for raw in running.process.stderr:
        line = raw.decode(errors="replace").rstrip("\n")
        running.stderr.append(line)
        running.news.set()
        found = URL.search(line)
        if found and announced is not None and not announced.done():
            announced.set_result(found.group())
    running.silent.set()
    if announced is not None and not announced.done():
        announced.cancel()


async def announcement(announced: asyncio.Future[str], running: Running) -> str:
    await asyncio.wait([announced], timeout=START_WITHIN)
    if announced.done() and not announced.cancelled():
        return announced.result()
    said = running.errors or "nothing"
    raise AssertionError(f"no URL on stderr (exit {running.process.returncode}); it said:\n{said}")


async def stop(process: asyncio.subprocess.Process) -> None:
    """Close stdin, then TERM, then KILL; what is left of its process group goes with it."""
    if process.stdin is not None:
        process.stdin.close()
        await ended(process)
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.returncode is None:
            process.send_signal(number)
            await ended(process)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


async def ended(process: asyncio.subprocess.Process) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(STOP_WITHIN):
            await process.wait()
