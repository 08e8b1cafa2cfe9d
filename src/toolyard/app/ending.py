"""The process ends when it is told to, whatever hangs in a thread: a dead folder, a FIFO."""

from __future__ import annotations

import os
import threading

from toolyard.telemetry import logger

log = logger("ending")
# For closing what runs, which has limits of its own; and then for the threads.
CLOSING, THREADS = 15.0, 0.5


def insist(seconds: float) -> None:
    """Be gone by then. What waits for a thread that hangs cannot be cancelled, nor joined."""
    timer = threading.Timer(seconds, _leave)
    timer.daemon = True
    timer.start()


def _leave() -> None:
    log.warning("a thread does not end: leaving without it")
    os._exit(0)
