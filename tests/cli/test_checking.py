"""validate, doctor and config: what they find, mend and print."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Yard
from tests.cli.program import mcp_bash, toolyard
from tests.peers.serving import environment


def levels(yard: Yard, *flags: str) -> dict[str, str]:
    """level by message, without the folder's name."""
    said = toolyard("validate", "--json", *flags, cwd=yard.root).json["messages"]
    return {one["message"].replace(f"{yard.root}/", ""): one["level"] for one in said}


def test_a_good_project_is_valid(yard: Yard) -> None:
    done = toolyard("validate", "--strict", cwd=yard.root)
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        "✓ server.d/server.meta.json - yard 1.2.3\n✓ tools/echo/tool.sh - tool echo\n"
        "0 errors, 0 warnings\n"
    )


def test_metadata_that_is_not_json_is_an_error_once(yard: Yard) -> None:
    yard.tool("broken", "true")
    yard.write("tools/broken/tool.meta.json", "{ // comment\n}")
    done = toolyard("validate", cwd=yard.root)
    assert done.code == 1
    assert done.err.startswith("✗ tools/broken/tool.meta.json - invalid JSON")
    assert done.err.count("broken") == 1


def test_a_schema_that_is_none_is_an_error(yard: Yard) -> None:
    yard.tool("odd", "true", {"description": "x", "inputSchema": {"type": "objekt"}})
    found = levels(yard)
    [message] = [text for text in found if "inputSchema" in text]
    assert found[message] == "error"
    assert "tools/odd/tool.sh - inputSchema is not a JSON Schema" in message


def test_what_metadata_says_wrong_has_its_place_and_line(yard: Yard) -> None:
    yard.tool("odd", "true")
    meta = '{"name": "odd",\n "descripton": "x",\n "timeoutSecs": [5], "own": 1}'
    yard.write("tools/odd/tool.meta.json", meta)
    yard.write("server.d/server.meta.json", '{"name": "yard",\n "version": 1.2,\n "titel": "x"}')
    messages, place = levels(yard), "tools/odd/tool.meta.json - "
    near = 'unknown key, ignored (did you mean "description"?)'
    assert messages[f"{place}#/timeoutSecs: must be a number (line 3)"] == "warning"
    assert messages[f"{place}#/descripton: {near}"] == "warning"
    assert not [message for message in messages if "#/own" in message]
    server = "server.d/server.meta.json - "
    assert messages[f"{server}#/version: must be text (line 2)"] == "error"
    near = 'unknown key, ignored (did you mean "title"?)'
    assert messages[f"{server}#/titel: {near}"] == "warning"


def test_a_missing_description_is_a_warning_that_strict_fails(yard: Yard) -> None:
    yard.tool("terse", "true")
    assert toolyard("validate", cwd=yard.root).code == 0
    assert toolyard("validate", "--strict", cwd=yard.root).code == 1


def test_permissions_are_mended_on_request(yard: Yard) -> None:
    script = yard.root / "tools/echo/tool.sh"
    script.chmod(0o666)
    assert toolyard("validate", cwd=yard.root).code == 1
    assert script.stat().st_mode & 0o777 == 0o666
    report = toolyard("validate", "--fix", "--json", cwd=yard.root)
    assert (report.code, report.json["fixesApplied"], report.json["errors"]) == (0, 2, 0)
    assert script.stat().st_mode & 0o777 == 0o755


def test_the_report_for_programs_is_complete(yard: Yard) -> None:
    report = toolyard("validate", "--json", cwd=yard.root).json
    assert report == {
        "projectRoot": str(yard.root),
        "errors": 0,
        "warnings": 0,
        "fixesApplied": 0,
        "strict": False,
        "defaults": {"name": "yard", "title": "Yard", "version": "1.2.3"},
        "messages": [
            {
                "level": "info",
                "section": "server",
                "message": "server.d/server.meta.json - yard 1.2.3",
            },
            {"level": "info", "section": "tools", "message": "tools/echo/tool.sh - tool echo"},
        ],
    }


def test_a_project_without_metadata_is_warned_of(yard: Yard) -> None:
    os.unlink(yard.root / "server.d/server.meta.json")
    done = toolyard("validate", "--project-root", yard.root)
    assert "⚠ server.d/server.meta.json - is missing" in done.out


