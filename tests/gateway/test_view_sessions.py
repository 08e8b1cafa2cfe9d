"""A session of the official SDK's client in each view of the showcase: through every call tool."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp.client import Client

from tests.gateway.listed import until_listed
from tests.gateway.test_showcase import SHOWCASE
from tests.peers.serving import Listening, copied, serving

pytestmark = pytest.mark.long

HINTS: Mapping[str, dict[str, bool]] = {
    "read": {"readOnlyHint": True},
    "write": {"readOnlyHint": False, "destructiveHint": False},
    "destructive": {"readOnlyHint": False, "destructiveHint": True},
}
SOURCES = ("countdown", "book_table", "weather")


@asynccontextmanager
async def showcase(env: Mapping[str, str], folder: Path) -> AsyncIterator[Listening]:
    """The showcase, with each of some tools once for each way to call it."""
    kinds = [
        {"name": f"{name}_{way}", "source": name, "annotations": hints}
        for name in SOURCES
        for way, hints in HINTS.items()
    ]
    more = folder / "more.json"
    with copied(SHOWCASE) as project:
        text = (project / "registry.json").read_text()
        assert text.count('"tools": [\n') == 1
        entries = ",\n".join(map(json.dumps, kinds))
        (project / "registry.json").write_text(
            text.replace('"tools": [\n', f'"tools": [\n{entries},\n')
        )
        env = {**env, "SHOWCASE_MEMORY": str(more), "SHOWCASE_KEY": "k"}
        async with serving(project, env=env) as server:
            yield server


async def elicited(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
    return types.ElicitResult(action="accept", content={"hour": "19:30", "people": 4})


@pytest.mark.parametrize("view", ["full", "index", "search"])
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_find_call_progress_question_cancellation_and_error_in_every_view(
    published: Mapping[str, str], tmp_path: Path, mode: str, view: str
) -> None:
    async with (
        showcase(published, tmp_path) as server,
        Client(f"{server.url}?view={view}", mode=mode, elicitation_callback=elicited) as client,
    ):
        await until_listed(server, "every_echo", "book_table")
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert ("find_tools" in names) == (view != "full")
        for way in HINTS:
            call = direct if view == "full" else f"call_{way}_tool"
            await everything(client, way, call)
        if view != "full":
            await found(client)


direct = ""


async def used(client: Client, through: str, name: str, arguments: Any, **more: Any) -> Any:
    if through == direct:
        return await client.call_tool(name, arguments, **more)
    return await client.call_tool(through, {"name": name, "arguments": arguments}, **more)


async def everything(client: Client, way: str, through: str) -> None:
    said: list[float] = []

    async def progress(value: float, total: float | None, message: str | None) -> None:
        said.append(value)

    counted = await used(
        client, through, f"countdown_{way}", {"from": 3, "pause": 0}, progress_callback=progress
    )
    assert not counted.is_error and said == sorted(said) and len(said) >= 3
    booked = await used(client, through, f"book_table_{way}", {"restaurant": "Chez Nous"})
    assert booked.content[0].text == "A table for 4 at Chez Nous, 19:30."
    wrong = await used(client, through, f"countdown_{way}", {"from": "many"})
    assert wrong.is_error and "/from" in wrong.content[0].text
    assert ("inputSchema" in wrong.content[0].text) == (through != direct)
    await cancelled(client, way, through)


async def cancelled(client: Client, way: str, through: str) -> None:
    started = asyncio.Event()

    async def progress(value: float, total: float | None, message: str | None) -> None:
        started.set()

    call = asyncio.create_task(
        used(
            client,
            through,
            f"countdown_{way}",
            {"from": 30, "pause": 1},
            progress_callback=progress,
        )
    )
    async with asyncio.timeout(20):
        await started.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
    # The connection is as good as before.
    again = await used(client, through, f"countdown_{way}", {"from": 1, "pause": 0})
    assert not again.is_error


async def found(client: Client) -> None:
    answer = await client.call_tool("find_tools", {"query": "count down with progress"})
    assert answer.structured_content is not None
    best = answer.structured_content["tools"][0]
    assert best["name"].startswith("countdown")
    result = await client.call_tool(
        best["call_with"], {"name": best["name"], "arguments": {"from": 1, "pause": 0}}
    )
    assert not result.is_error
    wrong = await client.call_tool(
        "call_write_tool", {"name": "countdown_read", "arguments": {"from": 1}}
    )
    assert wrong.is_error and "call_read_tool" in wrong.content[0].text  # type: ignore[union-attr]
