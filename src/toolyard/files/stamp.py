"""Noticing that a file has changed. Knows nothing of what is in it."""

from __future__ import annotations

import os

# Seconds between two looks at files that an operator edits.
LOOK_EVERY = 0.1


def stamp(path: str) -> object:
    """Differs when the file may differ; None where there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
