"""How a command ends: its exit code, and a sentence for whatever the system refuses it.

Imports nothing beyond os and sys: every start passes through here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from toolyard.errors import ConfigError

REFUSED = 1
WRONG = 2
INTERRUPTED = 130
# As of a program that SIGPIPE ended: whoever read our output has gone, and wants no complaint.
UNREAD = 141


def outcome(name: str, command: Callable[[], int]) -> int:
    """Run a command to its exit code."""
    try:
        return _flushed(command)
    except ConfigError as error:
        print(error, file=sys.stderr)
        return WRONG
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _drop_output()
        return UNREAD
    except OSError as error:
        _drop_output()
        print(f"{name}: {_sentence(error)}", file=sys.stderr)
        return REFUSED


def _flushed(command: Callable[[], int]) -> int:
    try:
        return command()
    finally:
        # Here, where a full disk can still be reported, and not when the interpreter ends.
        if sys.stdout is not None:
            sys.stdout.flush()


def _drop_output() -> None:
    """What is still buffered must not fail a second time when the interpreter ends."""
    if sys.stdout is not None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _sentence(error: OSError) -> str:
    reason = error.strerror or str(error)
    return f"{error.filename}: {reason}" if error.filename is not None else reason
