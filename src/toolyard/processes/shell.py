"""Run a program to its end while the caller waits: a session of its own, and a time limit.

The second home of starting a child, beside spawn.py, for commands and for what is read while
the server starts: there is no loop to look after it, so the standard library's `Popen` does.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import IO, NamedTuple, TypeAlias

from toolyard.processes.ending.group import signal_group

Output: TypeAlias = int | IO[bytes]
DISCARDED = subprocess.DEVNULL


class Ended(NamedTuple):
    """How it ended, and what it printed."""

    code: int
    output: bytes  # empty where it went to a file


class TookTooLong(Exception):
    """It was still running when its time was up, and was ended."""


def bash(
    lines: str,
    arguments: Sequence[str] = (),
    *,
    timeout: float,
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
) -> Ended:
    """What a few lines of bash print; their stderr is ours. Raises OSError without a bash.

    What they leave running in the background goes on."""
    argv = ["bash", "-c", lines, "bash", *arguments]
    with _started(argv, env, cwd, subprocess.PIPE, sys.stderr.fileno()) as child:
        return _ended(child, timeout)


def run_to_end(
    argv: Sequence[str],
    *,
    timeout: float,
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
    stdout: Output = subprocess.PIPE,
    stderr: Output = DISCARDED,
) -> Ended:
    """Nothing of its process group is left afterwards. Raises OSError if it cannot be started."""
    with _started(argv, env, cwd, stdout, stderr) as child:
        try:
            return _ended(child, timeout)
        finally:
            signal_group(child.pid, signal.SIGKILL)


def _started(
    argv: Sequence[str],
    env: Mapping[str, str] | None,
    cwd: str | None,
    stdout: Output,
    stderr: Output,
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=stderr,
        env=None if env is None else dict(env),
        cwd=cwd,
        start_new_session=True,
    )


def _ended(child: subprocess.Popen[bytes], timeout: float) -> Ended:
    try:
        output, _ = child.communicate(timeout=timeout)
    except BaseException as error:
        signal_group(child.pid, signal.SIGKILL)
        if not isinstance(error, subprocess.TimeoutExpired):
            raise
        raise TookTooLong(f"did not end within {timeout:g} seconds") from None
    return Ended(child.returncode, output or b"")
