"""list, request, registry and health: commands that look and do not call tools."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.cli.conftest import Yard
from tests.cli.program import mcp_bash, toolyard
from toolyard.cli import COMMANDS

pytestmark = pytest.mark.long


def test_a_list_names_and_describes_each_tool(yard: Yard) -> None:
    yard.tool("second-tool", "true", {"description": "Does\nnothing"})
    done = toolyard("list", yard.root)
    assert done.code == 0
    assert done.out == (
        "Tools (2)\n  echo         Gives its arguments back\n  second-tool  Does\\nnothing\n"
    )


def test_a_list_as_json_has_the_definitions(yard: Yard) -> None:
    listed = toolyard("list", "--json", cwd=yard.root).json
    assert [tool["name"] for tool in listed["tools"]] == ["echo"]
    assert listed["tools"][0]["inputSchema"]["properties"] == {"n": {"type": "integer"}}
    assert (listed["resources"], listed["resourceTemplates"], listed["prompts"]) == ([], [], [])


def test_what_is_wrong_with_an_entry_is_said_and_the_rest_is_listed(yard: Yard) -> None:
    yard.tool("broken", "true")
    (yard.root / "tools/broken/tool.meta.json").write_text("{")
    done = toolyard("list", cwd=yard.root)
    assert "echo" in done.out
    assert "broken" not in done.out
    assert "broken/tool.meta.json: is not JSON" in done.err


def test_a_list_outside_of_any_project_says_what_to_do(tmp_path: Path) -> None:
    done = toolyard("list", cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert "to name one:" in done.err and "a folder or registry file" in done.err


def test_a_request_of_any_kind_is_answered(yard: Yard) -> None:
    listed = toolyard("request", "tools/list", cwd=yard.root)
    assert listed.json["_meta"]["mcpbash/total"] == 1
    called = toolyard("request", "tools/call", '{"name":"echo"}', cwd=yard.root)
    assert called.json["structuredContent"] == {}
    wrong = toolyard("request", "no/such", cwd=yard.root)
    assert (wrong.code, wrong.json["code"]) == (1, -32601)


def test_a_refresh_writes_the_registry_and_reports(yard: Yard) -> None:
    done = toolyard("registry", "refresh", "--project-root", yard.root)
    assert done.code == 0
    assert done.json["tools"] == {"status": "ok", "count": 1, "error": None}
    assert (done.json["notificationsSent"], done.json["mode"]) == (False, "full")
    written = json.loads((yard.root / ".registry/tools.json").read_text())
    assert (written["total"], written["items"][0]["name"]) == (1, "echo")


def test_a_quiet_refresh_prints_nothing(yard: Yard) -> None:
    done = toolyard("registry", "refresh", "--quiet", "--no-notify", cwd=yard.root)
    assert (done.code, done.out) == (0, "")
    assert (yard.root / ".registry/tools.json").exists()


def test_a_refresh_can_be_narrowed_to_a_path(yard: Yard) -> None:
    yard.tool("other", "true")
    done = toolyard("registry", "refresh", "--filter", "tools/other", cwd=yard.root)
    assert done.json["tools"]["count"] == 1
    missing = toolyard("registry", "refresh", "--filter", "tools/none", cwd=yard.root)
    assert (missing.code, "tools/none: no such" in missing.err) == (2, True)


def test_a_registry_that_is_too_large_fails_the_refresh(yard: Yard) -> None:
    env = {"MCPBASH_REGISTRY_MAX_BYTES": "10"}
    done = toolyard("registry", "refresh", "--quiet", cwd=yard.root, env=env)
    assert (done.code, done.json["tools"]["status"]) == (1, "failed")
    assert "exceeds 10 bytes" in done.json["tools"]["error"]


def test_the_status_tells_missing_from_present(yard: Yard) -> None:
    before = toolyard("registry", "status", cwd=yard.root).json
    assert (before["projectRoot"], before["tools"]["status"]) == (str(yard.root), "missing")
    toolyard("registry", "refresh", cwd=yard.root)
    after = toolyard("registry", "status", cwd=yard.root).json["tools"]
    written = json.loads((yard.root / ".registry/tools.json").read_text())
    assert (after["status"], after["count"], after["hash"]) == ("present", 1, written["hash"])


def test_a_broken_registry_file_counts_as_missing(yard: Yard) -> None:
    yard.write(".registry/tools.json", "{")
    assert toolyard("registry", "status", cwd=yard.root).json["tools"]["status"] == "missing"


@pytest.mark.parametrize("spelling", ["health", "--health", "--ready", "ready"])
def test_a_healthy_project_says_so_and_stays_untouched(yard: Yard, spelling: str) -> None:
    before = sorted(os.listdir(yard.root))
    done = mcp_bash(spelling, "--project-root", yard.root)
    assert (done.code, done.json["status"]) == (0, "ok")
    assert {done.json[kind] for kind in ("tools", "resources", "prompts")} == {"ok"}
    assert sorted(os.listdir(yard.root)) == before


def test_checks_of_the_project_can_fail_its_health(yard: Yard) -> None:
    checks = "mcp_health_check_command bash\nmcp_health_check_env NOT_SET 'set NOT_SET'\n"
    yard.write("server.d/health-checks.sh", checks)
    done = toolyard("health", cwd=yard.root)
    assert (done.code, done.json["status"], done.json["projectChecks"]) == (1, "failed", "failed")
    assert done.err == "set NOT_SET\n"
    assert toolyard("health", cwd=yard.root, env={"NOT_SET": "x"}).code == 0


def test_checks_that_hang_are_ended(yard: Yard) -> None:
    yard.write("server.d/health-checks.sh", "sleep 60\n")
    done = toolyard("health", "--timeout", "0.2", cwd=yard.root)
    assert (done.code, "did not end" in done.err) == (1, True)


def test_checks_that_others_may_write_are_not_run(yard: Yard) -> None:
    yard.write("server.d/health-checks.sh", "touch ran\n").chmod(0o666)
    assert toolyard("health", cwd=yard.root).code == 1
    assert not (yard.root / "ran").exists()


def test_no_project_is_not_healthy(tmp_path: Path) -> None:
    done = toolyard("health", cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert "toolyard new NAME" in done.err


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_every_command_has_help_under_both_names(command: str) -> None:
    for program, name in ((toolyard, "toolyard"), (mcp_bash, "mcp-bash")):
        done = program(command, "--help")
        assert done.code == 0
        assert done.out.startswith(f"usage: {name} {command}")


def test_an_unknown_command_is_a_usage_error() -> None:
    done = toolyard("lisst")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("Unknown command: lisst (did you mean 'list'?)\n")


def test_a_folder_with_a_registry_alone_is_a_project_for_every_command(tmp_path: Path) -> None:
    (tmp_path / "registry.json").write_text("{}")
    assert toolyard("scaffold", "tool", "fresh", cwd=tmp_path).code == 0
    for words in ("list", "run-tool fresh", "request tools/list", "validate", "health", "config"):
        done = toolyard(*words.split(), cwd=tmp_path)
        assert done.code == 0, (words, done.err)
    assert "fresh" in toolyard("list", cwd=tmp_path).out


def test_a_registry_is_named_the_same_way_by_every_command(yard: Yard, tmp_path: Path) -> None:
    registry = tmp_path / "more.json"
    yard.write("../more.json", {"tools": [{"name": "again", "source": "echo"}]})
    called = toolyard("run-tool", "again", "--registry", registry, cwd=yard.root)
    assert called.json["structuredContent"] == {}
    for words in ("list", "request tools/list", "registry show"):
        done = toolyard(
            *words.split(), "--registry", registry, "--project-root", yard.root, cwd=tmp_path
        )
        assert (done.code, "again" in done.out) == (0, True), (words, done.err)
    missing = toolyard("list", "--registry", "none.json", cwd=yard.root)
    assert (missing.code, missing.err) == (2, "none.json: no such file\n")
