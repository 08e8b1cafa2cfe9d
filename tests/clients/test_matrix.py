"""Every client, on every system, with its file in every state: linked and unlinked, or refused."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.clients.conftest import LOCAL, REMOTE, Desk
from tests.clients.samples import SAMPLES
from tests.clients.states import BOM, State, states_of
from toolyard.clients.entries import Server
from toolyard.clients.known import KnownClient
from toolyard.clients.machine import SYSTEMS, System
from toolyard.clients.table import CLIENTS
from toolyard.errors import ConfigError
from toolyard.files.comments import parse
from toolyard.files.documents.json_text import JsonText
from toolyard.files.documents.toml_text import TomlText

WRITTEN = [client for client in CLIENTS.values() if client.writes]


def other_parser(client: KnownClient, data: bytes) -> Any:
    """Read by a parser that the editors do not use."""
    text = data.removeprefix(BOM).decode()
    if isinstance(client.form, JsonText):
        return parse(data) if client.form.comments else json.loads(text)
    if isinstance(client.form, TomlText):
        return tomllib.loads(text)
    return json.loads(json.dumps(YAML(typ="safe", pure=True).load(text)))


def pairs(client: KnownClient) -> list[tuple[Server, dict[str, Any] | None]]:
    local, remote = SAMPLES[client.id]
    return [(LOCAL, local), (REMOTE, remote)]


def is_insertion(before: bytes, after: bytes) -> bool:
    """Is every byte of before still there, in two pieces at most?"""
    start = equal_bytes(before, after)
    end = equal_bytes(before[::-1], after[::-1])
    return len(after) > len(before) and start + end >= len(before)


def equal_bytes(one: bytes, other: bytes) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def test_there_are_at_least_twenty_clients_and_a_sample_for_each() -> None:
    assert {client.id for client in WRITTEN} == set(SAMPLES)
    assert len(WRITTEN) >= 20


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("client", WRITTEN, ids=lambda client: client.id)
def test_a_server_named_demo_is_where_the_client_looks_for_it(
    client: KnownClient, system: System, memory: Path
) -> None:
    desk = Desk(memory, system)
    for server, sample in pairs(client):
        file = desk.file(client)
        if sample is None:
            with pytest.raises(ConfigError):
                desk.link(file, server)
        else:
            desk.link(file, server)
            assert other_parser(client, Path(file.path).read_bytes()) == sample
            desk.unlink(file)
        assert desk.tree() == set()


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("client", WRITTEN, ids=lambda client: client.id)
def test_a_file_in_any_state_is_linked_and_restored_or_left_alone(
    client: KnownClient, system: System, memory: Path
) -> None:
    for number, state in enumerate(states_of(client)):
        desk = Desk(memory / str(number), system)
        try:
            check(desk, client, state)
        except AssertionError as error:
            raise AssertionError(f"{client.id}, a file {state.name}: {error}") from error


def look_of(path: Path) -> tuple[int, int, int, int]:
    status = path.stat()
    return status.st_ino, status.st_mtime_ns, status.st_ctime_ns, status.st_mode


def check(desk: Desk, client: KnownClient, state: State) -> None:
    file = desk.file(client)
    path = Path(file.path)
    if state.data is not None:
        path.parent.mkdir(parents=True)
        path.write_bytes(state.data)
        path.chmod(0o640)
    tree = desk.tree()
    if not state.can_be_linked:
        before = look_of(path)
        with pytest.raises(ConfigError):
            desk.link(file)
        assert path.read_bytes() == state.data
        assert look_of(path) == before
        assert desk.tree() == tree
        return
    desk.link(file)
    data = path.read_bytes()
    assert other_parser(client, data)
    if not state.is_blank:
        assert is_insertion(state.data or b"", data), data.decode()
        assert path.stat().st_mode & 0o777 == 0o640
    written = look_of(path)
    assert not desk.link(file).changes
    assert look_of(path) == written
    desk.unlink(file)
    assert desk.tree() == tree
    assert state.data is None or path.read_bytes() == state.data
    assert list(desk.records.all()) == []
