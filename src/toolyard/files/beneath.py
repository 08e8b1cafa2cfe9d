"""What lies below a folder; and to open a file by its real path, and nothing else.

Between the look at a path and its opening, anybody who may write above it can put a link there.
Each part is opened from the one before, and none of them may be a link by now.
"""

from __future__ import annotations

import os
from errno import ELOOP

_PLAIN = os.O_NOFOLLOW | os.O_CLOEXEC
# To pass through a folder is enough; not every system can ask for that alone.
_PASS = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | _PLAIN


def is_below(path: str, folder: str) -> bool:
    """Both are real paths, for a link may lead anywhere. A folder is below itself."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def open_real(real: str, flags: int = os.O_RDONLY) -> int:
    """A descriptor of this very path. Raises OSError: ELOOP or ENOTDIR where a link is on it."""
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
