"""Start a child in its own session, as fast as the system allows. Knows pipes and pids only.

`posix_spawn` costs half of what `subprocess.Popen` does, but has no way to say where the
child shall be: it is used when we are there already, which a server of one project is.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import cache
from typing import NamedTuple

# What Python itself ignores, and a child must not.
RESTORED = (signal.SIGPIPE, signal.SIGXFSZ)


class Command(NamedTuple):
    """What to run, and how much of what it prints to keep."""

    argv: list[str]  # the first is a path
    env: Mapping[bytes, bytes]
    cwd: str | None = None
    stdin: bytes | None = None  # None: /dev/null
    max_stdout: int = 10 * 1024 * 1024
    stderr_tail: int = 4096
    # Hears each line of stderr as it comes.
    hears_stderr: Callable[[bytes], None] | None = None


class Spawned(NamedTuple):
    """A child and our ends of its pipes; `stdin` is -1 where it has none."""

    pid: int
    stdout: int
    stderr: int
    stdin: int


def spawn(command: Command) -> Spawned:
    """Raises OSError where the child cannot be started; nothing is left open then."""
    opened: list[int] = []
    try:
        out, child_out = pipe(opened)
        err, child_err = pipe(opened)
        child_in, into = pipe(opened) if command.stdin is not None else (nothing(), -1)
        pid = start(command, (child_in, child_out, child_err))
    except BaseException:
        close(*opened)
        raise
    close(child_out, child_err, child_in if into >= 0 else -1)
    for fd in (out, err, into):
        if fd >= 0:
            os.set_blocking(fd, False)
    return Spawned(pid, out, err, into)


def pipe(opened: list[int]) -> tuple[int, int]:
    ends = os.pipe()
    opened += ends
    return ends


def start(command: Command, stdio: tuple[int, int, int]) -> int:
    if sys.platform == "linux" and command.cwd in (None, here()):
        return start_here(command, stdio)
    child = subprocess.Popen(
        command.argv,
        stdin=stdio[0],
        stdout=stdio[1],
        stderr=stdio[2],
        cwd=command.cwd,
        env=command.env,
        start_new_session=True,
    )
    child.returncode = 0  # it is ours to reap, not its finalizer's
    return child.pid


def start_here(command: Command, stdio: tuple[int, int, int]) -> int:
    close_on_exec()
    return os.posix_spawn(
        command.argv[0],
        command.argv,
        command.env,
        file_actions=[(os.POSIX_SPAWN_DUP2, fd, place) for place, fd in enumerate(stdio)],
        setsid=True,
        setsigdef=RESTORED,
    )


def here() -> str | None:
    try:
        return os.getcwd()
    except FileNotFoundError:  # somebody removed it under us
        return None


@cache
def close_on_exec() -> None:
    """What our own parent left open for us is not for our children."""
    for name in os.listdir("/proc/self/fd"):
        try:
            if int(name) > 2:
                os.set_inheritable(int(name), False)
        except OSError:  # the listing's own
            pass


@cache
def nothing() -> int:
    """/dev/null, opened once for all children."""
    return os.open(os.devnull, os.O_RDWR)


def close(*fds: int) -> None:
    for fd in fds:
        if fd >= 0:
            os.close(fd)
