"""Which files of a project are tools, and what is said of them."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.project.conftest import Folder, runner_of
from toolyard.catalog.entries import Entries, Tool
from toolyard.protocol.call import Call, Channel, JsonObject, Result
from toolyard.settings import Settings
from toolyard.sources.project.layout import project_at
from toolyard.sources.project.source import ProjectSource


class Remembered:
    """A target that only knows what it was made from."""

    def __init__(self, path: str, name: str, metadata: JsonObject) -> None:
        self.made_from = (path, name, metadata)

    async def call(self, arguments: JsonObject, call: Call, channel: Channel) -> Result:
        return {}


def read(folder: Folder, **settings: object) -> Entries:
    chosen = Settings(**settings)
    project = project_at(str(folder.root), chosen)
    runner = runner_of(folder.root)
    return ProjectSource(project, chosen, runner=runner, make_tool_target=Remembered).read()


def names(entries: Entries) -> list[str]:
    return [tool.name for tool in entries.tools]


def only(entries: Entries) -> Tool:
    (tool,) = entries.tools
    return tool


def test_a_tool_is_listed_with_the_fields_of_mcp_and_keeps_the_rest_for_us(folder: Folder) -> None:
    meta: dict[str, Any] = {
        "name": "example.hello",
        "title": "Hello",
        "description": "Greets",
        "inputSchema": {"type": "object", "properties": {"who": {"type": "string"}}},
        "outputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": True},
        "_meta": {"vendor": 1},
        "timeoutSecs": 5,
        "requires": ["sampling"],
        "team": "blue",
    }
    script = folder.script("tools/hello/tool.sh")
    folder.write("tools/hello/tool.meta.json", meta)
    tool = only(read(folder))
    assert tool.definition == {
        key: meta[key]
        for key in (
            *("name", "title", "description", "inputSchema", "outputSchema", "annotations"),
            "_meta",
        )
    }
    assert tool.extra == {
        "path": "hello/tool.sh",
        "timeoutSecs": 5,
        "requires": ["sampling"],
        "team": "blue",
    }
    assert (tool.requires, tool.origin.place, tool.check_output) == (
        ("sampling",),
        str(script),
        True,
    )
    assert isinstance(tool.target, Remembered)
    path, name, item = tool.target.made_from
    assert (path, name) == (str(script), "example.hello")
    assert item == {**meta, "path": "hello/tool.sh"}


def test_without_metadata_the_name_is_the_files_and_the_schema_takes_anything(
    folder: Folder,
) -> None:
    folder.script("tools/a/greet.sh")
    assert only(read(folder)).definition == {
        "name": "greet",
        "description": "",
        "inputSchema": {"type": "object", "properties": {}},
    }


def test_a_file_of_metadata_wins_over_an_inline_line_and_that_over_defaults(folder: Folder) -> None:
    folder.script("tools/a/one.sh", '# mcp: {"name": "inline", "description": "d"}\n')
    folder.script("tools/b/two.sh", '# mcp: {"name": "lost"}\n')
    folder.write("tools/b/two.sh.meta.json", {"name": "from-file"})
    folder.write("tools/b/two.meta.json", {"name": "second-choice"})
    assert names(read(folder)) == ["from-file", "inline"]


def test_the_older_field_arguments_is_a_schema_too(folder: Folder) -> None:
    folder.tool("t", {"arguments": {"properties": {"a": {}}}})
    assert only(read(folder)).definition["inputSchema"] == {
        "properties": {"a": {}},
        "type": "object",
    }


def test_tools_are_found_at_the_top_and_at_most_three_folders_deep(folder: Folder) -> None:
    for path in ("top.sh", "1/one.sh", "1/2/two.sh", "1/2/3/three.sh", "1/2/3/4/four.sh"):
        folder.script(f"tools/{path}")
    assert names(read(folder)) == ["one", "three", "top", "two"]


def test_hidden_files_and_folders_documents_and_smoke_tests_are_no_tools(folder: Folder) -> None:
    for path in (".hidden.sh", ".git/hook.sh", "a/README.sh", "a/LICENSE", "a/smoke.sh"):
        folder.script(f"tools/{path}")
    folder.write("tools/a/notes.txt", "text")
    assert read(folder).tools == ()


def test_a_helper_beside_a_described_tool_is_a_tool_only_if_it_is_executable(
    folder: Folder,
) -> None:
    folder.tool("a")
    folder.script("tools/a/lib.sh", mode=0o644)
    folder.script("tools/a/other.sh")
    folder.script("tools/b/plain.sh", mode=0o644)
    assert names(read(folder)) == ["a", "other", "plain"]


def test_a_link_is_followed_only_inside_the_folder(folder: Folder, tmp_path: Path) -> None:
    folder.tool("a")
    outside = tmp_path / "outside.sh"
    outside.write_text("#!/bin/sh\n")
    outside.chmod(0o755)
    (folder.root / "tools/in.sh").symlink_to(folder.root / "tools/a/tool.sh")
    (folder.root / "tools/out.sh").symlink_to(outside)
    (folder.root / "tools/up").symlink_to(tmp_path)
    entries = read(folder)
    assert names(entries) == ["a", "in"]
    assert sorted(entries.warnings) == [
        f"{folder.root}/tools/{name}: skipped: a link that leads outside"
        for name in ("out.sh", "up")
    ]


def test_broken_metadata_is_named_and_everything_else_is_served(folder: Folder) -> None:
    folder.tool("good")
    folder.script("tools/bad/tool.sh")
    path = folder.write("tools/bad/tool.meta.json", '{"name": ')
    entries = read(folder)
    assert names(entries) == ["good"]
    assert len(entries.warnings) == 1
    assert entries.warnings[0].startswith(f"{path}: is not JSON: ")


def test_a_field_of_the_wrong_shape_is_left_out_with_a_warning(folder: Folder) -> None:
    folder.tool("t", {"annotations": [], "timeoutSecs": "7", "icons": "x", "title": None})
    entries = read(folder)
    meta = folder.root / "tools/t/tool.meta.json"
    assert entries.warnings == (
        f"{meta}: annotations must be an object; left out",
        f"{meta}: icons must be an array; left out",
    )
    assert set(only(entries).definition) == {"name", "description", "inputSchema"}
    assert only(entries).extra["timeoutSecs"] == 7


def test_a_schema_that_is_no_object_takes_the_tool_out(folder: Folder) -> None:
    folder.tool("good")
    folder.tool("bad", {"inputSchema": []})
    entries = read(folder)
    assert names(entries) == ["good"]
    assert entries.warnings == (
        f"{folder.root}/tools/bad/tool.meta.json: inputSchema must be an object; skipped",
    )


def test_the_second_tool_of_a_name_is_left_out_with_a_warning(folder: Folder) -> None:
    folder.tool("a", {"name": "same"})
    folder.tool("b", {"name": "same"})
    entries = read(folder)
    assert only(entries).extra["path"] == "a/tool.sh"
    assert entries.warnings == (
        f"{folder.root}/tools/b/tool.sh: there is already a tool with the name 'same' "
        "(a/tool.sh); skipped",
    )


def test_a_file_name_with_a_newline_or_bad_bytes_harms_nobody(folder: Folder) -> None:
    folder.tool("good")
    folder.script("tools/a/new\nline.sh")
    bad = os.fsencode(folder.root) + b"/tools/a/\xff.sh"
    with open(bad, "wb") as stream:
        stream.write(b"#!/bin/sh\n")
    entries = read(folder)
    assert names(entries) == ["good"]
    assert entries.warnings == tuple(
        f"{str(folder.root / 'tools/a' / name)!r}: skipped: control characters in its name"
        for name in ("new\nline.sh", "\udcff.sh")
    )


def test_a_script_without_an_interpreter_line_is_served_and_named(folder: Folder) -> None:
    folder.tool("good")
    path = folder.write("tools/plain.sh", "echo hi\n")
    path.chmod(0o755)
    entries = read(folder)
    assert names(entries) == ["good", "plain"]
    assert entries.warnings == (f"{path}: has no interpreter line (#!)",)


def test_local_icons_become_data_uris(folder: Folder) -> None:
    folder.tool("t", {"icons": [{"src": "i.png", "sizes": ["1x1"]}, {"src": "none.png"}]})
    folder.write("tools/t/i.png", b"\x89PNG")
    entries = read(folder)
    assert only(entries).definition["icons"] == [
        {"src": "data:image/png;base64,iVBORw==", "sizes": ["1x1"], "mimeType": "image/png"}
    ]
    assert len(entries.warnings) == 1 and "none.png" in entries.warnings[0]


def test_a_tool_with_a_page_beside_it_points_at_the_page(folder: Folder) -> None:
    folder.tool("t", {"_meta": {"vendor": 1}})
    folder.script("tools/t/ui/index.html")
    assert only(read(folder)).definition["_meta"] == {
        "vendor": 1,
        "ui": {"resourceUri": "ui://my-project/t", "visibility": ["model", "app"]},
    }


def test_a_project_without_tools_is_served(folder: Folder) -> None:
    assert replace(read(folder), unlisted=()) == Entries()


def test_the_scan_can_be_narrowed_to_a_path(folder: Folder) -> None:
    folder.tool("a")
    folder.tool("ab")
    only_a = read(folder, registry_refresh_path=str(folder.root / "tools/a"))
    assert names(only_a) == ["a"]


def test_too_large_a_registry_is_broken_not_empty(folder: Folder) -> None:
    folder.tool("a")
    entries = read(folder, registry_max_bytes=20)
    assert entries.tools == ()
    assert entries.broken == {"tools": "the tools registry exceeds 20 bytes"}


def test_more_than_five_hundred_tools_are_served_with_a_warning(folder: Folder) -> None:
    for number in range(501):
        folder.script(f"tools/t{number}.sh")
    entries = read(folder)
    assert len(entries.tools) == 501
    assert entries.warnings == ("501 tools: more than 500; consider server.d/register.json",)
