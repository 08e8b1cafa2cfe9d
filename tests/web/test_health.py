"""The screen about the last hour: pictures by server and tool, journals, trying again."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from tests.gateway.test_endpoints import page_token
from tests.gateway.yard import ECHO, Yard
from tests.peers.http1 import fetch
from tests.peers.raw import MODERN
from tests.peers.raw_http import over_http
from tests.peers.serving import Listening, serving
from tests.until import until
from tests.web.browser import show, window
from tests.web.gateway import Opened

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[Listening, Path]]:
    """A server that works, and one whose program is not there yet."""
    yard = Yard(tmp_path_factory.mktemp("health"))
    failing = {**ECHO, "name": "fail", "error": {"code": -32050, "message": "no"}}
    program = yard.root / "late"
    late = {"name": "late", "stdio": {"command": str(program)}, "expose": "all"}
    yard.registry(servers=[yard.upstream("u", ECHO, failing, expose="all"), late])
    async with serving(yard.file) as running:
        async with over_http(running.url, MODERN, checked=False) as client:
            for name in ("echo", "echo", "fail"):
                await client.request("tools/call", {"name": name, "arguments": {}})
        yield running, program


async def api(server: Listening, method: str, path: str) -> tuple[int, dict[str, object]]:
    token = await page_token(server)
    async with fetch(method, f"{server.origin}/api/{path}", token) as answer:
        return answer.status, json.loads(await answer.body())


async def test_the_last_hour_is_made_of_the_metrics(server: tuple[Listening, Path]) -> None:
    status, hour = await api(server[0], "GET", "history")
    assert status == 200
    tools, servers = hour["tools"], hour["servers"]
    assert isinstance(tools, dict) and isinstance(servers, dict)
    assert sums(tools["echo"]) == (2, 0)
    assert sums(tools["fail"]) == (1, 1)
    busy = next(point for point in tools["echo"] if point["calls"])
    assert 0 < busy["p50"] <= busy["p95"] < 10
    assert sums(servers["u"]) == (3, 1)


def sums(points: list[dict[str, int]]) -> tuple[int, int]:
    """Calls and failures of the hour: a minute may have ended in between."""
    return sum(point["calls"] for point in points), sum(point["errors"] for point in points)


async def test_a_cancelled_call_has_not_failed(yard: Opened) -> None:
    async with yard.api.call("tools/call", {"name": "countdown", "arguments": {"seconds": 20}}):
        pass  # whoever closes the stream cancels the call

    async def counted() -> tuple[int, int] | None:
        points = (await yard.api.get("history"))["tools"].get("countdown", [])
        return sums(points) if sums(points)[0] else None

    assert await until(counted) == (1, 0)


async def test_a_server_that_was_down_is_tried_again_at_once(
    server: tuple[Listening, Path],
) -> None:
    running, program = server
    assert (await api(running, "POST", "retry/nobody"))[0] == 404
    await api(running, "POST", "retry/late")
    status, journal = await api(running, "GET", "journal/late")
    events = journal["events"]
    assert status == 200 and isinstance(events, list)
    assert "cannot start" in events[-1]["text"]

    yard = Yard(program.parent)
    words = yard.upstream("late", ECHO)["stdio"]
    program.write_text(f"#!/bin/sh\nexec {words['command']} {' '.join(words['args'])}\n")
    program.chmod(0o755)
    await api(running, "POST", "retry/late")
    _, journal = await api(running, "GET", "journal/late")
    assert isinstance(journal["events"], list)
    assert journal["events"][-1]["text"] == "connected"


@pytest.mark.long
async def test_the_screen_shows_pictures_and_a_journal(
    browser: Browser, server: tuple[Listening, Path]
) -> None:
    token = (await page_token(server[0]))["Authorization"].removeprefix("Bearer ")
    async with window(browser, f"{server[0].origin}/#token={token}") as page:
        await show(page, "#/health")
        tools = page.get_by_role("region", name="Tools")
        await expect(tools.get_by_role("img", name="fail: 1 calls, 1 failed")).to_be_visible()
        servers = page.get_by_role("region", name="Servers")
        await expect(servers.get_by_role("img", name="u: 3 calls, 1 failed")).to_be_visible()
        journal = page.get_by_role("article", name="late")
        await expect(journal.locator(".badge")).to_have_text("ready")
        await expect(journal.get_by_role("button", name="Retry now")).to_have_count(0)
        await journal.get_by_text("Journal").click()
        await expect(journal.get_by_text("tried again by hand").first).to_be_visible()
