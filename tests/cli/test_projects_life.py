"""new, init and scaffold: what they write works at once and has a test."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Literal

import pytest
from mcp import Client, StdioServerParameters

from tests.cli.conftest import Yard
from tests.cli.program import MCP_BASH, Done, mcp_bash, toolyard
from tests.peers.raw import over_stdio
from tests.peers.serving import environment
from tests.peers.serving import toolyard as command_line

pytestmark = pytest.mark.long

GREETING = {"message": "Hello, world!"}


@pytest.fixture
def on_path(tmp_path: Path) -> dict[str, str]:
    """An environment in which the command `toolyard` is this checkout's."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "toolyard"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m toolyard "$@"\n')
    program.chmod(0o755)
    return {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


def bash(script: Path, env: dict[str, str], cwd: Path | None = None) -> Done:
    done = subprocess.run(
        ["bash", str(script)],
        cwd=cwd,
        env=environment(env),
        capture_output=True,
        text=True,
        timeout=60,
    )
    return Done(done.returncode, done.stdout, done.stderr)


async def test_new_scaffold_and_run_tool_go_together(tmp_path: Path) -> None:
    assert toolyard("new", "demo", cwd=tmp_path).code == 0
    demo = tmp_path / "demo"
    made = toolyard("scaffold", "tool", "check-disk", cwd=demo)
    assert made.out.startswith(f"Scaffolded tool at {demo / 'tools/check-disk'}\n")
    done = toolyard("run-tool", "check-disk", cwd=demo)
    assert (done.code, done.json["structuredContent"]) == (0, GREETING)
    async with over_stdio(command_line("serve", demo)) as client:
        served = await client.call("check-disk", {"name": "Ann"})
    assert served["structuredContent"] == {"message": "Hello, Ann!"}


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_the_official_client_calls_what_was_just_made(
    tmp_path: Path, on_path: dict[str, str], mode: Literal["legacy", "2026-07-28"]
) -> None:
    """As a person types it, then as a desktop client starts it."""
    made = tmp_path / "made.sh"
    made.write_text(
        "toolyard new demo && cd demo && toolyard scaffold tool check-disk >&2 && "
        "toolyard run-tool check-disk"
    )
    (tmp_path / "here").mkdir()
    done = bash(made, on_path, tmp_path / "here")
    assert done.code == 0, done.err
    assert json.loads(done.out.splitlines()[-1])["structuredContent"] == GREETING
    program = StdioServerParameters(
        command=str(tmp_path / "bin" / "toolyard"),
        args=["serve", str(tmp_path / "here" / "demo")],
        env=environment(on_path),
    )
    async with Client(program, mode=mode) as client:
        listed = await client.list_tools()
        assert {tool.name for tool in listed.tools} == {"hello", "check-disk"}
        result = await client.call_tool("check-disk", {})
    assert not result.is_error
    assert result.structured_content == GREETING


@pytest.mark.parametrize("flags", [[], ["--python"], ["--ui"]])
def test_a_scaffolded_tool_passes_its_own_test(
    yard: Yard, on_path: dict[str, str], flags: list[str]
) -> None:
    assert toolyard("scaffold", "tool", "made", *flags, cwd=yard.root).code == 0
    done = bash(yard.root / "tools/made/smoke.sh", on_path)
    assert (done.code, done.out) == (0, "ok: tool made\n"), done.err


def test_the_test_of_a_broken_tool_fails(yard: Yard, on_path: dict[str, str]) -> None:
    toolyard("scaffold", "tool", "made", cwd=yard.root)
    (yard.root / "tools/made/tool.sh").write_text("#!/bin/sh\necho other\n")
    assert bash(yard.root / "tools/made/smoke.sh", on_path).code == 1


def test_a_new_project_is_valid_and_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        assert toolyard("new", "open", cwd=tmp_path).code == 0
        assert toolyard("scaffold", "tool", "t", cwd=tmp_path / "open").code == 0
    finally:
        os.umask(before)
    assert toolyard("validate", "--strict", cwd=tmp_path / "open").code == 0
    for path in [tmp_path / "open", *(tmp_path / "open").rglob("*")]:
        assert not stat.S_IMODE(path.stat().st_mode) & 0o022, path


def test_a_new_project_without_hello_is_empty(tmp_path: Path) -> None:
    toolyard("new", "bare", "--no-hello", cwd=tmp_path)
    assert "Nothing is on offer yet" in toolyard("list", tmp_path / "bare").out


def test_an_existing_folder_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    done = toolyard("new", "here", cwd=tmp_path)
    assert (done.code, "already exists" in done.err) == (2, True)
    assert list((tmp_path / "here").iterdir()) == []


@pytest.mark.parametrize("name", ["", "a/b", "..", "a b", "x" * 65])
def test_names_that_cannot_be_folders_are_refused(tmp_path: Path, name: str) -> None:
    done = toolyard("new", name, cwd=tmp_path)
    assert (done.code, "not a name" in done.err) == (2, True)
    assert list(tmp_path.iterdir()) == []


def test_init_makes_a_project_of_a_folder_and_keeps_what_is_there(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "README.md").write_text("mine")
    (folder / ".gitignore").write_text("mine")
    assert toolyard("init", "--name", "other", cwd=folder).code == 0
    assert (folder / "README.md").read_text() == "mine"
    assert (folder / ".gitignore").read_text() == "mine\n.registry/\n*.log\n.DS_Store\nThumbs.db\n"
    assert toolyard("run-tool", "hello", cwd=folder).code == 0


def test_scaffolding_twice_changes_nothing(yard: Yard) -> None:
    toolyard("scaffold", "tool", "once", cwd=yard.root)
    (yard.root / "tools/once/tool.sh").write_text("mine")
    done = toolyard("scaffold", "tool", "once", cwd=yard.root)
    assert (done.code, "already exists" in done.err) == (2, True)
    assert (yard.root / "tools/once/tool.sh").read_text() == "mine"


def test_scaffolding_outside_of_a_project_says_what_to_do(tmp_path: Path) -> None:
    done = toolyard("scaffold", "tool", "x", cwd=tmp_path)
    assert (done.code, "toolyard new NAME" in done.err) == (2, True)


def test_the_scaffolded_test_runs_every_smoke_test(yard: Yard, on_path: dict[str, str]) -> None:
    for name in ("one", "two"):
        toolyard("scaffold", "tool", name, cwd=yard.root)
    toolyard("scaffold", "test", cwd=yard.root)
    done = bash(yard.root / "test/run.sh", on_path)
    assert done.code == 0, done.err
    assert done.out.endswith("ok: tool one\nok: tool two\nall ok\n")
    (yard.root / "tools/two/tool.sh").write_text("#!/bin/sh\nexit 1\n")
    assert bash(yard.root / "test/run.sh", on_path).code == 1


@pytest.mark.parametrize(
    ("kind", "folder"),
    [("resource", "resources"), ("prompt", "prompts"), ("completion", "completions")],
)
def test_whatever_is_scaffolded_passes_its_own_test(
    yard: Yard, on_path: dict[str, str], kind: str, folder: str
) -> None:
    for name in ("first", "second"):
        assert toolyard("scaffold", kind, name, cwd=yard.root).code == 0
    for name in ("first", "second"):
        done = bash(yard.root / folder / name / "smoke.sh", on_path)
        assert (done.code, done.out) == (0, f"ok: {kind} {name}\n"), done.err
    assert toolyard("validate", "--strict", cwd=yard.root).code == 0


def test_a_completion_is_added_to_what_is_registered(yard: Yard) -> None:
    register = yard.write("server.d/register.json", {"version": 1, "prompts": []})
    toolyard("scaffold", "completion", "colours", cwd=yard.root)
    assert json.loads(register.read_text()) == {
        "version": 1,
        "prompts": [],
        "completions": [
            {"name": "colours", "path": "completions/colours/suggest.sh", "timeoutSecs": 5}
        ],
    }


def test_a_registration_that_is_not_json_is_not_written_over(yard: Yard) -> None:
    register = yard.write("server.d/register.json", "// mine")
    done = toolyard("scaffold", "completion", "colours", cwd=yard.root)
    assert (done.code, "register.json: cannot be added to" in done.err) == (2, True)
    assert register.read_text() == "// mine"


def test_a_page_belongs_to_a_tool_that_exists(yard: Yard) -> None:
    assert toolyard("scaffold", "ui", "--tool", "echo", cwd=yard.root).code == 0
    assert (yard.root / "tools/echo/ui/index.html").exists()
    [tool] = toolyard("list", "--json", cwd=yard.root).json["tools"]
    assert tool["_meta"]["ui"]["resourceUri"] == "ui://yard/echo"
    assert toolyard("scaffold", "ui", "--tool", "none", cwd=yard.root).code == 2
    assert toolyard("scaffold", "ui", cwd=yard.root).code == 2


def test_mcp_bash_says_how_to_allow_the_tool(tmp_path: Path) -> None:
    done = mcp_bash("new", "demo", cwd=tmp_path)
    assert "mcp-bash run-tool hello --allow-self" in done.out
    assert MCP_BASH not in done.out
