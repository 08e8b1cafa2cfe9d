"""`bundle`: nothing gets in that was not meant to, and the manifest says all that is known."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import Done, mcp_bash
from tests.cli.test_bundle import unpack
from tests.hooks.yard import Yard
from tests.peers.raw import over_stdio
from tests.peers.serving import environment

WITHOUT_GIT = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
REGISTRY = {
    f"server/.registry/{name}.json"
    for name in ("tools", "resources", "prompts", "resource-templates", "ui-resources")
}
HELLO = {
    "server/server.d/server.meta.json",
    "server/tools/hello/tool.sh",
    "server/tools/hello/tool.meta.json",
}


def bundle(yard: Yard, output: Path, *flags: str) -> Done:
    flags = ("--manifest", "0.4", "--output", str(output), *flags)
    return mcp_bash("bundle", *flags, cwd=yard.root, env=WITHOUT_GIT)


def packed(yard: Yard, output: Path) -> set[str]:
    done = bundle(yard, output)
    assert done.code == 0, done.err
    with zipfile.ZipFile(next(output.glob("*.mcpb"))) as content:
        return {
            name
            for name in content.namelist()
            if name.startswith("server/") and not name.startswith("server/.toolyard/")
        }


def manifest_of(yard: Yard, **env: str) -> dict[str, Any]:
    done = mcp_bash("bundle", "--validate", cwd=yard.root, env={**WITHOUT_GIT, **env})
    assert done.code == 0, done.err
    return dict(done.json)


def test_only_what_serves_the_project_is_packed(yard: Yard, tmp_path: Path) -> None:
    for secret in ("config.json", "toolyard.json", "tokens.txt", "app.log", ".env", "data/x.db"):
        yard.write(secret, "{}")
    yard.write("tools/hello/.secret", "x")
    yard.write("test/run.sh", "")
    kept = ["lib/common.sh", "providers/x.sh", "completions/c.sh", "ui/p/index.html", "icon.png"]
    kept += ["resources/a.txt", "prompts/p.txt"]
    for path in kept:
        yard.write(path, "x")
    names = packed(yard, tmp_path / "out")
    assert names == HELLO | REGISTRY | {f"server/{path}" for path in kept}


def test_what_the_conf_file_includes_is_packed_too(yard: Yard, tmp_path: Path) -> None:
    for path in ("data/x/y.db", "data/z.db", ".hidden/a", "VERSION"):
        yard.write(path, "1")
    yard.write("mcpb.conf", 'MCPB_INCLUDE="data/x .hidden VERSION missing.txt"\nMCPB_STATIC=false')
    names = packed(yard, tmp_path / "out")
    included = {"server/data/x/y.db", "server/.hidden/a", "server/VERSION"}
    assert names == HELLO | included
    assert "there is no missing.txt" in bundle(yard, tmp_path / "again").err


@pytest.mark.parametrize("path", ["../x", "a/../../x", "/etc/passwd", "./x", ".."])
def test_what_could_lead_elsewhere_is_refused(yard: Yard, tmp_path: Path, path: str) -> None:
    yard.write("mcpb.conf", f"MCPB_INCLUDE='{path}'")
    done = bundle(yard, tmp_path / "out")
    assert (done.code, "MCPB_INCLUDE" in done.err) == (2, True)
    assert not (tmp_path / "out").exists()


def test_a_link_is_not_followed_out_of_the_project(yard: Yard, tmp_path: Path) -> None:
    (yard.root / "leak").symlink_to("/etc")
    (yard.root / "lib").symlink_to("/etc")
    yard.write("mcpb.conf", "MCPB_INCLUDE=leak")
    assert packed(yard, tmp_path / "out") == HELLO | REGISTRY


@pytest.mark.parametrize("name", ["../../up", "/abs/name", "a b\nc", "..", "näme"])
def test_the_name_of_a_server_does_not_lead_its_bundle_elsewhere(
    yard: Yard, tmp_path: Path, name: str
) -> None:
    yard.write("server.d/server.meta.json", {"name": name, "version": "../1"})
    done = bundle(yard, tmp_path / "deep/er/out")
    assert done.code == 0, done.err
    files = list(tmp_path.rglob("*.mcpb"))
    assert [path.parent for path in files] == [tmp_path / "deep/er/out"]
    assert files[0].name.isascii() and " " not in files[0].name


async def test_an_unpacked_bundle_serves_as_mcp_bash_does(yard: Yard, tmp_path: Path) -> None:
    yard.write("server.d/server.meta.json", {"title": "No name"})
    yard.write("VERSION", "3.2.1\n")
    bundle(yard, tmp_path / "out")
    folder = unpack(tmp_path / "out/yard-3.2.1.mcpb", tmp_path / "elsewhere")
    manifest = json.loads((folder / "manifest.json").read_text())
    config = manifest["server"]["mcp_config"]
    assert config["env"]["MCPBASH_PROJECT_ROOT"] == "${__dirname}/server"
    env = {k: v.replace("${__dirname}", str(folder)) for k, v in config["env"].items()}
    command = [sys.executable, str(folder / manifest["server"]["entry_point"])]
    async with over_stdio(command, env={"PYTHONPATH": "", **env}) as client:
        info = client.server["serverInfo"]
        assert (info["name"], info["version"]) == ("yard", "3.2.1")
        assert (await client.call("hello"))["content"][0]["text"] == "hi\n"


def test_the_conf_file_says_everything_that_a_manifest_can_say(yard: Yard) -> None:
    yard.write("docs/long.md", "At length.")
    yard.write("user-config.json", {"key": {"type": "string", "title": "Key"}})
    yard.write(
        "mcpb.conf",
        """
        MCPB_DESCRIPTION="All of it"
        MCPB_LONG_DESCRIPTION_FILE=docs/long.md
        MCPB_AUTHOR_NAME="Ann Author"
        MCPB_AUTHOR_EMAIL=ann@example.com
        MCPB_AUTHOR_URL=https://example.com/ann
        MCPB_REPOSITORY=https://example.com/yard.git
        MCPB_LICENSE=MIT
        MCPB_KEYWORDS="one, two"
        MCPB_HOMEPAGE=https://example.com
        MCPB_DOCUMENTATION=https://example.com/docs
        MCPB_SUPPORT=https://example.com/help
        MCPB_PRIVACY_POLICIES="https://example.com/privacy"
        MCPB_COMPAT_CLAUDE_DESKTOP=">=1.0.0"
        MCPB_RUNTIME_PYTHON=">=3.12"
        MCPB_RUNTIME_NODE=">=20"
        MCPB_USER_CONFIG_FILE=user-config.json
        MCPB_USER_CONFIG_ENV_MAP="key=API_KEY"
        MCPB_USER_CONFIG_ARGS_MAP="key"
        """.replace("        ", ""),
    )
    manifest = manifest_of(yard)
    expected = {
        "description": "All of it",
        "long_description": "At length.",
        "author": {
            "name": "Ann Author",
            "email": "ann@example.com",
            "url": "https://example.com/ann",
        },
        "repository": {"type": "git", "url": "https://example.com/yard.git"},
        "license": "MIT",
        "keywords": ["one", "two"],
        "homepage": "https://example.com",
        "documentation": "https://example.com/docs",
        "support": "https://example.com/help",
        "privacy_policies": ["https://example.com/privacy"],
        "user_config": {"key": {"type": "string", "title": "Key"}},
    }
    assert {key: manifest[key] for key in expected} == expected
    assert manifest["compatibility"]["claude_desktop"] == ">=1.0.0"
    assert manifest["compatibility"]["runtimes"] == {"python": ">=3.12", "node": ">=20"}
    config = manifest["server"]["mcp_config"]
    assert (config["env"]["API_KEY"], config["args"][-1]) == ("${user_config.key}",) * 2


def test_git_says_who_wrote_it_and_where_it_is_without_credentials(yard: Yard) -> None:
    for words in (
        ["init", "-q"],
        ["config", "user.name", "Ann Author"],
        ["config", "user.email", "ann@example.com"],
        ["remote", "add", "origin", "https://ann:secret@example.com/ann/yard.git"],
    ):
        git = ["git", "-C", str(yard.root), *words]
        subprocess.run(git, check=True, env=environment(WITHOUT_GIT))
    manifest = manifest_of(yard)
    assert manifest["author"] == {"name": "Ann Author", "email": "ann@example.com"}
    assert manifest["repository"]["url"] == "https://example.com/ann/yard.git"
    origin = ["remote", "set-url", "origin", "git@example.com:ann/yard.git"]
    subprocess.run(["git", "-C", str(yard.root), *origin], check=True)
    assert manifest_of(yard)["repository"]["url"] == "https://example.com/ann/yard.git"


def test_pictures_overrides_and_prompts_are_in_the_manifest(yard: Yard, tmp_path: Path) -> None:
    overrides = {"win32": {"command": "wsl"}}
    yard.write(
        "server.d/server.meta.json",
        {
            "name": "yard",
            "icons": [{"src": "./i.png", "sizes": ["16x16"]}, {"src": "https://example.com/i.png"}],
            "screenshots": ["shots/one.png", "https://example.com/two.png"],
            "platform_overrides": overrides,
        },
    )
    yard.write("shots/one.png", "x")
    yard.write("server.d/i.png", "x")
    yard.write("prompts/ask.meta.json", {"name": "ask", "arguments": [{"name": "topic"}]})
    yard.write("prompts/ask.txt", "Of {{ topic }} and {{other}}.\n")
    yard.script("prompts/run.sh", "echo now")
    manifest = manifest_of(yard)
    assert [icon["src"] for icon in manifest["icons"]] == [
        "server/server.d/i.png",
        "https://example.com/i.png",
    ]
    assert manifest["screenshots"] == ["server/shots/one.png", "https://example.com/two.png"]
    assert manifest["server"]["mcp_config"]["platform_overrides"] == overrides
    assert manifest["prompts"] == [
        {
            "name": "ask",
            "description": "ask",
            "arguments": ["topic"],
            "text": "Of ${arguments.topic} and {{other}}.",
        }
    ]
    assert manifest["prompts_generated"] is True
    assert "tools_generated" not in manifest
    assert {"server/shots/one.png", "server/server.d/i.png"} <= packed(yard, tmp_path / "out")


def test_a_registry_that_is_left_out_is_not_believed_in(yard: Yard) -> None:
    yard.write("mcpb.conf", "MCPB_STATIC=false\n")
    manifest = manifest_of(yard)
    assert "MCPBASH_STATIC_REGISTRY" not in manifest["server"]["mcp_config"]["env"]
    assert manifest["tools_generated"] is True


@pytest.mark.parametrize(
    ("config", "extra", "problem"),
    [
        ({"k": {"type": "text", "title": "K"}}, {}, "/k/type: must be one of"),
        ({"k": {"type": "string"}}, {}, "/k/title: is missing"),
        ({"k": {"type": "number", "title": "K", "default": "1"}}, {}, "/k/default: is not"),
        ({"k": {"type": "boolean", "title": "K", "default": 1}}, {}, "/k/default: is not"),
        ({}, {"user_config_env_map": {"no": "X"}}, "user_config_env_map names 'no'"),
        ({}, {"user_config_args_map": ["no"]}, "user_config_args_map names 'no'"),
        ([], {}, "must be an object"),
    ],
)
def test_what_the_user_is_asked_for_is_checked(
    yard: Yard, config: Any, extra: dict[str, Any], problem: str
) -> None:
    meta = {"name": "yard", "user_config": config, **extra}
    yard.write("server.d/server.meta.json", meta)
    done = mcp_bash("bundle", "--validate", cwd=yard.root)
    assert (done.code, problem in done.err) == (2, True), done.err
