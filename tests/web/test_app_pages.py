"""The templates for MCP Apps pages in a real browser, shown by a host that speaks MCP Apps."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.async_api import Browser, Frame

from toolyard.scripts.resources.page_templates import page_of

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(60)]

# Puts the page into a frame, answers its requests, and keeps what it says.
HOST = """
const said = window.said = [];
const frame = document.body.appendChild(document.createElement("iframe"));
addEventListener("message", ({ data }) => {
  said.push(data);
  if (data.id === undefined) return;
  const fails = data.params.name === "fails";
  const answer = fails ? { error: { message: "no such tool" } } : { result: {} };
  frame.contentWindow.postMessage({ jsonrpc: "2.0", id: data.id, ...answer }, "*");
});
frame.srcdoc = PAGE;
"""

TABLE = [{"city": "Oslo", "degrees": 4}, {"city": "Rome"}]
TREE = [{"label": "a", "children": [{"name": "b"}, "c"]}]
BOARD = {
    "columns": ["todo", {"id": "done", "title": "Done"}],
    "cards": [{"title": "x", "status": "done"}],
}
CASES: list[tuple[str, dict[str, Any], Any, str]] = [
    ("data-table", {"rows": [{"a": 1}]}, TABLE, "city\tdegrees\nOslo\t4\nRome"),
    (
        "data-table",
        {"columns": [{"key": "city", "label": "Where"}]},
        {"rows": TABLE},
        "Where\nOslo\nRome",
    ),
    ("progress", {"message": "begins"}, {"progress": 2, "total": 3, "message": "on it"}, "on it"),
    ("diff-viewer", {}, {"before": "a\nb", "after": "b\nc"}, "-a\n b\n+c"),
    ("diff-viewer", {}, {"diff": "+x\n\n-y"}, "+x\n \n-y"),
    ("tree-view", {"expandAll": True}, TREE, "a\nb\nc"),
    ("kanban", {}, BOARD, "todo\nDone\nx"),
]


async def shown(browser: Browser, template: str, config: dict[str, Any]) -> tuple[Any, Frame]:
    page = await browser.new_page()
    await page.goto("about:blank")
    await page.evaluate(HOST.replace("PAGE", json.dumps(page_of(template, config))))
    await page.wait_for_function(
        "said.some((one) => one.method === 'ui/notifications/initialized')"
    )
    return page, page.frames[1]


@pytest.mark.parametrize("template, config, data, text", CASES)
async def test_a_template_shows_the_result_of_its_tool(
    browser: Browser, template: str, config: dict[str, Any], data: Any, text: str
) -> None:
    page, frame = await shown(browser, template, {"title": "<b>", **config})
    notice = {
        "jsonrpc": "2.0",
        "method": "ui/notifications/tool-result",
        "params": {"structuredContent": data},
    }
    await page.evaluate(
        "(notice) => document.querySelector('iframe').contentWindow.postMessage(notice, '*')",
        notice,
    )
    lines = [line for line in text.split("\n") if line.strip()]
    await frame.wait_for_function(
        "(last) => document.getElementById('main').innerText.includes(last)", arg=lines[-1]
    )
    shown_text = await frame.inner_text("#main")
    assert [line.rstrip() for line in shown_text.split("\n") if line.strip()] == lines
    assert await frame.inner_text("h1") == "<b>"
    await page.close()


async def test_a_form_calls_its_tool_with_what_was_filled_in(browser: Browser) -> None:
    fields = [
        {"name": "who", "required": True, "label": "Who"},
        {"name": "size", "options": [{"value": "s", "label": "Small"}, "l"], "default": "l"},
        {"name": "count", "type": "number", "default": 2},
        {"name": "now", "type": "checkbox", "default": True},
        {"name": "note", "type": "textarea"},
    ]
    page, frame = await shown(browser, "form", {"fields": fields, "submitTool": "order"})
    await frame.fill("[name=who]", "Ann")
    await frame.click("button")
    await frame.wait_for_function("document.querySelector('main > p').textContent === 'Done'")
    calls = await page.evaluate("said.filter((one) => one.method === 'tools/call')")
    assert [call["params"] for call in calls] == [
        {
            "name": "order",
            "arguments": {"who": "Ann", "size": "l", "count": 2, "now": True, "note": ""},
        }
    ]
    await page.close()


async def test_a_form_says_why_its_call_failed(browser: Browser) -> None:
    page, frame = await shown(browser, "form", {"tool": "fails"})
    await frame.click("button")
    await frame.wait_for_function("document.querySelector('main > p').textContent")
    assert await frame.inner_text("main > p") == "no such tool"
    await page.close()


async def test_progress_can_be_cancelled_by_a_tool(browser: Browser) -> None:
    page, frame = await shown(browser, "progress", {"cancelTool": "stop"})
    await frame.click("button")
    await page.wait_for_function("said.some((one) => one.params?.name === 'stop')")
    await page.close()
