"""Servers that a link has taken the place of come back when it is taken out."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.clients.conftest import LOCAL, Desk
from tests.clients.test_matrix import WRITTEN
from toolyard.clients.entries import Local
from toolyard.clients.known import KnownClient
from toolyard.clients.linking import ClientFile, Edit, perform, plan_link
from toolyard.clients.table import CLIENTS

SECRET = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"
OTHER = Local("/opt/bin/toolyard", ("serve", "/srv/other"))
JSON = (
    '{\n  "it": "x",\n  "KEY": {\n    "a": {"command": "x"},\n    "b": {\n      "command": "y",\n'
    '      "env": {"T": "SECRET"}\n    },\n    "c": {"command": "z"}\n  },\n  "last": [1, 2]\n}\n'
)
TOML = {
    "": "model = 1 # m\n\n# of a\n[KEY.a]\ncommand = 'x' # c\n\n[KEY.b]\ncommand = 'y'\n"
    "since = 2024-05-06\n[KEY.b.env]\nT = 'SECRET'\n\n[KEY.c]\ncommand = 'z'\n\n[last]\nn = 1\n",
    "name": "model = 1\n\n[[KEY]]\nname = 'a' # c\ncommand = 'x'\n\n[[KEY]]\nname = 'b'\n"
    "command = 'y'\nenv = { T = 'SECRET' }\n\n[[KEY]]\nname = 'c'\ncommand = 'z'\n",
}
YAML = {
    "": "# top\nmodel: 1\nKEY:\n  # of a\n  a:\n    command: x # c\n  b:\n    command: y\n"
    "    since: 2024-05-06\n    env:\n      T: SECRET\n  c:\n    command: z\nlast: 1\n",
    "name": "model: 1\nKEY:\n  - name: a # c\n    command: x\n  - name: b\n    command: y\n"
    "    env: {T: SECRET}\n  - name: c\n    command: z\nlast: 1\n",
}
FORMS: dict[str, dict[str, str]] = {"JsonText": {"": JSON}, "TomlText": TOML, "YamlText": YAML}


@pytest.fixture
def desk(memory: Path) -> Desk:
    return Desk(memory)


def text_of(client: KnownClient) -> str:
    """Three servers named a, b and c among foreign keys."""
    text = FORMS[type(client.form).__name__][client.key]
    return text.replace("KEY", client.container[0]).replace("SECRET", SECRET)


def file_with(desk: Desk, client: KnownClient, text: str) -> tuple[ClientFile, Path]:
    file = desk.file(client)
    path = Path(file.path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return file, path


def replace(desk: Desk, file: ClientFile, *names: str, server: Local = LOCAL) -> Edit:
    edit = plan_link(file, "demo", server, desk.records, names)
    perform(edit, desk.records)
    return edit


def names_in(path: Path, client: KnownClient) -> list[str]:
    document: Any = {"JsonText": json.loads, "TomlText": tomllib.loads, "YamlText": yaml.safe_load}[
        type(client.form).__name__
    ](path.read_text())
    container = document[client.container[0]]
    return [item["name"] for item in container] if client.key else list(container)


@pytest.mark.parametrize("client", WRITTEN, ids=lambda client: client.id)
def test_what_every_client_had_comes_back_byte_for_byte(client: KnownClient, desk: Desk) -> None:
    before = text_of(client)
    file, path = file_with(desk, client, before)
    replace(desk, file, "a", "b")
    assert set(names_in(path, client)) == {"demo", "c"}
    assert SECRET not in path.read_text()
    desk.unlink(file)
    assert path.read_text() == before
    assert list(desk.records.all()) == []


@pytest.mark.parametrize("name", ["cursor", "codex", "vibe", "goose", "librechat", "zed"])
def test_in_a_file_that_has_changed_the_servers_come_back_and_the_change_stays(
    name: str, desk: Desk
) -> None:
    client = CLIENTS[name]
    file, path = file_with(desk, client, text_of(client))
    replace(desk, file, "a", "b")
    path.write_text(path.read_text().replace("'z'", "'w'").replace("z", "w"))
    desk.unlink(file)
    assert set(names_in(path, client)) == {"a", "b", "c"}
    assert SECRET in path.read_text() and "w" in path.read_text()


def test_a_server_that_somebody_has_made_again_is_left_as_it_is(desk: Desk) -> None:
    file, path = file_with(desk, CLIENTS["cursor"], '{"mcpServers": {"a": {"command": "x"}}}')
    replace(desk, file, "a")
    document = json.loads(path.read_text())
    document["mcpServers"]["a"] = {"command": "newer"}
    path.write_text(json.dumps(document))
    desk.unlink(file)
    assert json.loads(path.read_text()) == {"mcpServers": {"a": {"command": "newer"}}}


def test_servers_that_several_links_in_a_row_have_replaced_all_come_back(desk: Desk) -> None:
    client = CLIENTS["cursor"]
    file, path = file_with(desk, client, text_of(client))
    replace(desk, file, "a")
    replace(desk, file, "c")
    replace(desk, file, server=OTHER)
    assert names_in(path, client) == ["demo", "b"]
    assert not replace(desk, file, "a", "c", server=OTHER).changes
    desk.unlink(file)
    assert path.read_text() == text_of(client)


def test_a_server_of_our_name_that_was_replaced_comes_back(desk: Desk) -> None:
    before = '{"mcpServers": {"demo": {"command": "theirs"}, "b": {"command": "y"}}}'
    file, path = file_with(desk, CLIENTS["cursor"], before)
    replace(desk, file, "demo")
    replace(desk, file, server=OTHER)
    assert "theirs" not in path.read_text()
    desk.unlink(file)
    assert path.read_text() == before


def test_this_program_pasted_by_hand_comes_back_and_goes_when_it_is_unlinked_again(
    desk: Desk,
) -> None:
    before = '{"mcpServers": {"demo": {"command": "toolyard", "args": ["serve", "/mine"]}}}'
    file, path = file_with(desk, CLIENTS["cursor"], before)
    desk.link(file)
    desk.unlink(file)
    assert path.read_text() == before
    desk.unlink(file)
    assert names_in(path, CLIENTS["cursor"]) == []


def test_another_link_beside_it_does_not_keep_the_servers_away(desk: Desk) -> None:
    client = CLIENTS["cursor"]
    for first, second in (("demo", "beside"), ("beside", "demo")):
        file, path = file_with(desk, client, text_of(client))
        replace(desk, file, "a", "b")
        desk.link(file, OTHER, "beside")
        desk.unlink(file, first)
        desk.unlink(file, second)
        assert sorted(names_in(path, client)) == ["a", "b", "c"]
        assert json.loads(path.read_text())["last"] == [1, 2]


def test_the_record_that_holds_them_is_private_and_goes_with_the_link(desk: Desk) -> None:
    client = CLIENTS["cursor"]
    file, _ = file_with(desk, client, text_of(client))
    replace(desk, file, "b")
    (record,) = Path(desk.records.folder).glob("*.json")
    assert record.stat().st_mode & 0o777 == 0o600
    assert record.parent.stat().st_mode & 0o777 == 0o700
    desk.unlink(file)
    assert not list(Path(desk.records.folder).glob("*.json"))


def test_a_link_that_was_killed_before_its_file_changed_brings_nothing_back(desk: Desk) -> None:
    client = CLIENTS["cursor"]
    file, path = file_with(desk, client, text_of(client))
    edit = plan_link(file, "demo", LOCAL, desk.records, ["a", "b"])
    assert edit.record is not None
    desk.records.keep(edit.record)
    desk.unlink(file)
    assert path.read_text() == text_of(client)
