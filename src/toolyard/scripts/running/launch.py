"""Which file is started, and with what: the checks before each run and the interpreter.

Knows nothing about calls; refuses with a ToolError that names the file.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from functools import cache
from typing import TypeVar

from toolyard.errors import ToolError

StartedT = TypeVar("StartedT")
SHARED_WRITE = stat.S_IWGRP | stat.S_IWOTH
EXECUTABLE = stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH
SHEBANG_LIMIT = 256


def check_script(path: str) -> os.stat_result:
    """`path` is a real path, resolved when the catalog was built; it must still be safe."""
    try:
        status = os.lstat(path)
    except OSError as error:
        raise ToolError(f"{path} cannot be run: {error.strerror}") from error
    if not stat.S_ISREG(status.st_mode):
        raise ToolError(f"{path} cannot be run: it is no longer a plain file")
    if status.st_mode & SHARED_WRITE:
        raise ToolError(f"{path} is not run: it can be written by group or others (chmod go-w)")
    if status.st_uid not in (0, os.geteuid()):
        raise ToolError(f"{path} is not run: it belongs to another user")
    return status


def launch(path: str, mode: int, start: Callable[[list[str]], StartedT]) -> StartedT:
    """Start the file itself, or through its interpreter where the system cannot."""
    try:
        if mode & EXECUTABLE:
            return started(path, start)
        return start([*interpreter(path), path])
    except OSError as error:
        raise ToolError(why_not_started(path, error)) from error
    except ValueError as error:  # a NUL in an argument or a variable
        raise ToolError(f"{path} cannot be started: {error}") from error


def started(path: str, start: Callable[[list[str]], StartedT]) -> StartedT:
    try:
        return start([path])
    except OSError as error:
        if error.errno not in (errno.ENOEXEC, errno.EACCES):
            raise
    return start([*interpreter(path), path])


def interpreter(path: str) -> list[str]:
    """What the first line asks for; a shell where it asks for nothing."""
    try:
        with open(path, "rb") as file:
            line = file.readline(SHEBANG_LIMIT)
    except OSError as error:
        raise ToolError(f"{path} cannot be run: {error.strerror}") from error
    if line.startswith(b"#!") and line[2:].strip():
        return os.fsdecode(line[2:].strip()).split(None, 1)
    if b"\0" in line:
        raise ToolError(
            f"{path} cannot be run: it is neither a script nor a program of this system"
        )
    return [shell()]


@cache
def shell() -> str:
    import shutil  # noqa: PLC0415 (loads every compressor there is; a start should not)

    return shutil.which("bash") or "/bin/sh"


def why_not_started(path: str, error: OSError) -> str:
    if error.errno == errno.ENOENT and error.filename and os.path.isabs(error.filename):
        if not os.path.exists(error.filename):
            return f"{path} cannot be started: {error.filename} does not exist"
        return f"{path} cannot be started: the interpreter in its first line does not exist"
    if error.errno == errno.E2BIG:
        return f"{path} cannot be started: its environment is too large"
    return f"{path} cannot be started: {error.strerror}"
