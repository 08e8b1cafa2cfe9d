"""This process among the workers of one address: how it takes connections, and when it leaves."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from dataclasses import dataclass

from toolyard.app.workers.crew import Worker
from toolyard.http.serving.listening import BACKLOG
from toolyard.http.serving.turnstile import Turnstile
from toolyard.telemetry import logger

log = logger("workers")


@dataclass(frozen=True, slots=True)
class Membership:
    worker: Worker

    def listen(self) -> socket.socket:
        """From now on connections are taken: the first worker knows who may call."""
        sock = self.worker.crew.sock
        sock.listen(BACKLOG)
        return sock

    def begin(self) -> Turnstile:
        """We serve, as long as there is a supervisor."""
        place, crew = self.worker.place, self.worker.crew
        # Nobody ever writes to it: it becomes readable when it has come to its end.
        asyncio.get_running_loop().add_reader(place.lifeline, self._orphaned)
        place.ready()
        return Turnstile(crew.turns, place.number, crew.sock)

    def _orphaned(self) -> None:
        place = self.worker.place
        asyncio.get_running_loop().remove_reader(place.lifeline)
        log.warning("the supervisor is gone: worker %d leaves", place.number)
        os.kill(os.getpid(), signal.SIGTERM)
