"""Settings: flags over environment over file, and errors that name the place."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.environment import PAGE, page
from tests.cli.program import toolyard
from tests.peers.serving import ROOT
from toolyard.errors import ConfigError
from toolyard.settings import Settings, knobs, load, secret_variables


def written(folder: Path, content: object) -> str:
    path = folder / "toolyard.json"
    path.write_text(json.dumps(content))
    return str(path)


def test_flags_win_over_the_environment_and_the_environment_over_the_file(tmp_path: Path) -> None:
    written(tmp_path, {"pageSize": 1, "idleTimeout": 1, "quiet": True})
    environ = {"MCPBASH_PAGE_SIZE": "2", "MCPBASH_IDLE_TIMEOUT": "2"}
    settings = load(flags={"page_size": 3}, environ=environ, project=str(tmp_path))
    assert (settings.page_size, settings.idle_timeout, settings.quiet) == (3, 2.0, True)


def test_our_own_prefix_wins_over_that_of_mcp_bash() -> None:
    environ = {"MCPBASH_PAGE_SIZE": "nonsense", "TOOLYARD_PAGE_SIZE": "7", "MCP_TOOLS_TTL": "9"}
    settings = load(environ=environ)
    assert (settings.page_size, settings.tools_ttl) == (7, 9.0)
    assert load(environ={"TOOLYARD_TOOLS_TTL": "4"}).tools_ttl == 4


def test_a_limit_that_follows_another_moves_with_it() -> None:
    settings = load(environ={"MCPBASH_MAX_TOOL_OUTPUT_SIZE": "5"})
    assert settings.max_resource_bytes == 5
    assert Settings(max_tool_output_size=5, max_resource_bytes=6).max_resource_bytes == 6


def test_every_problem_is_reported_with_its_place(tmp_path: Path) -> None:
    path = written(tmp_path, {"pageSize": "many", "logLevel": "loud"})
    with pytest.raises(ConfigError) as caught:
        load(environ={"MCPBASH_QUIET": "maybe"}, file=path)
    assert [str(problem) for problem in caught.value.problems] == [
        f"{path}#/pageSize: expected a number, 0 or more, not 'many'",
        f"{path}#/logLevel: expected one of debug, info, notice, warning, error, critical, alert, "
        "emergency, not 'loud'",
        "MCPBASH_QUIET: expected true or false, not 'maybe'",
    ]


def test_an_unknown_key_is_refused_with_the_nearest_name(tmp_path: Path) -> None:
    path = written(tmp_path, {"pageSizes": 3})
    with pytest.raises(ConfigError, match=r"#/pageSizes: .*did you mean 'pageSize'"):
        load(environ={}, file=path)


@pytest.mark.parametrize("content", ["[]", "{", ""])
def test_a_file_that_is_no_object_is_named(tmp_path: Path, content: str) -> None:
    path = tmp_path / "other.json"
    path.write_text(content)
    with pytest.raises(ConfigError, match=r"other\.json"):
        load(environ={}, file=str(path))


def test_a_named_file_that_is_missing_is_an_error_and_the_projects_own_is_not(
    tmp_path: Path,
) -> None:
    assert load(environ={}, project=str(tmp_path)).page_size == 1000
    with pytest.raises(ConfigError, match="cannot be read"):
        load(environ={}, file=str(tmp_path / "none.json"))


def test_a_secret_is_never_shown_in_an_error(tmp_path: Path) -> None:
    path = written(tmp_path, {"remoteToken": ["hush"]})
    with pytest.raises(ConfigError) as caught:
        load(environ={}, file=path)
    assert "hush" not in str(caught.value)


def test_secrets_name_the_variables_that_no_child_may_get() -> None:
    assert secret_variables() == {
        "MCPBASH_REMOTE_TOKEN",
        "TOOLYARD_REMOTE_TOKEN",
        "MCPBASH_TOKENS",
        "TOOLYARD_TOKENS",
        "MCPBASH_STORE",
        "TOOLYARD_STORE",
        "MCPBASH_CLUSTER_KEY",
        "TOOLYARD_CLUSTER_KEY",
        "TOOLYARD_TOKEN",
        "MCP_REGISTRY_TOKEN",
        "TOOLYARD_REGISTRY_TOKEN",
    }


def test_settings_cannot_be_changed() -> None:
    settings = Settings()
    with pytest.raises(AttributeError):
        settings.page_size = 3
    with pytest.raises(TypeError, match="no such setting: pagesize"):
        Settings(pagesize=3)
    assert settings.replace(page_size=3).page_size == 3


@pytest.mark.parametrize("word, level", [("true", "debug"), ("0", "info"), ("warn", "warning")])
def test_log_levels_have_the_short_forms_of_mcp_bash(word: str, level: str) -> None:
    assert load(environ={"MCPBASH_LOG_LEVEL": word}).log_level == level


def test_a_project_can_ask_for_the_debug_level_where_nothing_else_does(tmp_path: Path) -> None:
    (tmp_path / "server.d").mkdir()
    (tmp_path / "server.d/.debug").touch()
    assert load(environ={}, project=str(tmp_path)).log_level == "debug"
    chosen = load(environ={"MCPBASH_LOG_LEVEL": "error"}, project=str(tmp_path))
    assert chosen.log_level == "error"


def test_every_default_is_a_value_that_the_knob_itself_accepts() -> None:
    assert [knob.name for knob in knobs() if knob.kind.parse(knob.default) != knob.default] == []


def test_every_knob_is_read_somewhere() -> None:
    package = ROOT / "src" / "toolyard"
    read = "".join(path.read_text() for path in package.rglob("*.py") if path.name != "table.py")
    asked = {knob.name for knob in knobs() if not re.search(rf"settings\.{knob.name}\b", read)}
    assert asked == {"project_root"}  # looked up before there is a project to have settings


@pytest.mark.parametrize("name", ["MCPBASH_TRANSPORT", "MCPBASH_STATE_DIR", "TOOLYARD_TRANSPORT"])
def test_what_has_no_effect_is_accepted(name: str, tmp_path: Path) -> None:
    server = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    done = toolyard("serve", tmp_path, env={name: "anything"}, stdin=json.dumps(server) + "\n")
    assert (done.code, done.json) == (0, {"jsonrpc": "2.0", "id": 1, "result": {}}), done.err


def test_the_page_of_settings_is_the_one_generated_from_the_table() -> None:
    assert PAGE.read_text(encoding="utf-8") == page()


def test_reading_settings_imports_nothing_heavy() -> None:
    program = "import toolyard.settings as s, sys; s.load(); print(*sys.modules)"
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    heavy = {"asyncio", "inspect", "dataclasses", "orjson", "json", "pathlib", "subprocess"}
    assert not heavy & set(shown.stdout.split())
