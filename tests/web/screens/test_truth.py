"""What is shown is true: how a call ended, who failed, what its source says, what can be pasted."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from tests.peers.raw_http import over_http
from tests.peers.serving import environment
from tests.until import until
from tests.web.browser import show, window
from tests.web.gateway import Opened, add_tool, make_project, opened
from tests.web.trying import result, run

pytestmark = [pytest.mark.long, pytest.mark.asyncio(loop_scope="module")]

FAILS = """#!/usr/bin/env bash
echo 'it broke' >&2
exit 3
"""
NO_META = """#!/usr/bin/env bash
# mcp: {"name": "bare", "description": "Says nothing much"}
echo '{}'
"""
# A port where nobody listens: connections to it are refused.
NOBODY = "http://127.0.0.1:9/mcp"


async def outcome_of(page: Page, tool: str) -> str:
    await show(page, f"#/explore/tools/{tool}")
    await run(page)
    return await result(page)


async def test_a_call_that_was_cancelled_while_it_asked_asks_no_more(
    browser: Browser, yard: Opened
) -> None:
    async with window(browser, yard.link) as page:
        await show(page, "#/explore/tools/plan_lunch")
        await run(page)
        await expect(page.locator(".question")).to_be_visible()
        await page.get_by_role("button", name="Cancel").click()
        await expect(page.locator(".status-line .badge")).to_have_text("cancelled")
        await expect(page.locator(".question")).to_have_count(0)
        await expect(page.get_by_role("button", name="Run")).to_be_enabled()


async def test_a_call_whose_server_died_has_failed_and_can_be_made_again(
    browser: Browser,
) -> None:
    async with opened() as yard, window(browser, yard.link) as page:
        await show(page, "#/explore/tools/plan_lunch")
        await run(page)
        await expect(page.locator(".question")).to_be_visible()
        yard.server.process.kill()
        await yard.server.process.wait()
        await expect(page.locator(".status-line .badge")).to_have_text("failed")
        await expect(page.get_by_role("alert")).to_contain_text("connection was lost")
        await expect(page.locator(".question")).to_have_count(0)
        await expect(page.get_by_role("button", name="Run")).to_be_enabled()


async def test_cancelled_is_not_failed(browser: Browser) -> None:
    async with opened() as yard, window(browser, yard.link) as page:
        await show(page, "#/explore/tools/countdown")
        await page.get_by_role("textbox", name="seconds").fill("20")
        await run(page)
        await expect(page.get_by_role("progressbar", name="Progress")).to_be_visible()
        await page.get_by_role("button", name="Cancel").click()
        await expect(page.locator(".status-line .badge")).to_have_text("cancelled")
        (line,) = await until(lambda: lines(yard, "cancelled"))
        seen = await yard.api.get("overview")
        assert seen["errors"] == 0
        await show(page, f"#/traffic/{line['number']}")
        call = page.get_by_role("region", name=re.compile("Call"))
        await expect(call).to_contain_text("cancelled")
        await call.get_by_role("button", name=re.compile("Hop 2")).click()
        await expect(call.locator(".banner.bad")).to_have_count(0)
        assert "CancelledError" not in await call.inner_text()


async def lines(yard: Opened, outcome: str) -> list[dict[str, int]]:
    everything = (await yard.api.get("traffic"))["lines"]
    return [line for line in everything if line["outcome"] == outcome]


async def test_who_failed_is_said_as_it_is(browser: Browser, tmp_path: Path) -> None:
    project = make_project(tmp_path)
    add_tool(project, {"name": "fails", "inputSchema": {"type": "object"}}, FAILS)
    file = project / "registry.json"
    registry = json.loads(file.read_text().split("\n", 1)[1])
    registry["servers"].append({"name": "nobody", "url": NOBODY})
    registry["servers"].append({"name": "off", "url": NOBODY, "disabled": "not now"})
    wrong = {"type": "object", "properties": {"words": {"type": "string"}}}
    registry["tools"] += [
        {"name": "unreached", "server": "nobody", "inputSchema": {"type": "object"}},
        {"name": "unusable", "source": "text_stats", "outputSchema": wrong},
    ]
    file.write_text(json.dumps(registry))
    async with opened(project=project) as yard, window(browser, yard.link) as page:
        assert "The tool says that the call failed" in await outcome_of(page, "fails")
        refused = await outcome_of(page, "form")
        assert "did not get as far as the tool" in refused
        assert "The tool says" not in refused
        unreached = await outcome_of(page, "unreached")
        assert "The tool was not reached" in unreached
        assert "Connection refused" in unreached
        assert "Connect call failed" not in unreached
        await show(page, "#/explore/tools/unusable")
        await page.get_by_label("text required").fill("two words")
        await run(page)
        assert "its answer cannot be used" in await result(page)
        await show(page, "#/")
        off = page.get_by_role("article", name="off")
        await expect(off.locator(".badge")).to_have_text("disabled")
        await expect(off.locator(".badge")).not_to_have_class(re.compile("bad( |$)"))


async def test_a_tool_made_from_a_script_is_compared_with_the_scripts_definition(
    browser: Browser, tmp_path: Path
) -> None:
    project = make_project(tmp_path)
    tool = project / "tools" / "bare.sh"
    tool.write_text(NO_META)
    tool.chmod(0o755)
    entry = {"name": "dressed", "source": "bare", "description": "Says a lot"}
    (project / "registry.json").write_text(json.dumps({"tools": [entry]}))
    async with opened(project=project) as yard, window(browser, yard.link) as page:
        await show(page, "#/explore/tools/dressed?part=definition")
        gone = page.locator(".diff-side.gone")
        await expect(gone.filter(has_text='"name": "bare"')).to_be_visible()
        await expect(gone.filter(has_text="Says nothing much")).to_be_visible()
        await show(page, "#/explore/tools/bare?part=definition")
        await expect(page.get_by_text("exactly what the source says")).to_be_visible()


async def test_the_call_copied_as_python_runs_with_the_current_sdk(
    browser: Browser, yard: Opened
) -> None:
    async with window(browser, yard.link) as page:
        await show(page, "#/explore/tools/ahoy")
        await page.get_by_label("name").last.fill('O"Neil é')
        await page.get_by_role("button", name="Copy as…").click()
        await page.get_by_role("button", name="Python", exact=True).click()
        await page.locator(".snippet").get_by_role("button", name="Copy").click()
        code = await page.evaluate("navigator.clipboard.readText()")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-W", "error::DeprecationWarning", "-c", code),
        stdout=asyncio.subprocess.PIPE,
        env=environment({}),
    )
    output, _ = await process.communicate()
    assert 'Ahoy, O\\"Neil é!' in output.decode() or 'Ahoy, O"Neil é!' in output.decode()


async def test_progress_in_per_cent_has_a_total_on_the_wire(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    script = '#!/usr/bin/env bash\n. "$MCP_SDK/tool-sdk.sh"\nmcp_progress 40 half\necho done\n'
    add_tool(project, {"name": "halfway", "inputSchema": {"type": "object"}}, script)
    async with opened(project=project) as yard:
        told = dict(await yard.api.events_of("halfway", {}))
        assert told["progress"] == {"progress": 40, "total": 100, "message": "half"}
        async with over_http(yard.server.url, "2025-06-18") as client:
            await client.call("halfway", {})
