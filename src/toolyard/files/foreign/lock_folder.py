"""A lock that other programs understand: a folder beside the file. Knows no content."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

STALE, WITHIN, AGAIN = 10.0, 3.0, 0.05


@contextmanager
def locked(path: str) -> Iterator[None]:
    """Only one program at a time is in this block. Raises ValueError if another stays in it."""
    folder = f"{path}.lock"
    deadline = time.monotonic() + WITHIN
    while not _taken(folder):
        if time.monotonic() > deadline:
            raise ValueError("is locked by the program that it belongs to; try again")
        time.sleep(AGAIN)
    try:
        yield
    finally:
        with suppress(OSError):
            os.rmdir(folder)


def _taken(folder: str) -> bool:
    try:
        os.mkdir(folder)
        return True
    except FileExistsError:
        with suppress(OSError):
            if time.time() - os.stat(folder).st_mtime > STALE:
                shutil.rmtree(folder, ignore_errors=True)
        return False
