"""toolyard bundle: what is in the file, and that it serves from wherever it is unpacked."""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Yard
from tests.cli.program import Done, toolyard
from tests.peers.raw import over_stdio

pytestmark = pytest.mark.long


def bundle(yard: Yard, output: Path, *flags: str) -> Done:
    return toolyard("bundle", "--output", output, *flags, cwd=yard.root)


def manifest_of(yard: Yard, *flags: str) -> dict[str, Any]:
    return dict(toolyard("bundle", "--validate", *flags, cwd=yard.root).json)


def unpack(file: Path, folder: Path) -> Path:
    """As a client does: with the permissions that the file states."""
    with zipfile.ZipFile(file) as content:
        for entry in content.infolist():
            target = Path(content.extract(entry, folder))
            target.chmod(entry.external_attr >> 16)
    return folder


async def test_a_bundle_serves_with_nothing_but_what_is_inside(yard: Yard, tmp_path: Path) -> None:
    done = bundle(yard, tmp_path / "out")
    assert done.code == 0, done.err
    folder = unpack(tmp_path / "out/yard-1.2.3.mcpb", tmp_path / "elsewhere")
    manifest = json.loads((folder / "manifest.json").read_text())
    config = manifest["server"]["mcp_config"]
    assert (config["command"], manifest["server"]["type"]) == ("python3", "python")
    arguments = [part.replace("${__dirname}", str(folder)) for part in config["args"]]
    # Without site-packages: every library must come from the bundle.
    command = [sys.executable, "-S", *arguments]
    async with over_stdio(command, env={"PYTHONPATH": "", **config["env"]}) as client:
        assert client.server["serverInfo"]["name"] == "yard"
        result = await client.call("echo", {"n": 1})
    assert result["structuredContent"] == {"n": 1}


def test_a_static_registry_is_inside_and_used(yard: Yard, tmp_path: Path) -> None:
    bundle(yard, tmp_path, "--manifest", "0.4")
    with zipfile.ZipFile(tmp_path / "yard-1.2.3.mcpb") as content:
        registry = json.loads(content.read("server/.registry/tools.json"))
        manifest = json.loads(content.read("manifest.json"))
    assert [item["path"] for item in registry["items"]] == ["echo/tool.sh"]
    assert manifest["server"]["mcp_config"]["env"]["MCPBASH_STATIC_REGISTRY"] == "1"


def test_a_registry_that_names_places_of_this_machine_is_not_believed_elsewhere(
    yard: Yard,
) -> None:
    yard.write("resources/note.txt", "a note")
    config = manifest_of(yard)["server"]["mcp_config"]
    assert "MCPBASH_STATIC_REGISTRY" not in config["env"]


async def test_version_0_4_leaves_the_libraries_to_uv(yard: Yard, tmp_path: Path) -> None:
    bundle(yard, tmp_path, "--manifest", "0.4", "--name", "other", "--version", "9.9")
    folder = unpack(tmp_path / "other-9.9.mcpb", tmp_path / "elsewhere")
    manifest = json.loads((folder / "manifest.json").read_text())
    assert (manifest["manifest_version"], manifest["server"]["type"]) == ("0.4", "uv")
    config = manifest["server"]["mcp_config"]
    assert [config["command"], *config["args"][:3]] == ["uv", "run", "--directory", "${__dirname}"]
    assert '"orjson' in (folder / "pyproject.toml").read_text()
    assert not (folder / "server/.toolyard/lib/orjson").exists()
    command = [sys.executable, str(folder / config["args"][-1])]
    async with over_stdio(command, env={"PYTHONPATH": ""}) as client:
        assert (await client.result("tools/list"))["tools"][0]["name"] == "echo"


def test_the_manifest_says_what_the_projects_metadata_says(yard: Yard) -> None:
    meta = {
        "name": "yard",
        "version": "1.2.3",
        "description": "All of it",
        "author": {"name": "Ann", "email": "ann@example.com"},
        "repository": "https://example.com/yard.git",
        "license": "MIT",
        "keywords": ["a"],
        "long_description_file": "LONG.md",
        "user_config": {"key": {"type": "string", "title": "Key", "description": "A key"}},
        "user_config_env_map": {"key": "API_KEY"},
        "user_config_args_map": ["key"],
    }
    yard.write("server.d/server.meta.json", meta)
    yard.write("LONG.md", "At length.")
    yard.write("icon.png", "")
    manifest = manifest_of(yard)
    assert manifest["author"] == meta["author"]
    assert manifest["repository"] == {"type": "git", "url": meta["repository"]}
    assert (manifest["license"], manifest["keywords"]) == ("MIT", ["a"])
    assert (manifest["long_description"], manifest["user_config"]) == (
        "At length.",
        meta["user_config"],
    )
    assert manifest["icon"] == "server/icon.png"
    config = manifest["server"]["mcp_config"]
    assert config["env"]["API_KEY"] == "${user_config.key}"
    assert config["env"]["MCPBASH_TOOL_ENV_ALLOWLIST"] == "API_KEY"
    assert config["args"][-1] == "${user_config.key}"
    assert manifest["tools"] == [{"name": "echo", "description": "Gives its arguments back"}]


def test_a_conf_file_is_read_and_never_run(yard: Yard) -> None:
    yard.write("mcpb.conf", 'MCPB_NAME="named"\nMCPB_VERSION=2.0 # new\n$(touch ran)\n')
    manifest = manifest_of(yard)
    assert (manifest["name"], manifest["version"]) == ("named", "2.0")
    assert not (yard.root / "ran").exists()


def test_hidden_files_tests_and_links_stay_out(yard: Yard, tmp_path: Path) -> None:
    yard.write(".env", "SECRET=1")
    yard.write("test/run.sh", "")
    (yard.root / "leak").symlink_to("/etc/passwd")
    bundle(yard, tmp_path, "--manifest", "0.4")
    with zipfile.ZipFile(tmp_path / "yard-1.2.3.mcpb") as content:
        names = {
            name
            for name in content.namelist()
            if name.startswith("server/") and not name.startswith("server/.toolyard/")
        }
    assert names == {
        "server/server.d/server.meta.json",
        "server/tools/echo/tool.sh",
        "server/tools/echo/tool.meta.json",
        *(
            f"server/.registry/{name}.json"
            for name in ("tools", "resources", "prompts", "resource-templates", "ui-resources")
        ),
    }


def test_the_same_project_gives_the_same_bundle(yard: Yard, tmp_path: Path) -> None:
    names = []
    for output in ("a", "b"):
        bundle(yard, tmp_path / output, "--manifest", "0.4")
        with zipfile.ZipFile(tmp_path / output / "yard-1.2.3.mcpb") as content:
            names.append([(entry.filename, entry.external_attr) for entry in content.infolist()])
    assert names[0] == names[1]


@pytest.mark.skipif(sys.platform == "darwin", reason="this is that platform")
def test_libraries_of_another_system_cannot_be_put_inside(yard: Yard, tmp_path: Path) -> None:
    done = bundle(yard, tmp_path, "--platform", "darwin")
    assert (done.code, "--manifest 0.4" in done.err) == (2, True)
    assert manifest_of(yard, "--manifest", "0.4", "--platform", "darwin")["compatibility"][
        "platforms"
    ] == ["darwin"]


def test_a_broken_registration_makes_no_bundle(yard: Yard, tmp_path: Path) -> None:
    yard.write("server.d/register.json", "{")
    done = bundle(yard, tmp_path / "out")
    assert (done.code, "register.json" in done.err) == (2, True)
    assert not (tmp_path / "out").exists()
