"""Noticing that a file has changed. Knows nothing of what is in it.

A stamp is what the system says about a file that changes when the file does:

* the ctime, in nanoseconds: it changes with the content and with the permissions, and unlike
  the mtime nobody can set it back (`touch -d`, `cp -p`, an unpacked archive);
* the inode: a file put in the place of another may have been finished in the same tick of
  the clock, but it is another file;
* the size: within one tick, which may take 10 ms, only the size tells two writes apart.

If very many files are looked at together with their folder, the ctime is enough: a file that
takes the place of another changes the folder's ctime.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import TypeAlias

Stamp: TypeAlias = tuple[int, int, int]
# When something last changed in a file or folder, in ns; 0: it is not there.
changed_at: Callable[[os.stat_result], int] = attrgetter("st_ctime_ns")


def stamp(path: str) -> Stamp | None:
    """Differs if the file may differ; None if the file cannot be looked at."""
    try:
        return stamp_of(os.stat(path))
    except OSError:
        return None


def stamp_of(status: os.stat_result) -> Stamp:
    return status.st_ino, status.st_size, changed_at(status)


def path_changed_at(path: str) -> int:
    try:
        return changed_at(os.stat(path))
    except OSError:
        return 0


def unchanged(times: Mapping[str, int]) -> bool:
    """Is every folder and file still as it was at these times?"""
    return all(path_changed_at(path) == time for path, time in times.items())
