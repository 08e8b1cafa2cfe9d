"""Start a child in its own session, as fast as the system allows. Knows pipes and pids only.

Every child that the loop looks after is started here: a run (once.py), a server (lasting.py)
and the watcher. Whoever blocks until its child has ended does so in shell.py.

`posix_spawn` costs half of what `subprocess.Popen` does, but cannot start a child in another
folder, and does not search for a program. So it is used for a path, and only when we are in
the child's folder already, as a server of one project is.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple, TypeAlias

# What Python itself ignores, and a child must not.
RESTORED = (signal.SIGPIPE, signal.SIGXFSZ)

Environ: TypeAlias = Mapping[bytes, bytes] | Mapping[str, str]
Stdio: TypeAlias = tuple[int, int, int]


class Spawned(NamedTuple):
    """A child and our ends of its pipes; `stdin` is -1 where it has none."""

    pid: int
    stdout: int
    stderr: int
    stdin: int


def spawn(argv: list[str], env: Environ, cwd: str | None, *, has_stdin: bool) -> Spawned:
    """Raises OSError where the child cannot be started; nothing is left open then."""
    descriptors: list[int] = []
    try:
        out, child_out = pipe(descriptors)
        err, child_err = pipe(descriptors)
        child_in, into = pipe(descriptors) if has_stdin else (nothing(), -1)
        pid = start(argv, env, cwd, (child_in, child_out, child_err))
    except BaseException:
        close(*descriptors)
        raise
    close(child_out, child_err, child_in if into >= 0 else -1)
    for fd in (out, err, into):
        if fd >= 0:
            os.set_blocking(fd, False)
    return Spawned(pid, out, err, into)


def pipe(descriptors: list[int]) -> tuple[int, int]:
    ends = os.pipe()
    descriptors += ends
    return ends


def start(argv: list[str], env: Environ, cwd: str | None, stdio: Stdio) -> int:
    # Descriptors that are themselves below 3 would be written over before they are copied.
    fits = "/" in argv[0] and min(stdio) > 2
    if sys.platform == "linux" and fits and cwd in (None, here()):
        return start_here(argv, env, stdio)
    child = subprocess.Popen(
        argv,
        stdin=stdio[0],
        stdout=stdio[1],
        stderr=stdio[2],
        cwd=cwd,
        env=env,
        start_new_session=True,
    )
    child.returncode = 0  # it is ours to reap, not its finalizer's
    return child.pid


def start_here(argv: list[str], env: Environ, stdio: Stdio) -> int:
    close_on_exec()
    return os.posix_spawn(
        argv[0],
        argv,
        env,
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
