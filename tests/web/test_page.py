"""The page itself, in a real browser, on scripts and real upstreams."""

from __future__ import annotations

import base64
import json
import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.async_api import Browser, expect

from tests.peers.raw_http import over_http
from tests.web.browser import show, window
from tests.web.gateway import Opened, opened
from tests.web.trying import result, run

pytestmark = [pytest.mark.long, pytest.mark.asyncio(loop_scope="module")]


async def test_without_the_token_the_page_says_where_it_is(browser: Browser, yard: Opened) -> None:
    async with window(browser, yard.server.origin) as page:
        await expect(page.get_by_role("heading")).to_have_text("Open the link from the terminal")
        await page.get_by_label("Or paste the link").fill(yard.link)
        await page.get_by_role("button", name="Open").click()
        await expect(page.get_by_role("heading", name="Toolyard demo")).to_be_visible()


async def test_a_token_from_before_is_refused(browser: Browser, yard: Opened) -> None:
    async with window(browser, f"{yard.server.origin}/#token=from-before") as page:
        await expect(page.get_by_role("heading")).to_have_text("Open the link from the terminal")


async def test_the_token_leaves_the_address_at_once(browser: Browser, yard: Opened) -> None:
    async with window(browser, yard.link) as page:
        await expect(page.get_by_role("heading", name="Toolyard demo")).to_be_visible()
        assert page.url == f"{yard.server.origin}/#/"


async def test_the_overview_shows_each_source_and_why_one_failed(
    browser: Browser, yard: Opened
) -> None:
    async with window(browser, yard.link) as page:
        gone = page.get_by_role("article", name="gone")
        await expect(gone).to_contain_text("failed")
        await expect(gone).to_contain_text("no program named /nonexistent/program")
        await expect(page.get_by_role("article", name="project")).to_contain_text("ready")
        await expect(page.get_by_label("Problems")).to_contain_text("no_such_tool")


async def test_the_tree_puts_virtual_tools_below_their_source(
    browser: Browser, yard: Opened
) -> None:
    async with window(browser, yard.link) as page:
        await show(page, "#/explore")
        rows = page.get_by_role("treeitem")
        await expect(rows.filter(has_text="greet").first).to_be_visible()
        names = await page.locator(".outline-row").evaluate_all(
            "all => all.map(row => [row.ariaLevel, row.querySelector('.outline-name').innerText])"
        )
        at = names.index(["2", "greet"])
        assert names[at + 1] == ["3", "ahoy"]
        assert ["1", "project"] in names
        lost = rows.filter(has_text="lost")
        await expect(lost).to_contain_text("off")


async def test_a_kind_in_the_address_is_the_kind_that_is_shown(
    browser: Browser, yard: Opened
) -> None:
    async with window(browser, yard.link) as page:
        await show(page, "#/explore")
        await expect(page.get_by_role("tab", name="All")).to_have_attribute("aria-selected", "true")
        await show(page, "#/explore/prompts")
        prompts = page.get_by_role("tab", name="Prompts")
        await expect(prompts).to_have_attribute("aria-selected", "true")


async def test_search_narrows_and_the_keyboard_opens(browser: Browser, yard: Opened) -> None:
    async with window(browser, yard.link) as page:
        await show(page, "#/explore")
        await expect(page.get_by_role("treeitem").first).to_be_visible()
        await page.keyboard.press("/")
        await expect(page.get_by_role("searchbox")).to_be_focused()
        await page.keyboard.type("pirate")
        await expect(page.get_by_role("treeitem")).to_have_count(2)
        await page.get_by_role("tree", name="What is served").focus()
        await page.keyboard.press("ArrowDown")
        await page.keyboard.press("ArrowDown")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("heading", name="ahoy")).to_be_visible()


async def test_a_search_without_a_match_says_so(browser: Browser, yard: Opened) -> None:
    async with window(browser, yard.link) as page:
        await show(page, "#/explore")
        await page.get_by_role("searchbox").fill("zzzz")
        await expect(page.get_by_text("Nothing is called that")).to_be_visible()


async def test_resources_and_prompts_are_explored_and_tried(browser: Browser, yard: Opened) -> None:
    async with window(browser, yard.link) as page:
        await show(page, "#/explore")
        await page.get_by_role("tab", name=re.compile("Resources")).click()
        await page.get_by_role("treeitem").filter(has_text="welcome").click()
        assert "Welcome" in await result(page)
        await show(page, "#/explore/prompts/rewrite")
        fields = page.locator(".try-form input, .try-form textarea")
        await expect(fields).to_have_count(2)
        for field in await fields.all():
            await field.fill("a plain text")
        await run(page)
        assert "a plain text" in await result(page)


async def test_arguments_of_a_prompt_are_completed(browser: Browser, yard: Opened) -> None:
    async with window(browser, yard.link) as page:
        await show(page, "#/explore/prompts/test_prompt_with_arguments")
        field = page.locator(".try-form input").first
        await field.focus()
        await field.press_sequentially("te")
        await expect(page.locator("datalist option").first).to_be_attached()


async def test_the_graph_leads_from_servers_to_virtual_tools(
    browser: Browser, yard: Opened
) -> None:
    async with window(browser, yard.link) as page:
        await show(page, "#/explore?view=graph")
        await expect(page.locator(".spot.owner")).to_have_count(await owners(yard))
        ahoy = page.get_by_role("link", name="ahoy")
        await expect(ahoy).to_have_class(re.compile("virtual"))
        await ahoy.press("Enter")
        await expect(page.get_by_role("heading", name="ahoy")).to_be_visible()


