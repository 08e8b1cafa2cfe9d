"""Replacing a file that belongs to another program. Knows no content.

The order is what makes it safe: the new file is complete, with the mode, owner and attributes of
the old one, before the old one is looked at a last time; only if it is still what was read does
the new one take its place, in one step. Before that, what was there is kept beside it. A kill at
any point leaves the old file or the new one, and perhaps a backup or a file that the next writer
removes.

Between the last look and the step that replaces the file another program can still write: nothing
closes that window but a lock that both sides take.
"""

from __future__ import annotations

import fcntl
import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from errno import EAGAIN

from toolyard.files.removing import remove
from toolyard.files.whole import beside, create_whole, write_whole

BACKUPS = 3
_BACKUP = ".toolyard-backup"


@dataclass(frozen=True, slots=True)
class Original:
    """A file as it was read; no data: there is none yet."""

    # The path that leads there, and the file itself behind every link.
    path: str
    real: str
    data: bytes | None
    status: os.stat_result | None

    @property
    def content(self) -> bytes:
        return self.data or b""


def look(path: str) -> Original:
    """Raises ValueError, a sentence to follow the path, and OSError."""
    real = os.path.realpath(path)
    try:
        status = os.stat(real)
    except FileNotFoundError:
        return Original(path, real, None, None)
    if not stat.S_ISREG(status.st_mode):
        raise ValueError("is a folder" if stat.S_ISDIR(status.st_mode) else "is not a file")
    with open(real, "rb") as stream:
        return Original(path, real, stream.read(), status)


def check_writable(original: Original) -> None:
    """Raises ValueError where the file must not be replaced."""
    status = original.status
    if status is None:
        return
    # Asked of the mode: root may write everything, but a user who took the right away meant it.
    if not status.st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH):
        raise ValueError("is read-only")
    if not os.access(original.real, os.W_OK):
        raise ValueError("cannot be written by you")
    if status.st_nlink > 1:
        raise ValueError(
            f"has {status.st_nlink} names (hard links), which replacing it would separate"
        )
    if _is_open_for_writing(original.real):
        raise ValueError("is open for writing in another program; close that first")


def exchange(original: Original, data: bytes, mode: int = 0o600) -> None:
    """Put these bytes in the place of what was read. Raises ValueError and OSError.

    `mode` is that of a file that is not there yet.
    """
    if original.status is None:
        try:
            create_whole(original.real, data, mode)
        except FileExistsError:
            raise ValueError("was created by somebody else in the meantime") from None
    else:
        _check_unchanged(original)
        check_writable(original)
        if original.content.strip():
            _back_up(original, original.status)
        _replace(original, original.status, data)
    _sync_folder(os.path.dirname(original.real))


def discard(original: Original) -> None:
    """Remove a file that is still what was read. Raises ValueError and OSError."""
    _check_unchanged(original)
    check_writable(original)
    os.unlink(original.real)
    _sync_folder(os.path.dirname(original.real))


def _replace(original: Original, status: os.stat_result, data: bytes) -> None:
    with beside(original.real, data, stat.S_IMODE(status.st_mode)) as temporary:
        _copy_owner(original.real, temporary, status)
        check_writable(original)
        _check_unchanged(original)
        os.replace(temporary, original.real)


def _check_unchanged(original: Original) -> None:
    try:
        with open(original.real, "rb") as stream:
            now = stream.read()
    except FileNotFoundError:
        raise ValueError("has been removed meanwhile") from None
    if now != original.data:
        raise ValueError("has been changed by another program meanwhile; try again")


def _copy_owner(real: str, temporary: str, status: os.stat_result) -> None:
    own = os.stat(temporary)
    if (own.st_uid, own.st_gid) != (status.st_uid, status.st_gid):
        try:
            os.chown(temporary, status.st_uid, status.st_gid)
        except PermissionError:
            raise ValueError("belongs to another user or group, and a new file would not") from (
                None
            )
        os.chmod(temporary, stat.S_IMODE(status.st_mode))
    if hasattr(os, "listxattr"):
        with suppress(OSError):  # not every file system has them
            for name in os.listxattr(real):
                os.setxattr(temporary, name, os.getxattr(real, name))


def _back_up(original: Original, status: os.stat_result) -> None:
    """What was read, beside it under a name that no program takes for its own; the last three."""
    folder, name = os.path.split(original.real)
    prefix = f"{name}{_BACKUP}-"
    now = datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")
    path = os.path.join(folder, prefix + now)
    write_whole(path, original.content, stat.S_IMODE(status.st_mode))
    with suppress(PermissionError):
        os.chown(path, status.st_uid, status.st_gid)
        os.chmod(path, stat.S_IMODE(status.st_mode))
    backups = sorted(entry for entry in os.listdir(folder) if entry.startswith(prefix))
    for entry in backups[:-BACKUPS]:
        remove(os.path.join(folder, entry))


def _is_open_for_writing(real: str) -> bool:
    """The system grants a read lease only where nobody has the file open for writing (Linux)."""
    if not hasattr(fcntl, "F_SETLEASE"):
        return False
    descriptor = os.open(real, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        # Given back at once: whoever opens the file meanwhile would have to wait for us.
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except OSError as error:
        return error.errno == EAGAIN  # anything else: this file system cannot tell
    finally:
        os.close(descriptor)
    return False


def _sync_folder(folder: str) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with suppress(OSError):  # some file systems cannot
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
