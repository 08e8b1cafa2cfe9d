"""What is kept for clients that come back: bounded per session and in all, oldest dropped first."""

from __future__ import annotations

from collections import OrderedDict

from toolyard.transports.bounds import Bounds
from toolyard.transports.endpoint.outbox import Outbox

_MOST_STREAMS = 64


class Ledger:
    """What all sessions together keep, and which stream is the oldest."""

    def __init__(self, bounds: Bounds) -> None:
        self.bounds = bounds
        self.size = 0
        self._owners: OrderedDict[Outbox, Replay] = OrderedDict()

    def add(self, outbox: Outbox, owner: Replay) -> None:
        self._owners[outbox] = owner

    def remove(self, outbox: Outbox) -> None:
        del self._owners[outbox]

    def grew(self, size: int) -> None:
        """Drop the oldest streams, but never the last: its client may be on its way back."""
        self.size += size
        while self.size > self.bounds.replay_all and len(self._owners) > 1:
            outbox, owner = next(iter(self._owners.items()))
            owner.forget(outbox)


class Replay:
    """The streams of one session that a client can resume."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._streams: OrderedDict[str, Outbox] = OrderedDict()
        self._size = 0

    def keep(self, outbox: Outbox) -> None:
        if outbox.stream in self._streams:
            return
        self._streams[outbox.stream] = outbox
        self._ledger.add(outbox, self)
        outbox.join(self)
        self._grew(outbox.size)

    def on_put(self, outbox: Outbox, number: int, message: bytes) -> None:
        self._grew(len(message))

    def _grew(self, size: int) -> None:
        self._size += size
        while self._too_much() and len(self._streams) > 1:
            self.forget(next(iter(self._streams.values())))
        self._ledger.grew(size)
        if self._too_much():
            self._trim()

    def _trim(self) -> None:
        """One stream alone is too long: drop what was read of it."""
        for outbox in self._streams.values():
            size = outbox.trim(self._ledger.bounds.replay_session)
            self._size -= size
            self._ledger.size -= size

    def _too_much(self) -> bool:
        return self._size > self._ledger.bounds.replay_session or len(self._streams) > _MOST_STREAMS

    def forget(self, outbox: Outbox) -> None:
        del self._streams[outbox.stream]
        outbox.leave(self)
        self._size -= outbox.size
        self._ledger.size -= outbox.size
        self._ledger.remove(outbox)

    def find(self, stream: str) -> Outbox | None:
        return self._streams.get(stream)

    def close(self) -> None:
        for outbox in tuple(self._streams.values()):
            self.forget(outbox)