async def owners(yard: Opened) -> int:
    tools = (await yard.api.get("catalog"))["tools"]
    servers = (await yard.api.get("overview"))["servers"]
    return len({tool["owner"] for tool in tools} | {server["name"] for server in servers})


async def test_a_tool_shows_its_source_beside_what_clients_see(
    browser: Browser, yard: Opened
) -> None:
    async with window(browser, yard.link) as page:
        await show(page, "#/explore/tools/ahoy?part=definition")
        gone, new = page.locator(".diff-side.gone"), page.locator(".diff-side.new")
        await expect(gone.filter(has_text='"name": "greet"')).to_be_visible()
        await expect(new.filter(has_text='"name": "ahoy"')).to_be_visible()
        await expect(gone.filter(has_text='"pirate"')).to_be_visible()
        await page.get_by_role("tab", name="Schemas").click()
        await expect(page.get_by_text("Hidden from clients")).to_contain_text("style")
        await page.get_by_role("tab", name="Where it comes from").click()
        await expect(page.get_by_text("registry.json#/tools/0")).to_be_visible()


async def test_traffic_shows_calls_of_other_clients_as_they_happen(
    browser: Browser, yard: Opened
) -> None:
    async with window(browser, yard.link) as page:
        await show(page, "#/traffic")
        async with over_http(yard.server.url, "2025-06-18") as client:
            await client.call("ahoy", {"name": "Dora"})
        line = page.locator(".traffic-grid").get_by_role("link").filter(has_text="raw-test-client")
        await line.first.click()
        call = page.get_by_role("region", name=re.compile("Call"))
        await expect(call).to_contain_text("MCP 2025-06-18")
        await call.get_by_role("button", name=re.compile("Hop 2")).click()
        await expect(call).to_contain_text("pirate")
        await page.get_by_role("searchbox").fill("no such call")
        await expect(page.get_by_text("No call matches")).to_be_visible()


async def test_connect_tells_each_client_what_to_paste(browser: Browser, yard: Opened) -> None:
    async with window(browser, yard.link) as page:
        await show(page, "#/connect")
        await expect(page.locator(".snippet").first).to_contain_text(yard.server.url)
        assert await page.locator(".client-list button").count() > 30
        for client in ("Claude Desktop", "Cursor", "VS Code", "Windsurf"):
            await page.get_by_role("button", name=client, exact=True).click()
            code = await page.locator(".snippet pre").first.inner_text()
            assert "demo" in json.dumps(json.loads(code))


async def test_a_link_hands_the_server_to_a_client_that_understands_it(
    browser: Browser, yard: Opened
) -> None:
    async with window(browser, yard.link) as page:
        await show(page, "#/connect")
        await page.get_by_role("button", name="Cursor", exact=True).click()
        link = await page.get_by_role("link", name="Add to Cursor").get_attribute("href")
        assert link is not None
        parts = parse_qs(urlsplit(link).query)
        assert json.loads(base64.b64decode(parts["config"][0])) == {"url": yard.server.url}
        await page.get_by_role("button", name="Claude Desktop", exact=True).click()
        await expect(page.get_by_role("link", name=re.compile("Add to"))).to_have_count(0)


async def test_an_unknown_screen_and_an_unknown_entry_say_so(
    browser: Browser, yard: Opened
) -> None:
    async with window(browser, yard.link) as page:
        await show(page, "#/nowhere")
        await expect(page.get_by_text("There is no such screen")).to_be_visible()
        await show(page, "#/explore/tools/nope")
        await expect(page.get_by_role("alert")).to_contain_text("no such entry")


async def test_a_changed_catalog_shows_without_a_reload(browser: Browser, yard: Opened) -> None:
    async with window(browser, yard.link) as page:
        await show(page, "#/explore/tools/word_count")
        await expect(page.get_by_role("heading", name="word_count")).to_be_visible()
        text = yard.registry.read_text()
        changed = text.replace('"source": "text_stats",', '"source": "text_stats", "title": "W",')
        yard.registry.write_text(changed)
        await expect(page.locator(".entry-title")).to_have_text("W")


async def test_a_changed_catalog_leaves_what_was_typed_and_what_runs(
    browser: Browser, yard: Opened
) -> None:
    async with window(browser, yard.link) as page:
        await show(page, "#/explore/tools/ahoy")
        await page.get_by_label("name").last.fill("Emma")
        await run(page)
        await result(page)
        text = yard.registry.read_text()
        yard.registry.write_text(text.replace("Pirate greeting", "Greeting of pirates"))
        await expect(page.locator(".entry-title")).to_have_text("Greeting of pirates")
        await expect(page.get_by_label("name").last).to_have_value("Emma")
        assert "Ahoy, Emma!" in await result(page)


async def test_when_the_server_goes_away_the_page_says_so(browser: Browser) -> None:
    async with opened() as yard, window(browser, yard.link) as page:
        await expect(page.get_by_role("status").first).to_have_text("Live")
        yard.server.process.terminate()
        await yard.server.process.wait()
        await expect(page.get_by_role("status").first).to_have_text("Reconnecting…")
        await show(page, "#/explore/tools/greet")
        await expect(page.get_by_role("alert")).to_contain_text("does not answer")
