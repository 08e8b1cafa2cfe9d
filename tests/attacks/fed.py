"""A program that is fed with anything: how it is reached, and how it is doing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from tests.attacks.memory import resident
from tests.gateway.yard import Yard
from tests.peers.http1 import reply_from
from tests.peers.raw import StdioClient, over_stdio
from tests.peers.raw_http import HttpClient, over_http
from tests.peers.serving import Running, serving, toolyard
from tests.upstreams.seam import fake

Json = Any
T = TypeVar("T")


def yard_with(folder: Path) -> Yard:
    yard = Yard(folder)
    yard.script("t", 'echo "{}"', inputSchema={"type": "object"})
    yard.write("prompts/p.txt", "Hello {{name}}")
    yard.write("resources/r.txt", "text")
    definition = fake(tools=[{"name": name} for name in ("give", "echo", "raise")])
    stdio = {"command": definition.command, "args": list(definition.args)}
    schema = {
        "type": "object",
        "properties": {"a": {"type": "array", "source_field": "$.content[*].text"}},
    }
    yard.registry(
        servers=[{"name": "u", "stdio": stdio, "expose": "all", "timeout": 20}],
        tools=[{"name": "made", "server": "u", "originalName": "give", "outputSchema": schema}],
    )
    return yard


class Live:
    """A program that is fed: how it is doing."""

    def __init__(self, runner: asyncio.Runner, running: Running) -> None:
        self._runner = runner
        self._running = running
        self._before = 0

    def run(self, work: Awaitable[T]) -> T:
        async def whole() -> T:
            async with asyncio.timeout(30):
                return await work

        return self._runner.run(whole())

    def warm(self) -> None:
        self._before = resident(self._running.process.pid)

    def grown(self) -> int:
        """After looking at what it said: it has logged no fault, and it still runs."""
        assert self._running.process.returncode is None
        assert "Traceback" not in self._running.errors, self._running.errors[-5000:]
        return resident(self._running.process.pid) - self._before


@contextmanager
def over_pipes(folder: Path) -> Iterator[tuple[Live, StdioClient]]:
    program = toolyard("serve", yard_with(folder).root)
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()

        async def enter() -> StdioClient:
            client = await stack.enter_async_context(
                over_stdio(program, "2025-06-18", checked=False)
            )
            await client.call("echo", {})
            return client

        client = runner.run(enter())
        try:
            yield Live(runner, client.running), client
        finally:
            client.problems.clear()
            runner.run(stack.aclose())


@contextmanager
def over_sockets(folder: Path, revision: str) -> Iterator[tuple[Live, HttpClient]]:
    root = yard_with(folder).root
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()

        async def enter() -> tuple[Running, HttpClient]:
            server = await stack.enter_async_context(serving(root, "--no-page"))
            client = await stack.enter_async_context(over_http(server.url, revision, checked=False))
            await client.call("echo", {})
            return server, client

        running, client = runner.run(enter())
        try:
            yield Live(runner, running), client
        finally:
            client.problems.clear()
            runner.run(stack.aclose())


def cancels(message: Json) -> bool:
    method = message.get("method") if isinstance(message, dict) else None
    return method in ("notifications/cancelled", "exit", "shutdown", "initialize")


def shaped(body: bytes) -> bool:
    """Could a client that means well have sent it?"""
    try:
        value = json.loads(body)
    except ValueError:
        return False
    return (
        isinstance(value, dict)
        and isinstance(value.get("params", {}), dict)
        and all(isinstance(value.get(key), str) for key in ("jsonrpc", "method"))
    )


async def raw(url: str, method: str, headers: Json, body: bytes) -> tuple[int, bytes]:
    host, _, port = url.removeprefix("http://").partition("/")[0].partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        lines = [f"{method} /mcp HTTP/1.1", f"Host: {host}:{port}", f"Content-Length: {len(body)}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        writer.write("\r\n".join([*lines, "", ""]).encode("utf-8", "replace") + body)
        reply = await reply_from(reader)
        if reply.streams:
            return reply.status, b""
        return reply.status, await reply.body()
    finally:
        writer.close()
