"""Where the files of clients are, on each system and wherever users have moved them."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolyard.clients.machine import Machine, System
from toolyard.clients.table import CLIENTS


@pytest.mark.parametrize(
    ("client", "system", "path"),
    [
        ("vscode", "linux", ".config/Code/User/mcp.json"),
        ("vscode", "macos", "Library/Application Support/Code/User/mcp.json"),
        ("vscode", "windows", "AppData/Roaming/Code/User/mcp.json"),
        ("zed", "macos", ".config/zed/settings.json"),
        ("zed", "windows", "AppData/Roaming/Zed/settings.json"),
        ("goose", "macos", ".config/goose/config.yaml"),
        ("goose", "windows", "AppData/Roaming/Block/goose/config/config.yaml"),
        ("opencode", "windows", ".config/opencode/opencode.jsonc"),
        ("crush", "windows", ".config/crush/crush.json"),
        ("devin", "linux", ".config/devin/mcp_config.json"),
        ("devin", "windows", "AppData/Roaming/devin/mcp_config.json"),
        ("claude-code", "windows", ".claude.json"),
    ],
)
def test_each_system_has_its_own_places(
    tmp_path: Path, client: str, system: System, path: str
) -> None:
    assert Machine(str(tmp_path), system).file_of(CLIENTS[client]) == str(tmp_path / path)


@pytest.mark.parametrize(
    ("client", "variable", "path"),
    [
        ("codex", "CODEX_HOME", "x/config.toml"),
        ("claude-code", "CLAUDE_CONFIG_DIR", "x/.claude.json"),
        ("zed", "XDG_CONFIG_HOME", "x/zed/settings.json"),
        ("goose", "GOOSE_PATH_ROOT", "x/config/config.yaml"),
        ("opencode", "OPENCODE_CONFIG", "x"),
        ("cline", "CLINE_MCP_SETTINGS_PATH", "x"),
    ],
)
def test_a_variable_moves_a_file_unless_it_is_empty(
    tmp_path: Path, client: str, variable: str, path: str
) -> None:
    moved = Machine(str(tmp_path), "linux", {variable: str(tmp_path / "x")})
    assert moved.file_of(CLIENTS[client]) == str(tmp_path / path)
    still = Machine(str(tmp_path), "linux", {variable: ""})
    assert still.file_of(CLIENTS[client]) == Machine(str(tmp_path)).file_of(CLIENTS[client])


@pytest.mark.parametrize(
    ("client", "system", "path"),
    [
        ("claude-desktop", "linux", ".config/claude/claude_desktop_config.json"),
        (
            "claude-desktop",
            "windows",
            "AppData/Local/Packages/Claude_pzs8sxrjxfjjc/LocalCache/Roaming/Claude/"
            "claude_desktop_config.json",
        ),
        ("opencode", "linux", ".config/opencode/config.json"),
        ("kilo", "linux", ".config/kilo/opencode.json"),
        ("antigravity", "linux", ".gemini/antigravity/mcp_config.json"),
        ("amp", "linux", ".config/amp/settings.jsonc"),
        (
            "cline",
            "linux",
            ".config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/"
            "cline_mcp_settings.json",
        ),
    ],
)
def test_of_several_places_the_file_that_is_there_is_taken(
    tmp_path: Path, client: str, system: System, path: str
) -> None:
    file = tmp_path / path
    file.parent.mkdir(parents=True)
    file.write_text("{}")
    assert Machine(str(tmp_path), system).file_of(CLIENTS[client]) == str(file)


def test_a_folder_without_a_file_is_enough(tmp_path: Path) -> None:
    (tmp_path / ".config" / "claude").mkdir(parents=True)
    machine = Machine(str(tmp_path))
    place = tmp_path / ".config" / "claude" / "claude_desktop_config.json"
    assert machine.file_of(CLIENTS["claude-desktop"]) == str(place)
    assert machine.has(CLIENTS["claude-desktop"])
    assert not machine.has(CLIENTS["cursor"])


def test_lm_studio_says_itself_where_it_lives(tmp_path: Path) -> None:
    (tmp_path / ".lmstudio-home-pointer").write_text(f"{tmp_path}/models\n")
    path = Machine(str(tmp_path)).file_of(CLIENTS["lmstudio"])
    assert path == str(tmp_path / "models" / "mcp.json")
