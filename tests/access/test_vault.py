"""Credentials at rest: sealed, private, and of no use when they are moved."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from toolyard.access.oauth.vault import SealedVault
from toolyard.errors import ConfigError

SECRET = {"access": "a-very-secret-token"}


def test_what_is_kept_can_be_read_again_by_another_process(tmp_path: Path) -> None:
    SealedVault(tmp_path / "c").put("ada", SECRET)
    other = SealedVault(tmp_path / "c")
    assert other.get("ada") == SECRET
    assert (other.get("bob"), list(other.keys())) == (None, ["ada"])


def test_a_change_by_another_process_is_seen(tmp_path: Path) -> None:
    mine, other = SealedVault(tmp_path), SealedVault(tmp_path)
    mine.put("ada", SECRET)
    assert other.get("ada") == SECRET
    mine.put("ada", {"access": "newer"})
    assert other.get("ada") == {"access": "newer"}
    mine.drop("ada")
    assert other.get("ada") is None


def test_nothing_readable_is_on_the_disk_and_nobody_else_may_look(tmp_path: Path) -> None:
    folder = tmp_path / "c"
    os.umask(os.umask(0o022))
    SealedVault(folder).put("ada", SECRET)
    assert folder.stat().st_mode & 0o777 == 0o700
    for file in folder.iterdir():
        assert file.stat().st_mode & 0o777 == 0o600
        assert b"secret" not in file.read_bytes() and b"ada" not in file.read_bytes()


def test_a_file_that_was_changed_or_moved_is_not_believed(tmp_path: Path) -> None:
    store = SealedVault(tmp_path)
    store.put("ada", SECRET)
    (mine,) = tmp_path.glob("*.sealed")
    store.put("bob", {"access": "bob's"})
    (other,) = set(tmp_path.glob("*.sealed")) - {mine}
    shutil.copy(mine, other)
    fresh = SealedVault(tmp_path)
    assert (fresh.get("bob"), fresh.get("ada")) == (None, SECRET)
    mine.write_bytes(mine.read_bytes()[:-1] + b"x")
    assert SealedVault(tmp_path).get("ada") is None


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o602])
def test_a_key_that_others_may_touch_is_refused(tmp_path: Path, mode: int) -> None:
    SealedVault(tmp_path).put("ada", SECRET)
    (tmp_path / "key").chmod(mode)
    with pytest.raises(ConfigError, match="0600"):
        SealedVault(tmp_path).get("ada")
