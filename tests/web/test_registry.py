"""The registry through the page: shown, checked, saved; servers and commands never."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, expect

from tests.until import until
from tests.web.browser import show, window
from tests.web.gateway import SECRET, Opened, opened
from tests.web.trying import paste

pytestmark = [pytest.mark.long, pytest.mark.asyncio(loop_scope="module")]


async def file_of(yard: Opened) -> dict[str, Any]:
    (file,) = (await yard.api.get("registry"))["files"]
    assert isinstance(file, dict)
    return file


async def check(yard: Opened, **sections: str) -> tuple[int, Any]:
    body = {"path": str(yard.registry), "sections": sections}
    return await yard.api.send("POST", "registry", body)


async def save(yard: Opened, stamp: str, **sections: str) -> tuple[int, Any]:
    body = {"path": str(yard.registry), "sections": sections, "stamp": stamp}
    return await yard.api.send("PUT", "registry", body)


def with_description(tools: str, description: str) -> str:
    changed = tools.replace("Says ahoy", description)
    assert changed != tools
    return changed


async def test_the_file_is_shown_in_parts_with_its_servers_masked(yard: Opened) -> None:
    file = await file_of(yard)
    assert file["format"] == "native"
    assert json.loads(file["sections"]["tools"])[0]["name"] == "ahoy"
    assert file["problems"] == []
    (peer, *_) = file["servers"]
    assert peer["env"] == {"PYTHONPATH": "***"}
    assert SECRET not in json.dumps(file)


async def test_a_change_is_shown_as_its_effect_and_saved_with_comments_kept() -> None:
    async with opened() as yard:
        file = await file_of(yard)
        tools = with_description(file["sections"]["tools"], "Greets a crew")
        _, told = await check(yard, tools=tools)
        (change,) = told["changes"]
        assert (change["name"], change["kind"]) == ("ahoy", "changed")
        assert change["after"]["description"] == "Greets a crew"
        os.chmod(yard.registry, 0o640)
        before = yard.registry.read_text()
        status, _ = await save(yard, file["stamp"], tools=tools)
        assert status == 200
        assert yard.registry.read_text() == before.replace("Says ahoy", "Greets a crew")
        assert yard.registry.stat().st_mode & 0o777 == 0o640
        assert [p.name for p in yard.project.glob(".registry.json*")] == []


async def test_added_removed_and_disabled_tools_are_told_apart(yard: Opened) -> None:
    tools = [
        {"name": "extra", "source": "greet"},
        {"name": "ahoy", "server": "yard", "originalName": "nope"},
    ]
    _, told = await check(yard, tools=json.dumps(tools))
    kinds = {change["name"]: change["kind"] for change in told["changes"]}
    assert kinds == {
        "extra": "added",
        "ahoy": "removed",
        "word_count": "removed",
        "sealed": "removed",
        "lost": "disabled",
    }


async def test_problems_come_with_their_lines_and_nothing_is_saved(yard: Opened) -> None:
    file = await file_of(yard)
    tools = '[\n  {"name": "a", "source": "a"},\n  {"name": "b", "server": 3}\n]'
    _, told = await check(yard, tools=tools)
    lines = {(one["section"], one["line"]) for one in told["problems"]}
    assert {("tools", 2), ("tools", 3)} <= lines
    before = yard.registry.read_bytes()
    assert (await save(yard, file["stamp"], tools=tools))[0] == 422
    assert yard.registry.read_bytes() == before


MISTAKEN = """{
  "servers": [{"name": "v"}],
  "tools": [
    {"name": "fine", "source": "greet"},
    {"name": "typo", "source": "greett"},
    {"name": "piped", "spec": {"mapEach": {"inner": {"tool": "greet"}}}}
  ]
}"""


async def test_mistakes_of_single_entries_are_shown_and_hinder_no_other_change() -> None:
    async with opened() as yard:
        yard.registry.write_text(MISTAKEN)
        (file,) = (await yard.api.get("registry"))["files"]
        places = [(one["pointer"], one["section"], one["line"]) for one in file["problems"]]
        assert places == [("/servers/0", "", 0), ("/tools/1/source", "tools", 3)]
        tools = file["sections"]["tools"].replace('{"name": "fine", "source": "greet"},', "")
        _, told = await check(yard, tools=tools)
        assert [one["standing"] for one in told["problems"]] == [True, True]
        worse = tools.replace('"piped"', '"piped", "hidden": 1')
        _, told = await check(yard, tools=worse)
        assert [one["message"] for one in told["problems"] if not one["standing"]] == [
            "must be true or false"
        ]
        assert (await save(yard, file["stamp"], tools=worse))[0] == 422
        assert (await save(yard, file["stamp"], tools=tools))[0] == 200


async def test_a_disabled_server_and_tool_say_why_on_the_page(browser: Browser) -> None:
    async with opened() as yard:
        yard.registry.write_text(MISTAKEN)

        async def warned() -> bool:
            return any("server v is disabled" in one for one in await warnings(yard))

        await until(warned)
        async with window(browser, yard.link) as page:
            await show(page, "#/")
            row = page.get_by_role("article", name="v", exact=True)
            await expect(row).to_contain_text("disabled")
            await expect(row).to_contain_text("server v needs stdio (a command) or url")
            await show(page, "#/explore/tools/typo")
            await expect(page.get_by_role("main")).to_contain_text('no tool named "greett"')
            await show(page, "#/registry")
            await expect(page.get_by_label("Problems")).to_contain_text("tools, line 3")


async def warnings(yard: Opened) -> list[str]:
    told: list[str] = (await yard.api.get("overview"))["warnings"]
    return told


async def test_of_two_saves_with_one_stamp_one_is_refused() -> None:
    async with opened() as yard:
        for round_ in range(5):
            file = await file_of(yard)
            texts = [f'[{{"name": "t{round_}{n}", "source": "greet"}}]' for n in range(3)]
            done = await asyncio.gather(*(save(yard, file["stamp"], tools=text) for text in texts))
            assert sorted(status for status, _ in done) == [200, 409, 409]
            (kept,) = [text for text, (status, _) in zip(texts, done, strict=True) if status == 200]
            assert (await file_of(yard))["sections"]["tools"] == kept


@pytest.mark.parametrize(
    "tools",
    [
        '[{"name": "a", "server": {"command": "touch", "args": ["/tmp/owned"]}}]',
        '[{"name": "ahoy", "source": "greet", "defaults": {"style": "${HOME}"}}]',
        '[{"name": "ahoy", "source": {"target": "yard", "tool": "x"}}]',
        '[], "servers": [{"name": "evil", "stdio": {"command": "sh"}}]',
        "{}",
        "[",
    ],
)
async def test_no_save_can_name_a_command_or_a_variable(tools: str, yard: Opened) -> None:
    file = await file_of(yard)
    before = yard.registry.read_bytes()
    status, told = await save(yard, file["stamp"], tools=tools)
    assert status == 422, told
    assert yard.registry.read_bytes() == before


async def test_servers_are_no_section_and_other_files_are_no_registry(yard: Opened) -> None:
    stamp = (await file_of(yard))["stamp"]
    body = {"path": str(yard.registry), "stamp": stamp, "sections": {"servers": "[]"}}
    assert (await yard.api.send("PUT", "registry", body))[0] == 400
    other = {**body, "path": "/etc/hostname", "sections": {"tools": "[]"}}
    assert (await yard.api.send("PUT", "registry", other))[0] == 404


async def test_a_file_that_changed_meanwhile_is_not_overwritten() -> None:
    async with opened() as yard:
        file = await file_of(yard)
        text = yard.registry.read_text()
        yard.registry.write_text(text.replace("Says ahoy", "Says hi"))
        assert (await save(yard, file["stamp"], tools="[]"))[0] == 409
        assert "Says hi" in yard.registry.read_text()


async def test_read_only_means_that_nothing_is_saved() -> None:
    async with opened(env={"TOOLYARD_PAGE_READ_ONLY": "true"}) as yard:
        file = await file_of(yard)
        assert file["readOnly"] is True
        assert (await save(yard, file["stamp"], tools="[]"))[0] == 403
        assert "Says ahoy" in yard.registry.read_text()


async def test_a_file_of_another_format_is_shown_converted(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_text('{"mcpServers": {"one": {"command": "/bin/false", "env": {"K": "v"}}}}')
    async with opened(project=path) as yard:
        (file,) = (await yard.api.get("registry"))["files"]
        assert file["editable"] is False
        assert "convert" in file["why"]
        (server,) = file["native"]["servers"]
        assert (server["name"], server["env"]) == ("one", {"K": "***"})


SELECTED = "f => f.getRootNode().getSelection().toString()"


async def test_the_page_edits_checks_and_saves(browser: Browser) -> None:
    async with opened() as yard, window(browser, yard.link) as page:
        await show(page, "#/registry")
        editor = page.get_by_role("textbox", name="tools of the registry")
        tools = (await file_of(yard))["sections"]["tools"]
        await paste(page, editor, tools.replace("$.words", "$.[words"))
        problem = page.get_by_label("Problems").get_by_role("button")
        await expect(problem).to_contain_text("tools, line")
        await problem.click()
        assert "$.[words" in await editor.evaluate(SELECTED)
        await expect(page.get_by_role("button", name="Save")).to_be_disabled()
        await paste(page, editor, with_description(tools, "Hails a ship"))
        await expect(page.get_by_label("Effect")).to_contain_text("Hails a ship")
        await page.get_by_role("button", name="Save").click()
        await expect(page.get_by_role("status").last).to_have_text("Saved.")
        assert "Hails a ship" in yard.registry.read_text()
        await show(page, "#/explore/tools/ahoy")
        await expect(page.locator(".description")).to_have_text("Hails a ship")


async def test_the_page_says_why_a_save_is_refused(browser: Browser, yard: Opened) -> None:
    async with window(browser, yard.link) as page:
        await show(page, "#/registry")
        editor = page.get_by_role("textbox", name="tools of the registry")
        await paste(page, editor, '[{"name": "a", "server": {"command": "sh"}}]')
        await expect(page.get_by_role("alert")).to_contain_text("never by the page")
        await expect(page.get_by_role("button", name="Save")).to_be_disabled()
        await page.get_by_role("tab", name="Servers").click()
        await expect(page.get_by_text("Servers are changed in the file itself")).to_be_visible()
