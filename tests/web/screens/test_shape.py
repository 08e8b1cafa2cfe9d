"""Shaping a tool in the page: from what a source offers to what clients see, without JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect

from tests.peers.raw_http import over_http
from tests.web.browser import show, window
from tests.web.gateway import Opened, add_tool, make_project, opened
from tests.web.trying import result, run
from toolyard.files.comments import parse

pytestmark = [pytest.mark.long, pytest.mark.asyncio(loop_scope="module")]

WEATHER = {
    "name": "station",
    "description": "Everything that a station measures, in one long object",
    "inputSchema": {
        "type": "object",
        "properties": {
            "city_name": {"type": "string", "description": "Where"},
            "units": {"type": "string", "enum": ["metric", "imperial"]},
            "verbose": {"type": "boolean"},
        },
        "required": ["city_name", "units"],
    },
}
MEASURES = """#!/usr/bin/env python3
import json, os
got = json.loads(os.environ["MCP_TOOL_ARGS_JSON"])
print(json.dumps({
    "station": {"city": got["city_name"], "id": "x" * 400},
    "readings": {"temperature": {"value": 21.5, "unit": got["units"]}},
    "days": [{"day": "mon", "rain": True, "raw": [1] * 90}, {"day": "tue", "rain": False}],
}))
"""
REGISTRY = """// Ours, by hand.
{
  "tools": [
    // The first one.
    {"name": "ahoy", "source": "greet", "defaults": {"style": "pirate"}}, // arr
    {
      "name": "both",
      "inputSchema": {"type": "object", "properties": {"name": {"type": "string"}}},
      "spec": {"pipeline": {"steps": [
        {"id": "hello", "operation": {"tool": {"name": "greet"}}} // as it came
      ]}}
    },
    {"name": "secretly", "source": "greet", "hidden": true},
    {"name": "within", "spec": {"pipeline": {"steps": [
      {"id": "one", "operation": {"tool": {"name": "secretly"}}}
    ]}}},
    {"name": "count", "source": "text_stats", "outputSchema": {"$ref": "#/schemas/Words"}}
  ],
  "schemas": {"Words": {"type": "object", "properties": {"words": {"type": "integer"}}}}
}
"""


async def opened_yard(folder: Path) -> Any:
    project = make_project(folder)
    add_tool(project, WEATHER, MEASURES)
    (project / "registry.json").write_text(REGISTRY)
    return opened(project=project)


async def fill(page: Page, label: str, value: str) -> None:
    await page.get_by_label(label, exact=True).fill(value)


async def choose(page: Page, argument: str, what: str) -> None:
    group = page.get_by_role("group", name=f"What becomes of {argument}")
    await group.get_by_role("button", name=what, exact=True).click()


async def save(page: Page) -> None:
    button = page.get_by_role("button", name="Save", exact=True)
    await expect(button).to_be_enabled()
    await button.click()
    await expect(page.locator(".shape-save")).to_contain_text("Saved.")


WEATHER_ENTRY = {
    "name": "weather",
    "source": "station",
    "title": "Weather",
    "description": "The weather in a city",
    "defaults": {"units": "metric"},
    "hideFields": ["verbose"],
    "arguments": {"city": {"from": "city_name", "description": "A city"}},
    "outputSchema": {
        "type": "object",
        "properties": {
            "city": {"type": "string", "source_field": "$.station.city"},
            "celsius": {
                "type": "number",
                "source_field": "$.readings.temperature.value",
            },
            "days": {
                "type": "array",
                "source_field": "$.days[*]",
                "items": {
                    "type": "object",
                    "properties": {
                        "day": {"type": "string", "source_field": "$.day"},
                        "rain": {"type": "boolean", "source_field": "$.rain"},
                    },
                },
            },
        },
    },
}


async def shape_the_weather(page: Page) -> None:
    """Every part of the form once, with keys and clicks."""
    await show(page, "#/explore/tools/station?part=shape")
    await fill(page, "Name", "weather")
    await fill(page, "Title", "Weather")
    await fill(page, "Description", "The weather in a city")
    await fill(page, "New name of city_name", "city")
    await fill(page, "Description of city_name", "A city")
    await choose(page, "units", "fixed")
    await (
        page.get_by_role("region", name="Argument units")
        .get_by_role("combobox")
        .select_option("metric")
    )
    await choose(page, "verbose", "hidden")
    sample = page.get_by_role("region", name="Get a real result")
    await sample.get_by_label("city_name required").fill("Oslo")
    await sample.get_by_label("units required").select_option("metric")
    await page.get_by_role("button", name="Run for a real result").click()
    await page.get_by_label("Hand on $.station.city").check()
    await page.get_by_label("Hand on $.readings.temperature.value").check()
    await fill(page, "Name for $.readings.temperature.value", "celsius")
    await page.get_by_label("Hand on $.days[*].day").check()
    await page.get_by_label("Hand on $.days[*].rain").check()


async def test_a_tool_is_renamed_narrowed_and_projected_without_typing_json(
    browser: Browser, tmp_path: Path
) -> None:
    async with await opened_yard(tmp_path) as yard, window(browser, yard.link) as page:
        await shape_the_weather(page)
        costs = page.get_by_label("Tokens before and after")
        await expect(costs).to_contain_text("The last result")
        await page.get_by_role("tab", name="What they get").click()
        await expect(page.locator(".shape-preview")).to_contain_text("celsius")
        await expect(page.locator(".shape-preview")).to_contain_text("21.5")
        await page.get_by_role("tab", name="The file").click()
        new = page.locator(".diff-side.new")
        await expect(new.filter(has_text='"name": "weather"')).to_be_visible()
        await save(page)
        await expect(page.get_by_role("heading", name="weather", level=1)).to_be_visible()
        assert written(yard) == WEATHER_ENTRY
        assert kept(yard) == REGISTRY
        async with over_http(yard.server.url, "2025-06-18") as client:
            told = await client.call("weather", {"city": "Rome"})
        days = [{"day": "mon", "rain": True}, {"day": "tue", "rain": False}]
        assert told["structuredContent"] == {"city": "Rome", "celsius": 21.5, "days": days}


def written(yard: Opened) -> Any:
    return parse(yard.registry.read_bytes())["tools"][-1]


def kept(yard: Opened) -> str:
    """The file without the entry that came last, and the comma before it."""
    text = yard.registry.read_text()
    start = text.index(',\n    {\n      "name": "weather"')
    end = text.index("\n  ],", start)
    return text[:start] + text[end:]


async def test_an_entry_is_changed_and_its_comments_stay(browser: Browser, tmp_path: Path) -> None:
    async with await opened_yard(tmp_path) as yard, window(browser, yard.link) as page:
        await show(page, "#/explore/tools/ahoy?part=shape")
        await expect(page.get_by_text("Nothing is changed.")).to_be_visible()
        new = page.locator(".diff-side.new")
        await expect(new.filter(has_text='"name": "ahoy"')).to_be_visible()
        await expect(page.get_by_role("button", name="Save", exact=True)).to_be_disabled()
        await fill(page, "Title", "Ahoy!")
        await save(page)
        assert yard.registry.read_text() == REGISTRY.replace(
            '"defaults": {"style": "pirate"}}, // arr',
            '"defaults": {"style": "pirate"}, "title": "Ahoy!"}, // arr',
        )


async def test_what_the_form_cannot_express_it_leaves_alone(
    browser: Browser, tmp_path: Path
) -> None:
    async with await opened_yard(tmp_path) as yard, window(browser, yard.link) as page:
        await show(page, "#/explore/tools/count?part=shape")
        await expect(page.get_by_text("which stays as it is")).to_be_visible()
        await fill(page, "Description", "Counts words")
        await save(page)
        entry = written(yard)
        assert entry["outputSchema"] == {"$ref": "#/schemas/Words"}
        assert entry["description"] == "Counts words"


async def test_a_mistake_is_said_and_cannot_be_saved(browser: Browser, tmp_path: Path) -> None:
    async with await opened_yard(tmp_path) as yard, window(browser, yard.link) as page:
        await show(page, "#/explore/tools/station?part=shape")
        await fill(page, "Name", "narrow")
        await fill(page, "New name of city_name", "units")
        await expect(page.get_by_role("alert", name="Problems")).to_contain_text("units")
        await expect(page.get_by_role("button", name="Save", exact=True)).to_be_disabled()
        await fill(page, "New name of city_name", "city")
        await expect(page.get_by_role("button", name="Save", exact=True)).to_be_enabled()
        await fill(page, "Name", "ahoy")
        await expect(page.get_by_role("button", name="Save", exact=True)).to_be_disabled()
        assert yard.registry.read_text() == REGISTRY


async def test_no_shape_can_bring_a_variable(browser: Browser, tmp_path: Path) -> None:
    async with await opened_yard(tmp_path) as yard, window(browser, yard.link) as page:
        await show(page, "#/explore/tools/station?part=shape")
        await fill(page, "Name", "leak")
        await fill(page, "Description", "${HOME}")
        problems = page.get_by_role("alert", name="Problems")
        await expect(problems).to_contain_text("variables are added in the file")
        await expect(page.get_by_role("button", name="Save", exact=True)).to_be_disabled()
        assert yard.registry.read_text() == REGISTRY


async def test_a_composition_is_shaped_and_run_step_by_step(
    browser: Browser, tmp_path: Path
) -> None:
    async with await opened_yard(tmp_path) as yard, window(browser, yard.link) as page:
        await show(page, "#/explore/tools/both?part=shape")
        await page.locator(".shape-form").get_by_label("name", exact=True).fill("Ann")
        await page.get_by_role("button", name="Add a step").click()
        first, second = (page.get_by_role("region", name=f"Step {n}") for n in (1, 2))
        await first.get_by_role("button", name="Run this step").click()
        await expect(first).to_contain_text("Hello, Ann")
        await second.get_by_label("Tool of step 2").fill("text_stats")
        await second.get_by_label("Name of step 2").fill("measure")
        await second.get_by_label("It is sent").select_option("fields")
        await second.get_by_label("text required").select_option("from the result of hello")
        await second.get_by_label("Path for text").fill("$")
        await second.get_by_role("button", name="Run this step").click()
        await expect(second).to_contain_text("words")
        await save(page)
        steps = parse(yard.registry.read_bytes())["tools"][1]["spec"]["pipeline"]["steps"]
        assert steps[1] == {
            "id": "measure",
            "operation": {"tool": {"name": "text_stats"}},
            "input": {
                "construct": {"fields": {"text": {"step": {"stepId": "hello", "path": "$"}}}}
            },
        }
        await show(page, "#/explore/tools/both")
        await expect(page.locator(".shape")).to_have_count(0)
        await page.get_by_label("name").last.fill("Ann")
        await run(page)
        assert "words" in await result(page)


async def test_a_step_that_no_client_sees_is_no_mistake(browser: Browser, tmp_path: Path) -> None:
    async with await opened_yard(tmp_path) as yard, window(browser, yard.link) as page:
        await show(page, "#/explore/tools/within?part=shape")
        step = page.get_by_role("region", name="Step 1")
        await expect(step).to_contain_text("No client sees a tool of this name")
        await expect(step.locator(".field-wrong")).to_have_count(0)
        await expect(step.get_by_role("button", name="Run this step")).to_have_count(0)
        await expect(page.locator(".diff-head")).to_contain_text("What clients see now")


async def test_what_a_sample_asks_is_answered_in_the_form(browser: Browser, tmp_path: Path) -> None:
    async with await opened_yard(tmp_path) as yard, window(browser, yard.link) as page:
        await show(page, "#/explore/tools/plan_lunch?part=shape")
        await page.get_by_role("button", name="Run for a real result").click()
        question = page.locator(".questions")
        await question.get_by_role("button", name="Decline").click()
        await expect(page.locator(".shape-sample .bar .badge")).to_be_visible()


async def test_an_argument_under_another_name_is_not_hidden(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    entry = {"name": "hi", "source": "greet", "arguments": {"who": {"from": "name"}}}
    tools = [entry, {"name": "ho", "source": "hi", "defaults": {"style": "pirate"}}]
    (project / "registry.json").write_text(json.dumps({"tools": tools}))
    async with opened(project=project) as yard:
        hidden = {
            name: (await yard.api.get(f"entry?kind=tools&name={name}"))["hidden"]
            for name in ("hi", "ho")
        }
        assert hidden == {"hi": [], "ho": ["style"]}
        listed = {tool["name"]: tool for tool in (await yard.api.get("catalog"))["tools"]}
        assert listed["hi"].get("hidden", []) == []
