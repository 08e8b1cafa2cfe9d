"""Trying things in the page: forms, runs, questions, results, copies and what is remembered."""

from __future__ import annotations

import asyncio
import json
import re

import pytest
from playwright.async_api import Browser, expect

from tests.peers.serving import environment
from tests.web.browser import show, window
from tests.web.gateway import Opened
from tests.web.trying import result, run

pytestmark = [pytest.mark.long, pytest.mark.asyncio(loop_scope="module")]


async def test_the_form_sends_what_was_filled_in_and_nothing_else(
    browser: Browser, yard: Opened
) -> None:
    async with window(browser, yard.link) as page:
        await show(page, "#/explore/tools/form")
        await page.get_by_label("text required").fill("two\nlines")
        await page.get_by_role("textbox", name="ratio").fill("0.5")
        await page.get_by_role("radiogroup", name="flag").get_by_text("true").click()
        await page.get_by_label("colour").select_option("green")
        await page.get_by_label("tue").check()
        await page.get_by_role("button", name="Add an item to names").click()
        await page.locator(".item textarea").fill("Ann")
        await page.get_by_role("button", name="Add place").click()
        await page.get_by_label("city required").fill("Oslo")
        await page.get_by_label("Which kind of either").select_option("integer")
        await page.locator(".either input").fill("12345678901234567890")
        await page.get_by_role("button", name="json", exact=True).click()
        raw = await page.get_by_label("Arguments as JSON").input_value()
        assert json.loads(raw) == {
            "text": "two\nlines",
            "count": 3,
            "ratio": 0.5,
            "flag": True,
            "colour": "green",
            "days": ["tue"],
            "names": ["Ann"],
            "place": {"city": "Oslo"},
            "either": 12345678901234567890,
        }
        await run(page)
        assert "12345678901234567890" in await result(page)


async def test_raw_json_that_is_wrong_is_marked(browser: Browser, yard: Opened) -> None:
    async with window(browser, yard.link) as page:
        await show(page, "#/explore/tools/form")
        await page.get_by_role("button", name="json", exact=True).click()
        field = page.get_by_label("Arguments as JSON")
        await field.fill('{"text": ')
        await expect(field).to_have_attribute("aria-invalid", "true")
        await field.fill('{"text": "raw"}')
        await field.press("Control+Enter")
        assert "raw" in await result(page)


async def test_arguments_that_the_schema_refuses_give_a_readable_error(
    browser: Browser, yard: Opened
) -> None:
    async with window(browser, yard.link) as page:
        await show(page, "#/explore/tools/form")
        await run(page)
        assert "Invalid arguments for tool 'form'" in await result(page)


async def test_a_list_of_objects_is_a_table_that_sorts(browser: Browser, yard: Opened) -> None:
    async with window(browser, yard.link) as page:
        await show(page, "#/explore/tools/rows")
        await run(page)
        table = page.locator("table.data")
        await expect(table.locator("tbody tr").first).to_contain_text("Oslo")
        await table.get_by_role("button", name="people").click()
        await table.get_by_role("button", name="people").click()
        await expect(table.locator("tbody tr").first).to_contain_text("Rome")
        await page.get_by_role("button", name="tree", exact=True).click()
        await expect(page.get_by_role("tree", name="JSON")).to_contain_text("cities")


async def test_progress_and_logs_are_live_and_a_call_can_be_cancelled(
    browser: Browser, yard: Opened
) -> None:
    async with window(browser, yard.link) as page:
        await show(page, "#/explore/tools/countdown")
        await page.get_by_role("textbox", name="seconds").fill("20")
        await run(page)
        await expect(page.get_by_role("progressbar", name="Progress")).to_be_visible()
        await expect(page.get_by_label("Log")).to_contain_text("Counting down from 20")
        await page.get_by_role("button", name="Cancel").click()
        await expect(page.locator(".status-line")).to_contain_text("cancelled")
        await expect(page.get_by_role("button", name="Run")).to_be_visible()


async def test_a_question_of_the_tool_is_answered_in_the_page(
    browser: Browser, yard: Opened
) -> None:
    async with window(browser, yard.link) as page:
        await show(page, "#/explore/tools/plan_lunch")
        await run(page)
        await expect(page.get_by_text("What would you like for lunch?")).to_be_visible()
        await page.get_by_label("dish").select_option("salad")
        await page.get_by_role("textbox", name="people").fill("4")
        await page.get_by_role("button", name="Answer").click()
        assert "Lunch for 4: salad." in await result(page)


