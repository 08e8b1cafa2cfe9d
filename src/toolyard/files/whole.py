"""Writing files whole or not at all, and one process at a time. Knows no content.

A file is written beside its place until it is complete: a full disk leaves nothing behind, and
what a killed writer left is removed by the next one.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_SUFFIX = ".new"
# Nobody takes this long to write: the writer is gone.
ABANDONED = 60.0


def write_whole(path: str, data: bytes, mode: int = 0o600, *, sync: bool = True) -> None:
    """Replace a file, or make it. Raises OSError, and then nothing has changed."""
    with beside(path, data, mode, sync=sync) as temporary:
        os.replace(temporary, path)


def rewrite(path: str, data: bytes, mode: int = 0o600) -> None:
    """Replace the file that a path leads to, keeping its permissions; else make it."""
    real = os.path.realpath(path)
    with suppress(FileNotFoundError):
        mode = os.stat(real).st_mode & 0o7777
    write_whole(real, data, mode)


def create_whole(path: str, data: bytes, mode: int = 0o600) -> None:
    """Raises FileExistsError if there already is one; OSError otherwise."""
    with beside(path, data, mode) as temporary:
        os.link(temporary, path)


@contextmanager
def replacing(path: str, mode: int = 0o644) -> Iterator[str]:
    """Gives the path to write to; what is there at the end of the block becomes the file."""
    temporary = _place_beside(path)
    try:
        yield temporary
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except OSError as error:
        _name(error, temporary, path)
        raise
    finally:
        with suppress(FileNotFoundError):
            os.unlink(temporary)


def _place_beside(path: str) -> str:
    folder, name = os.path.split(os.path.abspath(path))
    _sweep(folder, name)
    return os.path.join(folder, f".{name}.{os.urandom(6).hex()}{_SUFFIX}")


@contextmanager
def beside(path: str, data: bytes, mode: int, *, sync: bool = True) -> Iterator[str]:
    """A finished file in the folder of that path, which is gone at the end of the block."""
    temporary = _place_beside(path)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    try:
        with open(os.open(temporary, flags, 0o600), "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fchmod(stream.fileno(), mode)
            if sync:
                os.fsync(stream.fileno())
        yield temporary
    except OSError as error:
        _name(error, temporary, path)
        raise
    finally:
        with suppress(FileNotFoundError):
            os.unlink(temporary)


def _name(error: OSError, temporary: str, path: str) -> None:
    """Whoever reads the error knows the file, not where it is written first."""
    if error.errno is not None and error.filename in (temporary, None):
        error.filename = path


def _sweep(folder: str, name: str) -> None:
    start, oldest = f".{name}.", time.time() - ABANDONED
    for entry in os.listdir(folder):
        if entry.startswith(start) and entry.endswith(_SUFFIX):
            with suppress(OSError):
                path = os.path.join(folder, entry)
                if os.lstat(path).st_mtime < oldest:
                    os.unlink(path)


@contextmanager
def alone_in(folder: str) -> Iterator[None]:
    """Only one process at a time is in this block for a folder. Raises OSError."""
    descriptor = os.open(folder or ".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def try_lock(path: str) -> int | None:
    """A descriptor that holds the lock until it is closed, or its process has ended."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor
