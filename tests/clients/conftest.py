"""A machine of each system below a folder, and the files of clients on it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.samples import ARGS, CMD, URL
from toolyard.clients.entries import Local, Remote
from toolyard.clients.known import KnownClient
from toolyard.clients.linking import ClientFile, Edit, perform, plan_link, plan_unlink
from toolyard.clients.machine import Machine, System
from toolyard.clients.records import LinkRecords

LOCAL = Local(CMD, tuple(ARGS))
REMOTE = Remote(URL, "TOOLYARD_TOKEN")


class Desk:
    """One user's clients."""

    def __init__(self, home: Path, system: System = "linux") -> None:
        self.home = home
        self.machine = Machine(str(home), system)
        self.records = LinkRecords(self.machine.state)

    def file(self, client: KnownClient) -> ClientFile:
        path = self.machine.file_of(client)
        if path is None:
            path = str(self.home / "project" / client.project[0])
        return ClientFile(client, path)

    def link(self, file: ClientFile, server: Local | Remote = LOCAL, name: str = "demo") -> Edit:
        edit = plan_link(file, name, server, self.records)
        perform(edit, self.records)
        return edit

    def unlink(self, file: ClientFile, name: str = "demo", *, force: bool = False) -> Edit:
        edit = plan_unlink(file, name, self.records, force=force)
        perform(edit, self.records)
        return edit

    def tree(self) -> set[str]:
        """Everything below the home folder but our own state and backups."""
        return {
            os.path.join(folder, name).removeprefix(f"{self.home}/")
            for folder, folders, files in os.walk(self.home)
            for name in (*folders, *files)
            if ".local" not in os.path.join(folder, name) and "toolyard-backup" not in name
        }


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory, where there is one: waiting for a disk takes nine tenths of the time."""
    place = "/dev/shm"
    if not os.access(place, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(prefix="toolyard-clients-", dir=place) as folder:
        yield Path(folder)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)
