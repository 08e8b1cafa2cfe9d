"""The registry files: their form, when they are written, and when they are believed."""

import hashlib
import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from tests.project.conftest import Folder, runner_of, source_of
from toolyard.settings import Settings
from toolyard.sources.project.cache.commands import is_ok, refresh, status
from toolyard.sources.project.layout import project_at
from toolyard.sources.project.source import ProjectSource

EMPTY = "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945"


def written(folder: Folder, name: str) -> Any:
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer):
            thread.join()
    return json.loads((folder.root / ".registry" / name).read_text())


def source(folder: Folder, **settings: object) -> ProjectSource:
    return source_of(folder, runner_of(folder.root), **settings)


def test_each_kind_is_written_in_its_envelope_with_the_hash_of_its_items(folder: Folder) -> None:
    folder.tool("a", {"timeoutSecs": 5, "z": 1})
    folder.write("prompts/p.txt", "")
    source(folder).read()
    tools = written(folder, "tools.json")
    assert list(tools) == ["version", "format_version", "generatedAt", "items", "hash", "total"]
    assert (tools["version"], tools["format_version"], tools["total"]) == (1, 1, 1)
    assert tools["items"][0] == {
        "name": "a",
        "description": "",
        "path": "a/tool.sh",
        "inputSchema": {"type": "object", "properties": {}},
        "timeoutSecs": 5,
        "z": 1,
    }
    canonical = json.dumps(
        tools["items"], sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )
    assert tools["hash"] == hashlib.sha256(canonical.encode()).hexdigest()
    assert written(folder, "prompts.json")["items"][0]["arguments"] == []
    for name in ("resources.json", "resource-templates.json", "ui-resources.json"):
        assert (written(folder, name)["items"], written(folder, name)["hash"]) == ([], EMPTY)


def test_the_files_are_private_and_nothing_else_is_left(folder: Folder) -> None:
    source(folder).read()
    written(folder, "tools.json")
    registry = folder.root / ".registry"
    assert stat.S_IMODE(registry.stat().st_mode) == 0o700
    assert {path.name for path in registry.iterdir()} == {
        *("tools.json", "resources.json", "prompts.json", "resource-templates.json"),
        "ui-resources.json",
    }
    assert {stat.S_IMODE(path.stat().st_mode) for path in registry.iterdir()} == {0o600}


def test_a_file_that_already_holds_the_items_is_left_alone(folder: Folder) -> None:
    folder.tool("a")
    source(folder).read()
    written(folder, "tools.json")
    before = (folder.root / ".registry/tools.json").stat().st_ino
    source(folder).read()
    written(folder, "tools.json")
    assert (folder.root / ".registry/tools.json").stat().st_ino == before


def test_a_program_that_ends_at_once_still_writes_the_files(folder: Folder) -> None:
    folder.tool("a")
    program = f"""
from toolyard.settings import Settings
from toolyard.scripts.running.runner import Runner
from toolyard.scripts.settings import ProjectPaths, RunnerSettings
from toolyard.sources.project.layout import project_at
from toolyard.sources.project.source import ProjectSource
project = project_at({str(folder.root)!r}, Settings())
runner = Runner(RunnerSettings(), ProjectPaths(project.root, project.tools))
ProjectSource(project, Settings(), runner=runner).read()
"""
    subprocess.run([sys.executable, "-c", program], check=True)
    assert written(folder, "tools.json")["total"] == 1


def test_an_unchanged_project_is_not_scanned_again_and_a_changed_one_is(folder: Folder) -> None:
    folder.tool("a")
    project = source(folder)
    first = project.read()
    assert project.read() is first
    folder.write("tools/a/tool.meta.json", {"name": "renamed"})
    assert [tool.name for tool in project.read().tools] == ["renamed"]
    folder.tool("b")
    assert len(project.read().tools) == 2
    (folder.root / "tools/b/tool.sh").unlink()
    assert len(project.read().tools) == 1
    folder.write("server.d/register.json", {"version": 1, "tools": []})
    assert project.read().tools == ()


def test_static_mode_serves_the_files_without_scanning(folder: Folder) -> None:
    folder.tool("a")
    source(folder).read()
    written(folder, "resource-templates.json")
    folder.tool("b")
    entries = source(folder, static_registry=True).read()
    assert [tool.name for tool in entries.tools] == ["a"]


def test_static_mode_scans_when_a_file_is_missing_broken_or_too_large(folder: Folder) -> None:
    folder.tool("a")
    source(folder).read()
    written(folder, "resource-templates.json")
    folder.tool("b")
    path = folder.root / ".registry/tools.json"
    content = path.read_text()
    nameless = '{"items": [{"path": "a"}]}'
    for broken in ("{", "[]", '{"items": [1]}', nameless, content + " " * 5000):
        path.write_text(broken)
        entries = source(folder, static_registry=True, registry_max_bytes=4000).read()
        assert len(entries.tools) == 2
    path.unlink()
    assert len(source(folder, static_registry=True).read().tools) == 2


