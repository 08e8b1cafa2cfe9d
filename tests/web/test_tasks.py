"""The page's screen of tasks: what runs, its log, its result, and ending one."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from tests.hooks.yard import Yard
from tests.peers.raw_http import over_http
from tests.tasks.conftest import REPORT
from tests.tasks.knowing import DECLARED, begun, reaches
from tests.web.browser import show, window
from tests.web.gateway import opened

pytestmark = [pytest.mark.long, pytest.mark.asyncio(loop_scope="module")]


async def test_a_task_is_shown_while_it_runs_and_can_be_ended(
    browser: Browser, tmp_path: Path
) -> None:
    project = Yard(tmp_path / "works")
    project.tool("reports", REPORT, taskSupport="optional")
    project.tool("long", "sleep 300", taskSupport="optional")
    project.tool("fails", "exit 3", taskSupport="optional")
    env = {"XDG_STATE_HOME": str(tmp_path / "state")}
    async with (
        opened(project=project.root, env=env) as yard,
        window(browser, yard.link) as page,
        over_http(yard.server.url, "2026-07-28", capabilities=DECLARED) as client,
    ):
        await show(page, "#/tasks")
        await expect(page.get_by_text("No tasks")).to_be_visible()
        task = await begun(client, "reports")
        row = page.get_by_role("link", name="reports")
        await expect(row.get_by_text("working")).to_be_visible()
        await row.click()
        await expect(page.get_by_role("progressbar")).to_have_attribute("value", "40")
        project.write("go", "")
        await expect(page.get_by_text("completed")).to_be_visible()
        await expect(page.get_by_label("Log").get_by_text("a line")).to_be_visible()
        await expect(page.get_by_label("Result").get_by_text("done").first).to_be_visible()
        await reaches(client, task["taskId"], "completed")
        other = await begun(client, "long")
        await show(page, f"#/tasks/{other['taskId']}")
        await page.get_by_role("button", name="Cancel the task").click()
        await expect(page.get_by_text("cancelled", exact=True)).to_be_visible()
        assert (await reaches(client, other["taskId"], "cancelled"))["taskId"] == other["taskId"]
        await begun(client, "fails")
        await show(page, "#/tasks")
        failed = page.get_by_role("link", name="fails")
        await expect(failed.get_by_text("failed", exact=True)).to_be_visible()


async def test_the_api_names_no_task_that_is_not_there(tmp_path: Path) -> None:
    project = Yard(tmp_path / "works")
    async with opened(project=project.root, env={"XDG_STATE_HOME": str(tmp_path)}) as yard:
        assert (await yard.api.get("tasks"))["tasks"] == []
        assert (await yard.api.send("DELETE", "tasks/x"))[0] == 404
        assert (await yard.api.send("GET", "tasks/x"))[0] == 404