async def test_an_answer_that_does_not_fit_is_told_at_its_field_and_given_again(
    browser: Browser, yard: Opened
) -> None:
    async with window(browser, yard.link) as page:
        await show(page, "#/explore/tools/plan_lunch")
        await run(page)
        people = page.get_by_role("textbox", name="people")
        await people.fill("99")
        await page.get_by_role("button", name="Answer").click()
        await expect(page.get_by_text("dish is required.")).to_be_visible()
        await expect(page.get_by_text("people must be at most 12.")).to_be_visible()
        await page.get_by_label("dish").select_option("salad")
        await people.fill("4")
        await page.get_by_role("button", name="Answer").click()
        assert "Lunch for 4: salad." in await result(page)


async def test_a_question_can_be_declined(browser: Browser, yard: Opened) -> None:
    async with window(browser, yard.link) as page:
        await show(page, "#/explore/tools/plan_lunch")
        await run(page)
        await page.get_by_role("button", name="Decline").click()
        assert "No lunch then" in await result(page)


async def test_a_tool_that_asks_a_model_is_answered_by_hand(browser: Browser, yard: Opened) -> None:
    async with window(browser, yard.link) as page:
        await show(page, "#/explore/tools/test_sampling")
        await page.get_by_label("prompt").fill("Say something")
        await run(page)
        await page.get_by_label("Your answer").fill("by a person")
        await page.get_by_role("button", name="Answer").click()
        assert "by a person" in await result(page)


async def test_pictures_and_sounds_in_results_are_shown(browser: Browser, yard: Opened) -> None:
    async with window(browser, yard.link) as page:
        await show(page, "#/explore/tools/test_image_content")
        await run(page)
        picture = page.get_by_role("img", name="An image in the result")
        await expect(picture).to_be_visible()
        assert await picture.evaluate("image => image.naturalWidth") > 0
        await show(page, "#/explore/tools/test_audio_content")
        await run(page)
        await expect(page.locator("audio")).to_be_visible()


async def test_stages_show_what_was_sent_and_what_came_back(browser: Browser, yard: Opened) -> None:
    async with window(browser, yard.link) as page:
        await show(page, "#/explore/tools/ahoy")
        await page.get_by_label("name").last.fill("Ann")
        await run(page)
        sent = page.get_by_role("button", name=re.compile("with defaults added"))
        await sent.click()
        await expect(page.get_by_label("Stages")).to_contain_text("pirate")


@pytest.mark.parametrize("way", ["curl", "toolyard"])
async def test_the_call_can_be_copied_and_run_in_a_shell(
    browser: Browser, yard: Opened, way: str
) -> None:
    async with window(browser, yard.link) as page:
        await show(page, "#/explore/tools/ahoy")
        await page.get_by_label("name").last.fill("O'Neil é")
        await page.get_by_role("button", name="Copy as…").click()
        await page.get_by_role("button", name=way, exact=True).click()
        await page.locator(".snippet").get_by_role("button", name="Copy").click()
        command = await page.evaluate("navigator.clipboard.readText()")
    process = await asyncio.create_subprocess_shell(
        command, stdout=asyncio.subprocess.PIPE, env=environment({"DEMO_SECRET": "x"})
    )
    output, _ = await process.communicate()
    assert "Ahoy, O'Neil é!" in output.decode()


async def test_the_call_can_be_copied_as_client_code(browser: Browser, yard: Opened) -> None:
    async with window(browser, yard.link) as page:
        await show(page, "#/explore/tools/ahoy")
        await page.get_by_label("name").last.fill("Gil")
        await page.get_by_role("button", name="Copy as…").click()
        for way in ("JSON-RPC", "Python", "TypeScript"):
            await page.get_by_role("button", name=way).click()
            await expect(page.locator(".snippet pre")).to_contain_text("Gil")


async def test_runs_are_remembered_and_run_again(browser: Browser, yard: Opened) -> None:
    async with window(browser, yard.link) as page:
        await show(page, "#/history")
        await expect(page.get_by_text("No runs yet")).to_be_visible()
        await show(page, "#/explore/tools/ahoy")
        await page.get_by_label("name").last.fill("Cleo")
        await run(page)
        await result(page)
        await show(page, "#/history")
        await page.get_by_role("link", name=re.compile("Cleo")).click()
        await expect(page.get_by_label("name").last).to_have_value("Cleo")
        await run(page)
        assert "Ahoy, Cleo!" in await result(page)
