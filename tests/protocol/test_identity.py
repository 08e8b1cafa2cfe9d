"""How much of what the server says of itself each revision hears."""

from __future__ import annotations

from typing import Any

import pytest

from toolyard.protocol.identity import Identity
from toolyard.protocol.revisions import ALL, LIKE_MCP_BASH

R24, R03, R06, R11, R26 = ALL.values()
EVERYTHING = Identity(
    {"name": "s", "version": "1", "title": "S", "description": "d", "websiteUrl": "u", "icons": []}
)
LISTS = {
    "tools": {"listChanged": True},
    "resources": {"subscribe": True, "listChanged": True},
    "prompts": {"listChanged": True},
}
TASKS: dict[str, Any] = {"io.modelcontextprotocol/tasks": {}}
CORE_TASKS: dict[str, Any] = {"tasks": {"cancel": {}, "requests": {"tools": {"call": {}}}}}
STILL: dict[str, Any] = {"tools": {}, "resources": {"subscribe": True}, "prompts": {}}


@pytest.mark.parametrize(
    ("revision", "heard"),
    [
        (R24, {"name", "version"}),
        (R03, {"name", "version"}),
        (R06, {"name", "version", "title"}),
        (R11, {"name", "version", "title", "description", "websiteUrl", "icons"}),
        (R26, {"name", "version", "title", "description", "websiteUrl", "icons"}),
    ],
)
def test_its_name_and_more(revision: Any, heard: set[str]) -> None:
    info = EVERYTHING.info_for(revision)
    assert info == {key: EVERYTHING.info[key] for key in info}
    assert info.keys() == heard


@pytest.mark.parametrize(
    ("revision", "heard"),
    [
        (R24, {"logging": {}, **LISTS}),
        (R03, {"logging": {}, "completions": {}, **LISTS}),
        (R06, {"logging": {}, "completions": {}, **LISTS}),
        (R11, {"logging": {}, "completions": {}, **LISTS, **CORE_TASKS}),
        (R26, {"logging": {}, "completions": {}, **LISTS, "extensions": TASKS}),
        (LIKE_MCP_BASH["2024-11-05"], {"logging": {}, **STILL}),
        (LIKE_MCP_BASH["2025-03-26"], {"logging": {}, **STILL}),
        (LIKE_MCP_BASH["2025-06-18"], {"logging": {}, "completions": {}, **LISTS}),
        (LIKE_MCP_BASH["2025-11-25"], {"logging": {}, "completions": {}, **LISTS}),
    ],
)
def test_what_it_can_do(revision: Any, heard: Any) -> None:
    assert EVERYTHING.capabilities_for(revision, {}) == heard


UI_EXTENSION = "io.modelcontextprotocol/ui"
PAGES = {UI_EXTENSION: {"mimeTypes": ["text/html;profile=mcp-app"]}}


@pytest.mark.parametrize(
    ("declared", "shared"),
    [
        ({UI_EXTENSION: {}}, PAGES),
        ({UI_EXTENSION: {}, "other/one": {}}, PAGES),
        ({"other/one": {}}, None),
        ({}, None),
        ([UI_EXTENSION], None),
        (None, None),
    ],
)
def test_an_extension_is_told_to_whoever_declares_the_same(declared: Any, shared: Any) -> None:
    for revision in (R24, R03, R06, R11):
        told = EVERYTHING.capabilities_for(revision, {"extensions": declared})
        assert told.get("extensions") == shared
    told = EVERYTHING.capabilities_for(R26, {"extensions": declared})
    assert told["extensions"] == {**(shared or {}), **TASKS}


def test_tasks_are_an_extension_only_where_they_are_one() -> None:
    for revision in (R24, R03, R06, R11):
        assert "extensions" not in EVERYTHING.capabilities_for(revision, {"extensions": TASKS})
