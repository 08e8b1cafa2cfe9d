"""The official SDK's client against the demo: both eras, over stdio and over HTTP."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import pytest
from mcp import Client, StdioServerParameters
from mcp.types import ElicitRequestParams, ElicitResult, TextContent

from tests.peers.serving import ROOT, copied, environment, serving
from tests.until import until

DEMO = ROOT / "examples" / "demo"
MODES = pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
WAYS = pytest.mark.parametrize("way", ["stdio", "http"])
Mode = Literal["legacy", "2026-07-28"]


@asynccontextmanager
async def connected(way: str, mode: Mode, **callbacks: Any) -> AsyncIterator[Client]:
    with copied(DEMO) as project:
        async with connected_to(project, way, mode, **callbacks) as client:
            yield client


@asynccontextmanager
async def connected_to(
    project: Path, way: str, mode: Mode, **callbacks: Any
) -> AsyncIterator[Client]:
    if way == "stdio":
        arguments = ["-m", "toolyard", "serve", str(project)]
        program = StdioServerParameters(command=sys.executable, args=arguments, env=environment())
        async with Client(program, mode=mode, **callbacks) as client:
            yield client
        return
    async with (
        serving(project, "--no-page") as server,
        Client(server.url, mode=mode, **callbacks) as client,
    ):
        yield client


def text_of(result: Any) -> str:
    [block] = result.content
    assert isinstance(block, TextContent)
    return block.text


@MODES
@WAYS
async def test_it_lists_and_calls(way: str, mode: Mode) -> None:
    async with connected(way, mode) as client:
        listed = await client.list_tools()
        names = {tool.name for tool in listed.tools}
        assert {"greet", "text_stats", "disk_space", "countdown", "plan_lunch"} <= names
        result = await client.call_tool("text_stats", {"text": "one two\nthree"})
        assert not result.is_error
        assert result.structured_content is not None
        assert result.structured_content["words"] == 3


@MODES
@WAYS
async def test_progress_arrives_during_the_call(way: str, mode: Mode) -> None:
    heard: list[tuple[float, float | None]] = []
    running = asyncio.Event()
    before_the_end: list[bool] = []

    async def progressed(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total))
        before_the_end.append(not running.is_set())

    async with connected(way, mode) as client:
        await client.call_tool("countdown", {"seconds": 1}, progress_callback=progressed)
        running.set()
    assert heard
    assert all(before_the_end)


@MODES
@WAYS
async def test_a_call_can_be_cancelled(way: str, mode: Mode) -> None:
    started = asyncio.Event()

    async def progressed(progress: float, total: float | None, message: str | None) -> None:
        started.set()

    with copied(DEMO) as project:
        async with connected_to(project, way, mode) as client:
            call = asyncio.create_task(
                client.call_tool("countdown", {"seconds": 20}, progress_callback=progressed)
            )
            async with asyncio.timeout(10):
                await started.wait()
            assert runs_in(project / "tools" / "countdown")
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            await until(lambda: not runs_in(project / "tools" / "countdown"))
            assert text_of(await client.call_tool("greet", {"name": "Ann"}))


def runs_in(folder: Path) -> list[int]:
    """The live processes whose command line has a file of this folder in it."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            line = (entry / "cmdline").read_bytes() if entry.name.isdecimal() else b""
        except OSError:
            continue
        if f"{folder}/".encode() in line:
            found.append(int(entry.name))
    return found


@MODES
@WAYS
async def test_a_tool_asks_and_is_answered(way: str, mode: Mode) -> None:
    asked: list[str] = []

    async def answer(_context: Any, params: ElicitRequestParams) -> ElicitResult:
        asked.append(params.message)
        schema = params.requested_schema  # type: ignore[union-attr]
        content: dict[str, Any] = dict.fromkeys(schema["properties"], "soup")
        for name, about in schema["properties"].items():
            choices = about.get("enum") or [each["const"] for each in about.get("oneOf", [])]
            if about["type"] == "integer":
                content[name] = 3
            elif choices:
                content[name] = choices[0]
        return ElicitResult(action="accept", content=content)

    async with connected(way, mode, elicitation_callback=answer) as client:
        result = await client.call_tool("plan_lunch", {})
    assert asked
    assert not result.is_error
