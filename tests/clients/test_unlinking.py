"""Files that have changed since they were linked."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.clients.conftest import LOCAL, REMOTE, Desk
from tests.clients.samples import URL
from toolyard.clients.entries import Remote
from toolyard.clients.linking import ClientFile
from toolyard.clients.table import CLIENTS
from toolyard.errors import ConfigError

COMMENTED = '{\n  // mine\n  "mcpServers": {\n    "other": {"command": "x"} // last\n  }\n}\n'


def file_with(desk: Desk, client: str, text: str) -> tuple[ClientFile, Path]:
    file = desk.file(CLIENTS[client])
    path = Path(file.path)
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return file, path


def test_what_others_have_changed_elsewhere_stays(desk: Desk) -> None:
    file, path = file_with(desk, "cursor", COMMENTED)
    desk.link(file)
    path.write_text(path.read_text().replace("// mine", "// mine, and this"))
    desk.unlink(file)
    assert path.read_text() == COMMENTED.replace("// mine", "// mine, and this")


def test_a_sibling_that_came_meanwhile_stays(desk: Desk) -> None:
    file, path = file_with(desk, "cursor", "{}")
    desk.link(file)
    document = path.read_text().replace('{"demo"', '{"new": {"command": "y"}, "demo"')
    path.write_text(document)
    desk.unlink(file)
    assert json.loads(path.read_text()) == {"mcpServers": {"new": {"command": "y"}}}


@pytest.mark.parametrize("extra", [{}, {"disabled": False}, {"autoApprove": [], "tools": ["a"]}])
def test_an_entry_that_the_client_has_written_anew_is_taken_out(
    desk: Desk, extra: dict[str, Any]
) -> None:
    file, path = file_with(desk, "cursor", '{"theme": 1}')
    desk.link(file)
    document = json.loads(path.read_text())
    document["mcpServers"]["demo"] |= extra
    document["mcpServers"]["demo"].pop("type")
    path.write_text(json.dumps(document, indent=8))
    desk.unlink(file)
    assert json.loads(path.read_text()) == {"theme": 1}


def test_an_entry_whose_client_has_written_the_token_into_it_is_taken_out(desk: Desk) -> None:
    """Gemini CLI and Qwen Code do so when they add a server themselves."""
    file, path = file_with(desk, "gemini", "{}")
    desk.link(file, REMOTE)
    document = json.loads(path.read_text())
    document["mcpServers"]["demo"]["headers"]["Authorization"] = "Bearer s3cr3t"
    document["mcpServers"]["other"] = {"command": "x"}
    path.write_text(json.dumps(document, indent=2))
    desk.unlink(file)
    assert json.loads(path.read_text()) == {"mcpServers": {"other": {"command": "x"}}}


def test_a_file_of_ours_that_the_client_has_written_anew_is_removed(desk: Desk) -> None:
    for client, dump in (("cursor", json.dumps), ("goose", yaml.safe_dump)):
        file = desk.file(CLIENTS[client])
        desk.link(file)
        loaded = yaml.safe_load(Path(file.path).read_text())
        Path(file.path).write_text(dump(loaded))
        desk.unlink(file)
        assert desk.tree() == set(), client


def test_toml_that_codex_has_written_anew_loses_the_table_and_its_sub_tables(desk: Desk) -> None:
    file, path = file_with(desk, "codex", "model = 'x'\n")
    desk.link(file)
    table = 'args = [\n  "serve",\n  "/srv/demo",\n]\ncommand = "/opt/bin/toolyard"\n'
    path.write_text(
        f"[mcp_servers.a]\ncommand = 'a'\n\n[mcp_servers.demo]\n{table}\n# of b\n[b]\nc = 1\n"
    )
    desk.unlink(file)
    assert path.read_text() == "[mcp_servers.a]\ncommand = 'a'\n\n\n# of b\n[b]\nc = 1\n"
    assert tomllib.loads(path.read_text())["b"] == {"c": 1}


def test_an_entry_that_was_edited_by_hand_is_taken_out_only_by_force(desk: Desk) -> None:
    file, path = file_with(desk, "cursor", "{}")
    desk.link(file)
    path.write_text(path.read_text().replace("/srv/demo", "/srv/mine"))
    before = path.read_bytes()
    with pytest.raises(ConfigError, match="edited since it was linked; --force"):
        desk.unlink(file)
    assert path.read_bytes() == before
    desk.unlink(file, force=True)
    assert "/srv/mine" not in path.read_text()


def test_an_entry_or_file_that_is_gone_is_forgotten(desk: Desk) -> None:
    file, path = file_with(desk, "cursor", "{}")
    desk.link(file)
    path.write_text('{"mcpServers": {}}')
    desk.unlink(file)
    assert path.read_text() == '{"mcpServers": {}}'
    desk.link(file)
    path.unlink()
    desk.unlink(file)
    assert not path.exists()
    assert list(desk.records.all()) == []


def test_a_file_that_was_broken_meanwhile_is_left_alone(desk: Desk) -> None:
    file, path = file_with(desk, "cursor", "{}")
    desk.link(file)
    path.write_text("{oops")
    with pytest.raises(ConfigError, match="is not JSON"):
        desk.unlink(file)
    assert path.read_text() == "{oops"
    assert len(list(desk.records.all())) == 1


@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")])
@pytest.mark.parametrize("client", ["cursor", "codex", "vibe", "goose", "continue"])
def test_two_links_are_taken_out_in_any_order(
    desk: Desk, client: str, order: tuple[str, str]
) -> None:
    file = desk.file(CLIENTS[client])
    for name in ("a", "b"):
        desk.link(file, name=name)
    for name in order:
        desk.unlink(file, name)
    # A folder with a backup in it stays.
    assert [path for path in desk.tree() if (desk.home / path).is_file()] == []


def test_a_link_to_another_server_takes_the_place_of_the_first(desk: Desk) -> None:
    file, path = file_with(desk, "cursor", COMMENTED)
    desk.link(file, LOCAL)
    desk.link(file, REMOTE)
    assert f'"url": "{URL}"' in path.read_text() and "/srv/demo" not in path.read_text()
    desk.link(file, Remote("https://example.com/mcp"))
    desk.unlink(file)
    assert path.read_text() == COMMENTED


def test_the_prompt_for_a_token_goes_with_the_last_server_that_uses_it(desk: Desk) -> None:
    file = desk.file(CLIENTS["visual-studio"])
    desk.link(file, REMOTE, "a")
    desk.link(file, REMOTE, "b")
    desk.unlink(file, "a")
    assert Path(file.path).read_text().count('"toolyard-token"') == 1
    desk.unlink(file, "b")
    assert "servers" not in Path(file.path).read_text() or '"b"' not in Path(file.path).read_text()


def test_only_this_program_is_taken_out_without_a_record(desk: Desk) -> None:
    ours = {"command": "/usr/local/bin/toolyard", "args": ["serve", "/p"]}
    text = json.dumps({"mcpServers": {"ours": ours, "theirs": {"command": "npx"}}}, indent=2)
    file, path = file_with(desk, "cursor", text)
    with pytest.raises(ConfigError, match="was not put there by link"):
        desk.unlink(file, "theirs")
    desk.unlink(file, "ours")
    assert json.loads(path.read_text()) == {"mcpServers": {"theirs": {"command": "npx"}}}
