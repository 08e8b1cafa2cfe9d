"""May this file decide what we do? It must be ours or root's, writable by nobody else, no link."""

from __future__ import annotations

import os
import stat


def why_unsafe(path: str, *above: str) -> str | None:
    """Why a file, or a folder it is in, cannot be trusted; None if it can."""
    for place in (path, *above):
        reason = _why_unsafe(place)
        if reason is not None:
            return f"{place}: {reason}"
    return None


def _why_unsafe(path: str) -> str | None:
    try:
        status = os.lstat(path)
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    if stat.S_ISLNK(status.st_mode):
        return "is a link"
    if status.st_uid not in (0, os.geteuid()):
        return "belongs to another user"
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return "can be written by group or others (chmod go-w)"
    return None
