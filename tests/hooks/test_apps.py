"""MCP Apps through the program: pages as ui:// resources, told to who can show them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.hooks.yard import Yard
from tests.peers.raw import over_stdio
from tests.peers.raw_http import over_http
from tests.peers.serving import serving

UI = "io.modelcontextprotocol/ui"
MIME = "text/html;profile=mcp-app"
CSP = {"connectDomains": ["https://api.example.com"], "resourceDomains": []}
SHOWS = {"extensions": {UI: {"mimeTypes": [MIME]}}}


@pytest.fixture
def yard(yard: Yard) -> Yard:
    yard.tool(
        "board", 'source "$MCP_SDK/tool-sdk.sh"; mcp_client_supports_ui && echo yes || echo no'
    )
    yard.write("tools/board/ui/index.html", "<!doctype html><title>Board</title>")
    yard.write(
        "tools/board/ui/ui.meta.json",
        {
            "description": "A board",
            "meta": {"csp": {**CSP, "other": ["x"]}, "permissions": {"camera": {}}},
        },
    )
    config = {"title": "Sign up", "fields": [{"name": "email", "label": "<b>Mail</b>"}]}
    yard.write("ui/signup/ui.meta.json", {"template": "form", "config": config})
    return yard


async def pages(client: Any) -> dict[str, Any]:
    listed = await client.result("resources/list")
    return {entry["uri"]: entry for entry in listed["resources"]}


async def test_pages_are_listed_with_what_they_may_do(yard: Yard) -> None:
    async with over_stdio(yard.served, capabilities=SHOWS) as client:
        listed = await pages(client)
    assert set(listed) == {"ui://yard/board", "ui://yard/signup"}
    board = listed["ui://yard/board"]
    assert (board["mimeType"], board["description"]) == (MIME, "A board")
    assert board["_meta"]["ui"] == {
        "prefersBorder": True,
        "csp": CSP,
        "permissions": {"camera": {}},
    }


async def test_a_tool_points_at_the_page_beside_it(yard: Yard) -> None:
    async with over_stdio(yard.served) as client:
        (tool,) = (await client.result("tools/list"))["tools"]
    assert tool["_meta"]["ui"] == {
        "resourceUri": "ui://yard/board",
        "visibility": ["model", "app"],
    }


@pytest.mark.parametrize("revision", ["2025-06-18", "2025-11-25", "2026-07-28"])
async def test_a_page_is_read_as_it_is_with_its_meta(yard: Yard, revision: str) -> None:
    async with serving(yard.root) as server, over_http(server.url, revision) as client:
        read = await client.result("resources/read", {"uri": "ui://yard/board"})
    (content,) = read["contents"]
    assert content["text"] == "<!doctype html><title>Board</title>"
    assert content["mimeType"] == MIME
    assert content["_meta"]["ui"]["csp"] == CSP


async def test_a_template_becomes_a_page_that_runs_nothing_from_elsewhere(yard: Yard) -> None:
    async with over_stdio(yard.served) as client:
        read = await client.result("resources/read", {"uri": "ui://yard/signup"})
    page = read["contents"][0]["text"]
    assert "Content-Security-Policy" in page and "default-src 'none'" in page
    assert "Sign up" in page and "<b>Mail</b>" not in page


@pytest.mark.parametrize("uri", ["ui://yard/none", "ui://yard/../server.d", "ui://other/board"])
async def test_a_page_that_is_none_is_not_found(yard: Yard, uri: str) -> None:
    async with over_stdio(yard.served) as client:
        assert (await client.error("resources/read", {"uri": uri}))["code"] == -32002


async def test_a_page_behind_a_link_is_not_served(yard: Yard) -> None:
    (yard.root / "tools/board/ui/index.html").unlink()
    (yard.root / "tools/board/ui/index.html").symlink_to("/etc/hostname")
    async with over_stdio(yard.served) as client:
        error = await client.error("resources/read", {"uri": "ui://yard/board"})
    assert error["code"] in (-32002, -32603)


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
async def test_the_extension_is_told_only_to_who_has_it(yard: Yard, revision: str) -> None:
    async with over_stdio(yard.served, revision, capabilities=SHOWS) as client:
        assert client.server["capabilities"]["extensions"][UI] == {"mimeTypes": [MIME]}
        result = await client.call("board")
        assert result["content"][0]["text"].strip() == "yes"
    async with over_stdio(yard.served, revision) as client:
        assert UI not in client.server["capabilities"].get("extensions", {})
        assert (await client.call("board"))["content"][0]["text"].strip() == "no"
