"""The commands as wrappers, CI jobs and terminals of mcp-bash's users call them."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import MCP_BASH, mcp_bash, toolyard
from tests.hooks.yard import Yard
from tests.mcp_bash.conftest import lines_of
from tests.peers.serving import environment

HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {}}
INITIALIZE = {"id": 1, "method": "initialize", "params": HELLO}
CLIENTS = ["Claude Desktop", "Cursor", "Claude CLI", "Windsurf", "LibreChat"]


@pytest.fixture
def on_path(tmp_path: Path) -> dict[str, str]:
    """An environment in which the command `mcp-bash` is this checkout's."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "mcp-bash"
    program.write_text(f"#!/bin/sh\nexec {sys.executable} -c '{MCP_BASH}' \"$@\"\n")
    program.chmod(0o755)
    return {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


def bash(script: Path, *flags: str, env: dict[str, str], stdin: str = "") -> Any:
    return subprocess.run(
        ["bash", str(script), *flags],
        env=environment(env),
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
        cwd="/",
    )


def test_the_version_is_that_of_the_contract(yard: Yard) -> None:
    assert re.match(r"mcp-bash 1\.3\.0( |$)", mcp_bash("--version").out)
    assert toolyard("--version").out.startswith("toolyard 0.")
    yard.tool("tells", 'printf "%s" "$MCPBASH_FRAMEWORK_VERSION"')
    assert mcp_bash("run-tool", "tells", "--allow-self", cwd=yard.root).text == "1.3.0"
    assert mcp_bash("doctor", "--min-version", "1.3.0", cwd=yard.root).code == 0
    assert mcp_bash("doctor", "--min-version", "1.3.1", cwd=yard.root).code == 1


def test_every_client_has_a_block_of_its_own(yard: Yard) -> None:
    blocks = mcp_bash("config", cwd=yard.root).out.split("# ")
    shown = {
        name: json.loads(text)
        for name, _, text in (block.partition("\n") for block in blocks if block)
    }
    assert list(shown) == CLIENTS
    env = {"MCPBASH_PROJECT_ROOT": str(yard.root), "MCPBASH_TOOL_ALLOWLIST": "*"}
    for name in ("Claude Desktop", "Cursor", "Windsurf"):
        assert shown[name]["mcpServers"]["yard"]["env"] == env
    for name in ("Claude CLI", "LibreChat"):
        assert (shown[name]["name"], shown[name]["env"]) == ("yard", env)
        assert shown[name]["command"].endswith("mcp-bash")


@pytest.mark.parametrize(
    "client", ["claude-desktop", "cursor", "claude-cli", "windsurf", "librechat"]
)
def test_what_a_client_gets_is_json(yard: Yard, client: str) -> None:
    assert mcp_bash("config", "--client", client, cwd=yard.root).json


def test_the_inspector_is_told_the_project_and_what_may_run(yard: Yard) -> None:
    line = mcp_bash("config", "--inspector", cwd=yard.root).out
    words = shlex.split(line)
    assert words[:-1] == [
        *("npx", "@modelcontextprotocol/inspector"),
        *("-e", f"MCPBASH_PROJECT_ROOT={yard.root}", "-e", "MCPBASH_TOOL_ALLOWLIST=*"),
        *("--transport", "stdio", "--"),
    ]
    assert words[-1].endswith("/mcp-bash")
    assert line in mcp_bash("validate", "--inspector", cwd=yard.root).out


@pytest.mark.parametrize("flag", ["--wrapper", "--wrapper-env"])
def test_a_wrapper_finds_the_project_that_it_lies_in(
    yard: Yard, tmp_path: Path, on_path: dict[str, str], flag: str
) -> None:
    script = mcp_bash("config", flag, cwd=yard.root).out
    assert str(yard.root) not in script
    (yard.root / "start.sh").write_text(script)
    moved = yard.root.rename(tmp_path / "moved elsewhere")
    call = {"id": 2, "method": "tools/call", "params": {"name": "hello"}}
    ready = {"method": "notifications/initialized"}
    for allowed, failed in (({}, False), ({"MCPBASH_TOOL_ALLOWLIST": "other"}, True)):
        talk = lines_of(INITIALIZE, ready, call)
        done = bash(moved / "start.sh", env={**on_path, **allowed}, stdin=talk)
        answers = {each.get("id"): each for each in map(json.loads, done.stdout.splitlines())}
        assert answers[1]["result"]["serverInfo"]["name"] == "yard", done.stderr
        assert ("error" in answers[2]) is failed, answers[2]


@pytest.mark.parametrize("variable", ["MCPBASH_PROJECT_ROOT", "TOOLYARD_PROJECT_ROOT"])
def test_an_empty_variable_is_an_unset_one(yard: Yard, variable: str) -> None:
    env = {"MCPBASH_PROJECT_ROOT": "", "MCPBASH_TOOLS_DIR": "", variable: ""}
    done = mcp_bash("run-tool", "hello", "--allow-self", cwd=yard.root, env=env)
    assert done.text == "hi\n"


def test_an_empty_variable_outside_of_a_project_serves_the_getting_started_one(
    tmp_path: Path,
) -> None:
    listed = {"id": 2, "method": "tools/list"}
    talk = lines_of(INITIALIZE, {"method": "notifications/initialized"}, listed)
    done = mcp_bash(cwd=tmp_path, env={"MCPBASH_PROJECT_ROOT": ""}, stdin=talk)
    assert done.code == 0 and '"getting_started"' in done.out


PROJECT_COMMANDS = [
    *("validate", "config", "bundle", "health", "list", "scaffold tool x", "registry status"),
    *("registry refresh", "run-tool x", "run-tool x --with-server-env", "request tools/list"),
]


@pytest.mark.parametrize("command", PROJECT_COMMANDS)
def test_without_a_project_it_is_said_where_it_was_looked_for(tmp_path: Path, command: str) -> None:
    done = mcp_bash(*command.split(), cwd=tmp_path)
    assert done.code != 0
    assert done.err.splitlines()[0].startswith("No MCP project found")
    assert "server.d/server.meta.json" in done.err
    assert "mcp-bash init" in done.err and "mcp-bash new NAME" in done.err
    assert "toolyard" not in done.err


def test_a_root_that_is_missing_is_said_to_be(tmp_path: Path) -> None:
    done = mcp_bash("validate", "--project-root", tmp_path / "no")
    assert (done.code, done.err) == (2, f"{tmp_path}/no: does not exist\n")
    done = mcp_bash("validate", env={"MCPBASH_PROJECT_ROOT": str(tmp_path / "no")})
    assert done.err == f"{tmp_path}/no: does not exist\n"


def test_init_completes_a_project_and_keeps_what_it_has(tmp_path: Path) -> None:
    root = tmp_path / "mine"
    (root / "server.d").mkdir(parents=True)
    meta = root / "server.d/server.meta.json"
    meta.write_text('{"name":   "kept"}')
    (root / ".gitignore").write_text("*.log\nbuild/")
    done = mcp_bash("init", cwd=root)
    assert (done.code, "Kept server.d/server.meta.json" in done.out) == (0, True)
    assert meta.read_text() == '{"name":   "kept"}'
    ignored = (root / ".gitignore").read_text()
    assert ignored == "*.log\nbuild/\n.registry/\n.DS_Store\nThumbs.db\n"
    assert mcp_bash("run-tool", "hello", "--allow-self", cwd=root).code == 0
    assert mcp_bash("init", "--no-hello", cwd=root).code == 0
    assert (root / ".gitignore").read_text() == ignored


def test_init_without_hello_makes_the_folders_alone(tmp_path: Path) -> None:
    assert mcp_bash("init", "--no-hello", "--name", "x", cwd=tmp_path).code == 0
    assert sorted(os.listdir(tmp_path)) == [
        *(".gitignore", "prompts", "resources", "server.d", "tools")
    ]
    assert os.listdir(tmp_path / "tools") == []


def test_new_projects_ignore_the_same_four(tmp_path: Path) -> None:
    mcp_bash("new", "made", cwd=tmp_path)
    ignored = (tmp_path / "made/.gitignore").read_text().splitlines()
    assert set(ignored) >= {".registry/", "*.log", ".DS_Store", "Thumbs.db"}
    assert "mcp-bash run-tool hello" in (tmp_path / "made/README.md").read_text()


def test_environment_files_decide_how_the_tool_is_run(yard: Yard, tmp_path: Path) -> None:
    yard.tool("tells", 'printf "%s" "${POLICY_TEST_VAR:-unset}"')
    yard.write(
        "server.d/env.sh",
        "export MCPBASH_TOOL_ENV_MODE=allowlist MCPBASH_TOOL_ENV_ALLOWLIST=POLICY_TEST_VAR\n",
    )
    env = {"POLICY_TEST_VAR": "seen", "MCPBASH_PROJECT_ROOT": str(yard.root)}
    flags = ["--allow-self", "--with-server-env", "--verbose"]
    told = mcp_bash("run-tool", "tells", *flags, cwd=tmp_path, env=env)
    assert told.text == "seen"
    assert f"{yard.root}/server.d/env.sh" in told.err
    assert mcp_bash("run-tool", "tells", "--allow-self", cwd=tmp_path, env=env).text == "unset"


def test_a_relative_environment_file_belongs_to_the_project(yard: Yard, tmp_path: Path) -> None:
    yard.tool("tells", 'printf "%s" "$MCPBASH_MINE"')
    yard.write("conf/mine.sh", "MCPBASH_MINE=1\n")
    flags = ["--allow-self", "--project-root", str(yard.root), "--source"]
    assert mcp_bash("run-tool", "tells", *flags, "conf/mine.sh", cwd=tmp_path).text == "1"
    missing = mcp_bash("run-tool", "tells", *flags, "conf/no.sh", cwd=tmp_path)
    assert missing.code != 0
    assert missing.err == f"run-tool: env file not found: {yard.root}/conf/no.sh\n"


def test_a_project_without_an_environment_file_has_none_to_read(yard: Yard) -> None:
    done = mcp_bash("run-tool", "hello", "--allow-self", "--with-server-env", cwd=yard.root)
    assert (done.code, done.text) == (0, "hi\n")


def test_printing_the_environment_runs_nothing(yard: Yard) -> None:
    yard.write("server.d/env.sh", f"touch {yard.root}/ran\n").chmod(0o644)
    env = {"MCPBASH_ALLOW_PROJECT_HOOKS": "true"}
    done = mcp_bash("run-tool", "hello", "--print-env", "--with-server-env", cwd=yard.root, env=env)
    assert (done.code, "MCP_TOOL_NAME=hello" in done.out) == (0, True)
    assert not (yard.root / "ran").exists()


def test_scaffolded_tests_run_with_the_program_that_made_them(
    yard: Yard, on_path: dict[str, str]
) -> None:
    assert mcp_bash("scaffold", "tool", "fresh", cwd=yard.root).code == 0
    smoke = yard.root / "tools/fresh/smoke.sh"
    assert bash(smoke, env=on_path).stdout == "ok: tool fresh\n"
    other = {**on_path, "MCPBASH_BIN": "/nowhere/mcp-bash"}
    assert bash(smoke, env=other).returncode == 1
    yard.script("tools/fresh/tool.sh", "echo out of order; exit 3")
    failed = bash(smoke, env=on_path)
    assert failed.returncode == 1 and "out of order" in failed.stderr


def test_the_scaffolded_runner_tests_all_and_says_why_not(
    yard: Yard, on_path: dict[str, str]
) -> None:
    assert mcp_bash("scaffold", "test", cwd=yard.root).code == 0
    runner = yard.root / "test/run.sh"
    assert os.access(runner, os.X_OK) and (yard.root / "test/README.md").is_file()
    again = mcp_bash("scaffold", "test", cwd=yard.root)
    assert again.code == 2 and "test/README.md: already exists" in again.err
    assert "there is nothing to test" in bash(runner, env=on_path).stdout
    mcp_bash("scaffold", "tool", "fresh", cwd=yard.root)
    assert bash(runner, "--verbose", env=on_path).stdout.count("ok: tool fresh") == 1
    yard.write("tools/odd/tool.meta.json", "{")
    refused = bash(runner, env=on_path)
    assert refused.returncode == 1 and "invalid JSON" in refused.stderr
    assert "ok: tool fresh" in bash(runner, "--force", env=on_path).stdout


def test_the_status_of_the_registry_dates_files_in_seconds(yard: Yard) -> None:
    mcp_bash("registry", "refresh", cwd=yard.root)
    shown = mcp_bash("registry", "status", cwd=yard.root).json["tools"]
    assert shown["mtime"] == int((yard.root / ".registry/tools.json").stat().st_mtime)


def test_the_doctor_counts_and_mends(yard: Yard) -> None:
    script = yard.root / "tools/hello/tool.sh"
    script.chmod(0o644)
    sick = mcp_bash("doctor", "--json", cwd=yard.root).json
    assert (sick["schemaVersion"], sick["errors"], sick["warnings"]) == (1, 1, 1)
    would = mcp_bash("doctor", "--json", "--dry-run", cwd=yard.root).json
    assert len(would["proposedActions"]) == 1 and not os.access(script, os.X_OK)
    done = mcp_bash("doctor", "--json", "--fix", cwd=yard.root).json
    assert (len(done["actionsTaken"]), done["errors"]) == (1, 0)
    assert os.access(script, os.X_OK)


@pytest.mark.parametrize("variable", ["TMPDIR", "MCPBASH_TMP_ROOT"])
def test_a_missing_temporary_folder_is_made(yard: Yard, tmp_path: Path, variable: str) -> None:
    place = tmp_path / "not/yet"
    yard.tool("makes", 'mktemp >/dev/null && echo "$TMPDIR"')
    env = {"TMPDIR": str(tmp_path / "also/missing"), variable: str(place)}
    done = mcp_bash("run-tool", "makes", "--allow-self", cwd=yard.root, env=env)
    assert (done.code, place.stat().st_mode & 0o777) == (0, 0o700), done.out
    assert mcp_bash("doctor", "--json", cwd=yard.root, env=env).json["errors"] == 0


def test_ci_mode_writes_down_what_failed_and_where(yard: Yard, tmp_path: Path) -> None:
    yard.tool("fails", "echo why >&2; exit 4")
    yard.tool("hangs", "sleep 9", timeoutSecs=1)
    logs = tmp_path / "logs"
    env = {"MCPBASH_CI_MODE": "true", "MCPBASH_LOG_DIR": str(logs), "MY_SECRET": "hidden-value"}
    for tool in ("fails", "hangs", "hello"):
        flags = ["--allow-self", "--args", '{"a": 1}']
        mcp_bash("run-tool", tool, *flags, cwd=yard.root, env=env)
    lines = (logs / "failure-summary.jsonl").read_text().splitlines()
    first, second = map(json.loads, lines)
    assert (first["tool"], first["exitCode"], first["timedOut"]) == ("fails", 4, False)
    assert (first["stderrTail"], first["argCount"], first["argBytes"]) == ("why", 1, 7)
    assert (second["tool"], second["exitCode"], second["timedOut"]) == ("hangs", 124, True)
    assert re.fullmatch("[0-9a-f]{64}", first["argHash"])
    snapshot = json.loads((logs / "env-snapshot.json").read_text())
    assert set(snapshot) == {
        *("bashVersion", "os", "cwd", "pathBytes", "envBytes", "jsonTool", "jsonToolBin")
    }
    assert "hidden-value" not in "".join(path.read_text() for path in logs.iterdir())