def test_static_mode_takes_the_files_that_mcp_bash_wrote(folder: Folder) -> None:
    folder.write("prompts/p.txt", "{{a}}")
    items: dict[str, list[dict[str, Any]]] = {
        "tools.json": [{"name": "t", "description": "", "path": "t/tool.sh", "timeoutSecs": None}],
        "resources.json": [{"name": "r", "uri": "https://e.org/", "mimeType": "text/plain"}],
        "prompts.json": [{"name": "p", "path": "p.txt", "arguments": {"properties": {"a": {}}}}],
        "resource-templates.json": [{"name": "x", "uriTemplate": "x:{a}"}],
    }
    for name, listed in items.items():
        folder.write(f".registry/{name}", {"version": 1, "items": listed})
    entries = source(folder, static_registry=True).read()
    assert entries.tools[0].definition["inputSchema"] == {"type": "object", "properties": {}}
    assert entries.resources[0].extra["provider"] == "https"
    assert entries.prompts[0].definition["arguments"] == [{"name": "a", "required": False}]
    assert entries.templates[0].uri_template == "x:{a}"


def with_a_page(folder: Folder) -> None:
    folder.write("resources/r.txt", "")
    folder.write("ui/board/index.html", "<p>board</p>")


def test_pages_have_a_file_of_their_own(folder: Folder) -> None:
    with_a_page(folder)
    source(folder).read()
    pages = written(folder, "ui-resources.json")
    assert list(pages) == ["version", "format_version", "generatedAt", "items", "hash", "total"]
    assert [item["uri"] for item in pages["items"]] == ["ui://my-project/board"]
    assert [item["name"] for item in written(folder, "resources.json")["items"]] == ["r"]
    project = project_at(str(folder.root), Settings())
    assert status(project, Settings())["ui"]["hash"] == pages["hash"]
    (folder.root / ".registry/ui-resources.json").unlink()
    assert refresh(project, Settings())["ui"] == {"status": "ok", "count": 1, "error": None}
    assert written(folder, "ui-resources.json")["hash"] == pages["hash"]


def test_static_mode_serves_pages_from_their_file_or_scans(folder: Folder) -> None:
    with_a_page(folder)
    scanned = source(folder).read()
    written(folder, "ui-resources.json")
    folder.write("ui/later/index.html", "")
    static = source(folder, static_registry=True).read()
    assert [r.definition for r in static.resources] == [r.definition for r in scanned.resources]
    # As mcp-bash writes it.
    folder.write(".registry/ui-resources.json", {"version": 1, "uiResources": []})
    assert len(source(folder, static_registry=True).read().resources) == 3


def test_static_mode_still_says_what_is_wrong_with_a_registration(folder: Folder) -> None:
    source(folder).read()
    written(folder, "resource-templates.json")
    folder.write("server.d/register.json", "{")
    assert "is not JSON" in source(folder, static_registry=True).read().broken["tools"]


def test_a_project_that_cannot_be_written_is_served_without_files(
    folder: Folder, tmp_path: Path
) -> None:
    folder.tool("a")
    folder.write("occupied", "")
    entries = source(folder, registry_dir="occupied/below").read()
    assert len(entries.tools) == 1


def test_refresh_writes_the_files_and_says_what_it_found(folder: Folder) -> None:
    folder.tool("a")
    folder.write("resources/r.txt", "")
    project = project_at(str(folder.root), Settings())
    assert status(project, Settings())["tools"] == {
        "status": "missing",
        "path": f"{folder.root}/.registry/tools.json",
        "count": 0,
        "hash": None,
        "mtime": None,
    }
    done = refresh(project, Settings())
    assert done == {
        "tools": {"status": "ok", "count": 1, "error": None},
        "resources": {"status": "ok", "count": 1, "error": None},
        "prompts": {"status": "ok", "count": 0, "error": None},
        "resourceTemplates": {"status": "ok", "count": 0, "error": None},
        "ui": {"status": "ok", "count": 0, "error": None},
        "notificationsSent": False,
        "mode": "full",
        "warnings": [],
    }
    assert is_ok(done)
    present = status(project, Settings())
    assert (present["projectRoot"], present["tools"]["count"]) == (str(folder.root), 1)
    assert present["tools"]["hash"] == written(folder, "tools.json")["hash"]


def test_refresh_can_be_narrowed_to_a_path(folder: Folder) -> None:
    folder.tool("a")
    folder.tool("b")
    project = project_at(str(folder.root), Settings())
    done = refresh(project, Settings(), only=str(folder.root / "tools/b"))
    assert done["tools"]["count"] == 1


def test_refresh_fails_where_the_registration_is_broken(folder: Folder) -> None:
    folder.write("server.d/register.json", "{")
    done = refresh(project_at(str(folder.root), Settings()), Settings())
    assert not is_ok(done)
    assert "register.json" in done["tools"]["error"]
    assert not os.path.exists(folder.root / ".registry")
