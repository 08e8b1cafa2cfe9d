"""A file of another program is replaced whole, as it was, or not at all.

Which files are left alone is in `test_any_file`, for every client.
"""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.clients.conftest import Desk
from toolyard.clients.table import CLIENTS
from toolyard.errors import ConfigError
from toolyard.files.foreign.exchange import BACKUPS, exchange, look
from toolyard.files.foreign.lock_folder import locked

CURSOR, CLINE = CLIENTS["cursor"], CLIENTS["cline"]
TEXT = b'{"mcpServers": {"other": {"command": "x"}}}'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_bytes(TEXT)
    return file


def backups(path: Path) -> list[Path]:
    return sorted(path.parent.glob(f"{path.name}.toolyard-backup-*"))


def test_mode_owner_and_attributes_are_kept(desk: Desk, path: Path) -> None:
    path.chmod(0o604)
    has_attributes = True
    try:
        os.setxattr(path, "user.note", b"mine")
    except OSError:
        has_attributes = False
    if os.geteuid() == 0:
        os.chown(path, 1234, 2345)
    before = path.stat()
    desk.link(desk.file(CURSOR))
    after = path.stat()
    assert after.st_ino != before.st_ino
    assert (after.st_mode, after.st_uid, after.st_gid) == (
        before.st_mode,
        before.st_uid,
        before.st_gid,
    )
    assert not has_attributes or os.getxattr(path, "user.note") == b"mine"


def test_what_was_there_is_kept_beside_it_three_times(desk: Desk, path: Path) -> None:
    path.chmod(0o600)
    for number in range(5):
        before = path.read_bytes()
        exchange(look(str(path)), b"%d" % number)
        assert backups(path)[-1].read_bytes() == before
        assert stat.S_IMODE(backups(path)[-1].stat().st_mode) == 0o600
    assert len(backups(path)) == BACKUPS


def refused(desk: Desk, path: Path) -> str:
    """The sentence, after nothing has changed."""
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(ConfigError) as error:
        desk.link(desk.file(CURSOR))
    assert (path.read_bytes() if path.is_file() else None) == before
    assert not backups(path)
    assert list(desk.records.all()) == []
    return str(error.value)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says who has a file open")
def test_a_file_that_another_program_has_open_for_writing_is_left_alone(
    desk: Desk, path: Path
) -> None:
    code = "import sys; f = open(sys.argv[1], 'r+'); print('open', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", code, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "open\n"
        assert "is open for writing in another program" in refused(desk, path)
        writer.communicate("")
    desk.link(desk.file(CURSOR))


def test_a_full_disk_leaves_the_old_file_and_nothing_else(desk: Desk, path: Path) -> None:
    """The largest file that this process may write is smaller than the new one."""
    code = (
        "import resource, signal, sys; from toolyard.files.foreign.exchange import *;"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096));"
        "exchange(look(sys.argv[1]), b'x' * 5000)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True)
    assert "OSError" in done.stderr
    assert path.read_bytes() == TEXT
    assert [name for name in os.listdir(path.parent) if name.endswith(".new")] == []


def test_the_lock_that_a_client_takes_is_respected_and_given_back(desk: Desk) -> None:
    file = desk.file(CLINE)
    desk.link(file)
    lock = Path(f"{file.path}.lock")
    assert not lock.exists()
    with locked(file.path), pytest.raises(ConfigError, match="is locked by the program"):
        desk.unlink(file)
    assert b"demo" in Path(file.path).read_bytes()
    lock.mkdir()
    os.utime(lock, (1, 1))  # its owner is long gone
    desk.unlink(file)
    assert desk.tree() == set()