def test_the_doctor_reports_on_machine_and_project(yard: Yard) -> None:
    done = toolyard("doctor", "--json", cwd=yard.root)
    found = {one["id"]: one["severity"] for one in done.json["findings"]}
    assert (done.code, done.json["exitCode"], done.json["schemaVersion"]) == (0, 0, 1)
    assert found["bash"] == found["tmp"] == found["project"] == "ok"
    assert done.json["project"] == {"root": str(yard.root)}


def test_the_doctor_finds_a_machine_without_bash(yard: Yard, tmp_path: Path) -> None:
    done = toolyard("doctor", "--json", cwd=yard.root, env={"PATH": str(tmp_path)})
    found = {one["id"]: one["severity"] for one in done.json["findings"]}
    assert (done.code, found["bash"], found["jq"]) == (1, "error", "info")


def test_the_doctor_finds_a_place_that_takes_no_files(yard: Yard) -> None:
    env = {"MCPBASH_TMP_ROOT": "/proc/nowhere"}
    done = toolyard("doctor", cwd=yard.root, env=env)
    assert done.code == 1
    assert "✗ /proc/nowhere cannot hold temporary folders" in done.out


def test_the_doctor_knows_that_mcp_bash_denies_by_default(yard: Yard) -> None:
    assert "every call is denied" in mcp_bash("doctor", cwd=yard.root).out
    assert "denied" not in toolyard("doctor", cwd=yard.root).out


def test_the_doctor_works_without_a_project(tmp_path: Path) -> None:
    done = toolyard("doctor", cwd=tmp_path)
    assert (done.code, "there is no project here" in done.out) == (0, True)


def test_the_configuration_starts_the_server_of_this_project(yard: Yard) -> None:
    shown = toolyard("config", "--json", cwd=yard.root).json
    assert shown["name"] == "yard"
    assert shown["args"][-2:] == ["serve", str(yard.root)]
    assert os.access(shown["command"], os.X_OK)


def test_mcp_bash_is_configured_by_environment(yard: Yard) -> None:
    shown = mcp_bash("config", "--json", cwd=yard.root).json
    assert shown["env"] == {
        "MCPBASH_PROJECT_ROOT": str(yard.root),
        "MCPBASH_TOOL_ALLOWLIST": "*",
    }


@pytest.mark.parametrize("client", ["claude-desktop", "cursor", "windsurf"])
def test_clients_with_mcp_servers_get_an_entry(yard: Yard, client: str) -> None:
    shown = toolyard("config", "--client", client, cwd=yard.root)
    entry = json.loads(shown.out)["mcpServers"]["yard"]
    assert entry["args"][-2:] == ["serve", str(yard.root)]
    assert shown.err.startswith("Put it into ")


def test_other_clients_get_what_they_read(yard: Yard) -> None:
    code = toolyard("config", "--client", "vscode", cwd=yard.root).json
    assert code["servers"]["yard"]["type"] == "stdio"
    chat = toolyard("config", "--client", "librechat", cwd=yard.root).out
    assert chat.startswith('mcpServers:\n  yard:\n    type: "stdio"\n')
    terminal = toolyard("config", "--client", "claude-cli", cwd=yard.root).out
    assert terminal.startswith("claude mcp add --transport stdio yard -- ")


def test_an_unknown_client_is_a_usage_error(yard: Yard) -> None:
    assert toolyard("config", "--client", "nobody", cwd=yard.root).code == 2


@pytest.mark.parametrize("flag", ["--wrapper", "--wrapper-env"])
def test_the_wrapper_serves_the_project(yard: Yard, tmp_path: Path, flag: str) -> None:
    wrapper = tmp_path / "wrapper"
    wrapper.write_text(toolyard("config", flag, cwd=yard.root).out)
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {}}
    request = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
    done = subprocess.run(
        ["bash", str(wrapper)],
        cwd=tmp_path,
        env=environment(),
        input=json.dumps(request) + "\n",
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert json.loads(done.stdout)["result"]["serverInfo"]["name"] == "yard"
