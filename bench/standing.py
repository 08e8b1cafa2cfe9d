"""Gateways that stand before an upstream, ours and others: started, tried, ready to be asked."""

from __future__ import annotations

import asyncio
import json
import re
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from bench.built import BUILT, Unavailable
from bench.floors import FLOORS
from bench.http import ARGUMENTS, free_port, reachable, running
from bench.load import Contender, connect, session_call
from bench.proxies import proxies, upstream
from bench.usage import megabytes, without

OURS = "ours"
# In the command line of whatever stands behind a gateway.
BEHIND = "upstream.py"
ECHO = re.compile(rb'"text": ?"x"')
READY_WITHIN = 30.0  # seconds


@dataclass(frozen=True, slots=True)
class Standing:
    """A gateway that answers, and what its tools are called."""

    name: str
    url: str
    pid: int
    tool: str = "{}"

    @property
    def pids(self) -> list[int]:
        return without(self.pid, BEHIND)

    async def call(self, tool: str, arguments: dict[str, object]) -> bytes:
        """A call on a session of 2025-11-25, which all of them know."""
        return await session_call(self.url, self.tool.format(tool), arguments)

    async def contender(
        self, tool: str, arguments: dict[str, object], count: int, at_once: int = 16
    ) -> Contender:
        request = await self.call(tool, arguments)
        return Contender(self.name, self.url, self.pids, request, count, at_once)

    @property
    def megabytes(self) -> float:
        return megabytes(self.pids)


@asynccontextmanager
async def serving(
    servers: list[dict[str, object]], tools: Sequence[dict[str, object]] = ()
) -> AsyncIterator[tuple[str, int]]:
    """Our gateway before these servers; its URL and its process."""
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="toolyard-bench-") as folder:
        registry = Path(folder) / "registry.json"
        registry.write_text(json.dumps({"servers": servers, "tools": list(tools)}))
        serve = [sys.executable, "-m", "toolyard", "serve", str(registry), "--http", str(port)]
        with running([*serve, "--no-page"]) as pid:
            await reachable(port)
            yield f"http://127.0.0.1:{port}/mcp", pid


def over_stdio(count: int = 1, tools: int = 1) -> list[dict[str, object]]:
    command, *args = upstream(tools)
    return [
        {
            "name": f"u{number}",
            "stdio": {"command": command, "args": args},
            "env": {"NUMBER": str(number)},
            "expose": "all",
            "prefix": "" if number == 0 else f"u{number}_",
        }
        for number in range(count)
    ]


async def over_http(stack: AsyncExitStack) -> list[dict[str, object]]:
    """An upstream in memory, of our own kind, because it is the cheapest there is."""
    port = free_port()
    words = [sys.executable, "-m", "tests.peers.inmemory", "http", str(port)]
    stack.enter_context(running(words))
    await reachable(port)
    return [{"name": "u", "url": f"http://127.0.0.1:{port}/mcp", "expose": "all", "prefix": ""}]


async def ours(
    stack: AsyncExitStack,
    servers: list[dict[str, object]],
    tools: Sequence[dict[str, object]] = (),
) -> Standing:
    url, pid = await stack.enter_async_context(serving(servers, tools))
    return await tried(Standing(OURS, url, pid))


async def peer(stack: AsyncExitStack, name: str, behind: list[str]) -> Standing:
    """One of the others, or a floor, before a program or before a URL."""
    port, built = free_port(), {**BUILT, **FLOORS}.get(name)
    url = f"http://127.0.0.1:{port}{built.path if built else '/mcp'}"
    command = built.command(port, behind) if built else proxies(port)[name]
    pid = stack.enter_context(running(command))
    await reachable(port)
    return await tried(Standing(name, url, pid, built.tool if built else "{}"))


async def tried(gateway: Standing) -> Standing:
    """It may listen before it is ready: asked until it answers what it was asked."""
    why = "nothing"
    try:
        async with asyncio.timeout(READY_WITHIN):
            while True:
                try:
                    request = await gateway.call("echo", ARGUMENTS)
                    connection = await connect(gateway.url)
                    _, answer = await connection.send(request)
                    connection.close()
                    if ECHO.search(answer):
                        return gateway
                    why = repr(answer)
                except (OSError, asyncio.IncompleteReadError) as error:
                    why = repr(error)
                await asyncio.sleep(0.1)
    except TimeoutError:
        raise Unavailable(f"it answers {why}") from None


async def built_before(stack: AsyncExitStack, behind: list[str]) -> list[Standing]:
    """Those in Go and Rust that can be had, before this upstream."""
    return await peers(stack, list(BUILT), behind)


async def peers(stack: AsyncExitStack, names: Sequence[str], behind: list[str]) -> list[Standing]:
    found = []
    for name in names:
        try:
            found.append(await peer(stack, name, behind))
        except Unavailable as error:
            say(f"{name} is left out: {error}")
        except (OSError, TimeoutError, ValueError) as error:
            say(f"{name} could not be measured: {error!r}")
    return found


@cache
def say(why: str) -> None:
    """Once, however often it is tried."""
    print(why, file=sys.stderr, flush=True)
