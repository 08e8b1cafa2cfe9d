"""`validate`: each finding as PATH - FINDING, at the level that CI jobs count on."""

from __future__ import annotations

import os
from typing import Any

import pytest

from tests.cli.program import mcp_bash
from tests.hooks.yard import Yard

MATCHING = [
    ("my-tool", "yard-myTool"),
    ("my-tool", "my_tool"),
    ("MyTool", "mytool"),
    ("my_tool", "Yard_My-Tool"),
]


def findings(yard: Yard, *flags: str) -> list[tuple[str, str]]:
    """(level, message) of all that is not in order."""
    report = mcp_bash("validate", "--json", *flags, cwd=yard.root).json
    said = [(one["level"], one["message"]) for one in report["messages"]]
    assert all(" - " in message and str(yard.root) not in message for _, message in said)
    assert {level for level, _ in said} <= {"info", "warning", "error"}
    return [one for one in said if one[0] != "info"]


def test_metadata_that_is_not_json_is_named_by_its_path_in_the_project(yard: Yard) -> None:
    yard.write("tools/hello/tool.meta.json", "{")
    done = mcp_bash("validate", cwd=yard.root)
    assert done.code == 1
    assert done.err.startswith("✗ tools/hello/tool.meta.json - invalid JSON")
    yard.write("server.d/server.meta.json", "[")
    assert ("error", "server.d/server.meta.json - invalid JSON") in [
        (level, message[: len("server.d/server.meta.json - invalid JSON")])
        for level, message in findings(yard)
    ]


def test_a_tool_without_a_name_is_an_error(yard: Yard) -> None:
    yard.write("tools/hello/tool.meta.json", {"description": "Says hi"})
    assert ("error", 'tools/hello/tool.meta.json - missing required "name"') in findings(yard)


@pytest.mark.parametrize("place", ["tools/hello/tool", "resources/load"])
def test_a_script_that_is_not_executable_is_an_error_that_can_be_mended(
    yard: Yard, place: str
) -> None:
    script = yard.script(f"{place}.sh", "echo hi")
    kind = place.partition("/")[0]
    name = "hello" if kind == "tools" else "load"
    yard.write(f"{place}.meta.json", {"name": name, "description": "x"})
    script.chmod(0o644)
    assert findings(yard) == [("error", f"{place}.sh - not executable")]
    assert mcp_bash("validate", cwd=yard.root).code == 1
    assert mcp_bash("validate", "--fix", cwd=yard.root).code == 0
    assert os.access(script, os.X_OK) and findings(yard) == []


@pytest.mark.parametrize("place", ["server.d/server.meta.json", "tools/hello/tool.meta.json"])
def test_icons_need_a_source_that_is_there(yard: Yard, place: str) -> None:
    icons: list[Any] = [{"src": "https://example.org/i.png"}, {"source": "x"}, "i.png"]
    meta = {"name": "hello", "description": "x"}
    yard.write(place, {**meta, "icons": [*icons, {"src": "./icon.svg"}]})
    found = findings(yard)
    for number in (1, 2):
        what = f'{place} - icons[{number}] must be objects with "src" property'
        assert ("error", what) in found
    assert ("warning", f"{place} - icon ./icon.svg: no such file") in found


def test_a_script_without_an_interpreter_is_warned_of(yard: Yard) -> None:
    (yard.root / "tools/hello/tool.sh").write_text("echo hi\n")
    assert findings(yard) == [("warning", "tools/hello/tool.sh - missing shebang")]
    assert mcp_bash("validate", cwd=yard.root).code == 0
    assert mcp_bash("validate", "--strict", cwd=yard.root).code == 1


@pytest.mark.parametrize(("folder", "name"), MATCHING)
def test_a_folder_may_spell_the_name_of_its_tool_otherwise(
    yard: Yard, folder: str, name: str
) -> None:
    yard.write(f"tools/{folder}/tool.meta.json", {"name": name, "description": "x"})
    yard.script(f"tools/{folder}/tool.sh", "echo hi")
    assert findings(yard) == []


def test_a_folder_of_another_name_is_warned_of(yard: Yard) -> None:
    yard.write("tools/hello/tool.meta.json", {"name": "goodbye", "description": "x"})
    what = 'tools/hello - directory name does not match tool.meta.json name "goodbye"'
    assert findings(yard) == [("warning", what)]
