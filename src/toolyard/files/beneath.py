"""Is a path below a folder? And opening a file by its real path, with no link on the way.

Between checking a path and opening it, anybody who may write above it can put a link there.
So each part is opened from the one before, and none of them may be a link.
"""

from __future__ import annotations

import os
from errno import ELOOP

_PLAIN = os.O_NOFOLLOW | os.O_CLOEXEC
# Passing through a folder is all we need; not every system can ask for just that.
_PASS = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | _PLAIN


def is_below(path: str, folder: str) -> bool:
    """Both must be real paths: a link may lead anywhere. A folder is below itself."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def open_real(real: str, flags: int = os.O_RDONLY) -> int:
    """A descriptor of this very path. Raises OSError: ELOOP or ENOTDIR if a link is on it."""
    *folders, name = [part for part in real.split("/") if part] or ["."]
    if not real.startswith("/") or ".." in folders or name == "..":
        raise OSError(ELOOP, "not a real path", real)
    here = os.open("/", _PASS)
    try:
        for folder in folders:
            below = os.open(folder, _PASS, dir_fd=here)
            os.close(here)
            here = below
        return os.open(name, flags | os.O_NONBLOCK | _PLAIN, dir_fd=here)
    finally:
        os.close(here)


def stat_real(real: str) -> os.stat_result:
    """What this very path is. Raises OSError."""
    descriptor = open_real(real, getattr(os, "O_PATH", os.O_RDONLY))
    try:
        return os.fstat(descriptor)
    finally:
        os.close(descriptor)
