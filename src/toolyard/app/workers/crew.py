"""Several workers behind one address. What it imports, the supervisor carries around: little."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
from collections.abc import Callable
from dataclasses import dataclass

from toolyard.http.serving.turns import Turns
from toolyard.processes.supervisor import Supervisor, WorkerPlace
from toolyard.store.machine import MachineCounts, WorkerCounts

# The system's limit for the path of a socket is 104 to 108 bytes; a name takes some of them.
LONGEST_FOLDER = 70
# Beside the time that running calls have: for closing what runs, as a single process has it.
CLOSING = 20.0


@dataclass(frozen=True, slots=True)
class Crew:
    """What all workers of one address share, made before the first of them starts."""

    count: int
    sock: socket.socket
    turns: Turns
    folder: str  # of their peer addresses; nobody else may look into it
    secret: bytes  # what they seal with
    counts: MachineCounts

    def ended(self, number: int) -> None:
        """Nothing waits for this worker, or is held by it."""
        self.turns.leave(number)
        self.counts.ended(number)


@dataclass(frozen=True, slots=True)
class Worker:
    """One of them, in its own process."""

    crew: Crew
    place: WorkerPlace

    @property
    def counts(self) -> WorkerCounts:
        return self.crew.counts.of(self.place.number)


def supervise(count: int, sock: socket.socket, work: Callable[[Worker], int], drain: float) -> int:
    folder = _private_folder()
    try:
        crew = Crew(count, sock, Turns(count), folder, os.urandom(32), MachineCounts(count))
        supervisor = Supervisor(
            count,
            lambda place: work(Worker(crew, place)),
            ended=crew.ended,
            ending=sock.close,
            drain=drain + CLOSING,
        )
        return supervisor.run()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _private_folder() -> str:
    parent = tempfile.gettempdir()
    if len(os.fsencode(parent)) > LONGEST_FOLDER:
        parent = "/tmp"
    return tempfile.mkdtemp(prefix="toolyard-workers-", dir=parent)
