"""Every client, on every system, whatever kind of file it has: changed as it was, or left alone.

What can be in a file is in `test_matrix`; here it is what the file is, and what others do to it.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.cli.program import toolyard
from tests.clients.conftest import LOCAL, Desk
from tests.clients.samples import URL
from tests.clients.states import State, states_of
from tests.clients.test_matrix import WRITTEN, is_insertion, look_of
from toolyard.clients.known import KnownClient
from toolyard.clients.linking import ClientFile, perform, plan_link, plan_unlink
from toolyard.clients.machine import SYSTEMS, System
from toolyard.errors import ConfigError

THEIRS = b"theirs, written meanwhile"


def foreign(client: KnownClient) -> bytes:
    """A file with servers and keys of somebody else."""
    return next(s.data or b"" for s in states_of(client) if s.name == "with foreign keys")


def relative_link(path: Path, home: Path) -> None:
    _behind_link(path, home, relative=True)


def absolute_link(path: Path, home: Path) -> None:
    _behind_link(path, home, relative=False)


def link_to_a_link(path: Path, home: Path) -> None:
    _behind_link(path, home, relative=False)
    path.rename(home / "second")
    path.symlink_to(os.path.relpath(home / "second", path.parent))


def _behind_link(path: Path, home: Path, *, relative: bool) -> None:
    real = home / "dotfiles" / "settings"
    real.parent.mkdir()
    path.rename(real)
    path.symlink_to(os.path.relpath(real, path.parent) if relative else real)


@pytest.mark.parametrize("way", [relative_link, absolute_link, link_to_a_link])
@pytest.mark.parametrize("client", WRITTEN, ids=lambda client: client.id)
def test_a_link_stays_a_link_and_the_file_behind_it_is_changed(
    client: KnownClient, way: Callable[[Path, Path], None], memory: Path
) -> None:
    for system in SYSTEMS:
        desk, file, path = furnished(memory, client, system)
        way(path, desk.home)
        target, real = os.readlink(path), path.resolve()
        real.chmod(0o640)
        desk.link(file)
        assert os.readlink(path) == target
        assert is_insertion(foreign(client), real.read_bytes())
        assert stat.S_IMODE(real.stat().st_mode) == 0o640
        desk.unlink(file)
        assert (os.readlink(path), real.read_bytes()) == (target, foreign(client))


@pytest.mark.parametrize("client", WRITTEN, ids=lambda client: client.id)
def test_what_a_dangling_link_names_is_made_and_goes_again(
    client: KnownClient, memory: Path
) -> None:
    for system in SYSTEMS:
        desk, file, path = furnished(memory, client, system)
        path.unlink()
        path.symlink_to(desk.home / "elsewhere")
        desk.link(file)
        assert path.is_symlink() and b"demo" in path.read_bytes()
        desk.unlink(file)
        assert path.is_symlink() and not path.exists()


@contextmanager
def read_only(path: Path) -> Iterator[str]:
    path.chmod(0o444)
    yield "is read-only"
    assert stat.S_IMODE(path.stat().st_mode) == 0o444
    path.chmod(0o600)


@contextmanager
def with_a_second_name(path: Path) -> Iterator[str]:
    other = path.with_name("second name")
    os.link(path, other)
    yield "hard links"
    assert path.samefile(other)
    other.unlink()


@contextmanager
def open_for_writing(path: Path) -> Iterator[str]:
    with path.open("r+b"):
        yield "is open for writing in another program"


OBSTACLES = [
    read_only,
    with_a_second_name,
    pytest.param(
        open_for_writing,
        marks=pytest.mark.skipif(sys.platform != "linux", reason="only Linux says who has it open"),
    ),
]


@pytest.mark.parametrize("obstacle", OBSTACLES)
@pytest.mark.parametrize("client", WRITTEN, ids=lambda client: client.id)
def test_a_file_that_must_not_be_changed_is_not_linked_and_not_unlinked(
    client: KnownClient, obstacle: Callable[[Path], AbstractContextManager[str]], memory: Path
) -> None:
    for system in SYSTEMS:
        desk, file, path = furnished(memory, client, system)
        with obstacle(path) as sentence:
            refused(desk, file, sentence, desk.link)
        assert path.read_bytes() == foreign(client)
        assert list(desk.records.all()) == []
        desk.link(file)
        linked = path.read_bytes()
        with obstacle(path) as sentence:
            refused(desk, file, sentence, desk.unlink)
        assert path.read_bytes() == linked
        desk.unlink(file)
        assert path.read_bytes() == foreign(client)


@pytest.mark.parametrize("client", WRITTEN, ids=lambda client: client.id)
def test_a_folder_or_a_pipe_in_its_place_is_refused(client: KnownClient, memory: Path) -> None:
    for system in SYSTEMS:
        desk, file, path = furnished(memory, client, system)
        path.unlink()
        for make, sentence in ((os.mkdir, "is a folder"), (os.mkfifo, "is not a file")):
            make(path)
            with pytest.raises(ConfigError, match=sentence):
                desk.link(file)
            path.rmdir() if path.is_dir() else path.unlink()
        assert list(desk.records.all()) == []


class Meanwhile(NamedTuple):
    """What another program does between our look at the file and our change of it."""

    there: bool
    act: Callable[[Path], object]
    sentence: str
    left: bytes | None


MEANWHILE = {
    "changed": Meanwhile(True, lambda path: path.write_bytes(THEIRS), "has been changed", THEIRS),
    "removed": Meanwhile(True, lambda path: path.unlink(), "has been removed meanwhile", None),
    "made": Meanwhile(False, lambda path: path.write_bytes(THEIRS), "was created", THEIRS),
}


@pytest.mark.parametrize("name", MEANWHILE)
@pytest.mark.parametrize("client", WRITTEN, ids=lambda client: client.id)
def test_what_others_do_meanwhile_is_left_as_they_made_it(
    client: KnownClient, name: str, memory: Path
) -> None:
    meanwhile = MEANWHILE[name]
    for system in SYSTEMS:
        desk, file, path = furnished(memory, client, system)
        if not meanwhile.there:
            path.unlink()
        edit = plan_link(file, "demo", LOCAL, desk.records)
        meanwhile.act(path)
        with pytest.raises(ConfigError, match=meanwhile.sentence):
            perform(edit, desk.records)
        assert (path.read_bytes() if path.exists() else None) == meanwhile.left
        assert list(desk.records.all()) == []


@pytest.mark.parametrize("client", WRITTEN, ids=lambda client: client.id)
def test_a_file_that_changes_while_it_is_unlinked_is_left_alone(
    client: KnownClient, memory: Path
) -> None:
    for system in SYSTEMS:
        desk, file, path = furnished(memory, client, system)
        desk.link(file)
        edit = plan_unlink(file, "demo", desk.records)
        path.write_bytes(THEIRS)
        with pytest.raises(ConfigError, match="has been changed by another program meanwhile"):
            perform(edit, desk.records)
        assert path.read_bytes() == THEIRS
        assert len(list(desk.records.all())) == 1


def furnished(memory: Path, client: KnownClient, system: System) -> tuple[Desk, ClientFile, Path]:
    """A machine of that system, on which the client has a file with foreign keys."""
    desk = Desk(memory / system, system)
    file = desk.file(client)
    path = Path(file.path)
    path.parent.mkdir(parents=True)
    path.write_bytes(foreign(client))
    return desk, file, path


def refused(
    desk: Desk, file: ClientFile, sentence: str, act: Callable[[ClientFile], object]
) -> None:
    """Neither the file nor anything beside it has been touched."""
    path = Path(file.path)
    before, tree = (look_of(path), path.read_bytes()), desk.tree()
    with pytest.raises(ConfigError, match=sentence):
        act(file)
    assert (look_of(path), path.read_bytes()) == before
    assert desk.tree() == tree


@pytest.mark.parametrize("turn", range(3))
@pytest.mark.parametrize("system", SYSTEMS)
def test_one_command_does_right_by_every_client_whatever_its_file(
    system: System, turn: int, memory: Path
) -> None:
    """Through the program: each client's file is in another state, and in another one next turn."""
    desk = Desk(memory, system)
    work = memory / "work"
    work.mkdir()
    states: dict[str, tuple[Path, State]] = {}
    for number, client in enumerate(WRITTEN):
        path = Path(desk.file(client).path)
        if desk.machine.file_of(client) is None or path in {place for place, _ in states.values()}:
            continue  # it has files in projects only, or shares the file of another
        choice = [state for state in states_of(client) if state.data is not None]
        state = choice[(number * 7 + turn * 5) % len(choice)]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(state.data or b"")
        states[client.id] = path, state
    words = ("--home", memory, "--system", system)
    able = {name for name, (_, state) in states.items() if state.can_be_linked}
    done = toolyard("link", *states, "--name", "demo", "--http", URL, "--force", *words, cwd=work)
    assert {line.split(":")[0] for line in done.out.splitlines()} == able - {"claude-desktop"}
    assert done.code == 1 and "Traceback" not in done.err
    for path, state in states.values():
        if not state.can_be_linked:
            assert path.read_bytes() == state.data
    assert toolyard("unlink", "--all", *words, cwd=work).code == 0
    assert {name: path.read_bytes() for name, (path, _) in states.items()} == {
        name: state.data for name, (_, state) in states.items()
    }
