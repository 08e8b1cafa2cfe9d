"""Run a few lines of bash to their end: own process group, a time limit, nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Ended(NamedTuple):
    code: int
    output: bytes


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
    """What it printed; its stderr is ours. Raises OSError where there is no bash."""
    process = subprocess.Popen(
        ["bash", "-c", lines, "bash", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=sys.stderr.fileno(),
        env=None if env is None else dict(env),
        cwd=cwd,
        start_new_session=True,
    )
    with process:
        try:
            output, _ = process.communicate(timeout=timeout)
        except BaseException as error:
            # Not reaped yet, so the group is still the one we made.
            os.killpg(process.pid, signal.SIGKILL)
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            raise TookTooLong(f"did not end within {timeout:g} seconds") from None
    return Ended(process.returncode, output)
