"""The messages of one event stream, in order, kept for a client that comes back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Protocol

# How many bytes we hold for a client that does not read before notifications are dropped.
MAX_UNREAD = 1024 * 1024
_NOTIFICATION = b'{"jsonrpc":"2.0","method":'
_MOST_DIGITS = 18
GENERAL = "g"  # the stream of what belongs to no request


def priming(event_id: str, retry_ms: int) -> bytes:
    """An event without data: gives a client that is cut off something to come back with."""
    return f"id: {event_id}\nretry: {retry_ms}\ndata: \n\n".encode()


def is_notification(message: bytes) -> bool:
    """As we encode it: neither an answer nor a question."""
    return message.startswith(_NOTIFICATION)


class Witness(Protocol):
    """Hears of each message of a stream: to count it, or to write it down for others."""

    def on_put(self, outbox: Outbox, number: int, message: bytes) -> None: ...


class Outbox:
    """The messages of one stream, numbered from 1 and kept for replay up to a bound.

    If nobody reads, notifications are dropped and counted; answers and questions never are.
    """

    def __init__(
        self,
        stream: str = "",
        keep: int | None = None,
        keep_bytes: int | None = None,
        start: int = 0,
    ) -> None:
        """`start`: numbers up to there were given before, by another process."""
        self.stream = stream
        self.start = start
        self.closed = False
        self.size = 0
        self.unsaid = 0  # the number of notifications dropped
        self._keep = keep
        self._keep_bytes = keep_bytes
        self._messages: list[bytes] = []
        self._dropped = start
        self._read = start  # the number of the last message somebody has taken
        self._unread = 0  # bytes of the messages nobody has taken
        self._wake: asyncio.Future[None] | None = None
        self._followers: list[object] = []
        self._witnesses: dict[Witness, None] = {}  # in the order they came
        self.delivered = start  # the number of the last message sent to anybody

    def put(self, message: bytes) -> None:
        if self._unread > MAX_UNREAD and is_notification(message):
            self.unsaid += 1
            return
        self._messages.append(message)
        self._unread += len(message)
        self.size += len(message)
        while self._too_many():
            self._drop(1)
        self.rouse()
        for witness in tuple(self._witnesses):
            witness.on_put(self, self._dropped + len(self._messages), message)

    def join(self, witness: Witness) -> None:
        """From now on it hears of each message; joining twice changes nothing."""
        self._witnesses[witness] = None

    def leave(self, witness: Witness) -> None:
        self._witnesses.pop(witness, None)

    @property
    def oldest(self) -> int:
        """The number of the first message that is kept."""
        return self._dropped + 1

    def kept(self) -> list[tuple[int, bytes]]:
        return list(enumerate(self._messages, self.oldest))

    def _too_many(self) -> bool:
        """The newest stays, however large it is."""
        if self._keep is not None and len(self._messages) > self._keep:
            return True
        most = self._keep_bytes
        return most is not None and self.size > most and len(self._messages) > 1

    def forget(self, through: int) -> None:
        """Drop what was delivered and will not be asked for again."""
        count = through - self._dropped
        if count > 0:
            self._drop(count)

    def trim(self, most: int) -> int:
        """Drop the oldest messages that were read, down to `most` bytes; gives the bytes freed."""
        before = self.size
        while self.size > most and self._dropped < self._read and len(self._messages) > 1:
            self._drop(1)
        return before - self.size

    def _drop(self, count: int) -> None:
        for number, message in enumerate(self._messages[:count], self._dropped + 1):
            self.size -= len(message)
            self._unread -= len(message) if number > self._read else 0
        del self._messages[:count]
        self._dropped += count

    def _taken(self, number: int, message: bytes) -> None:
        if number > self._read:
            self._read = number
            self._unread -= len(message)

    def close(self) -> None:
        self.closed = True
        self.rouse()

    def rouse(self) -> None:
        """Wake the followers, whether or not there is something new."""
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)

    def event_id(self, number: int) -> str:
        return f"{self.stream}.{number}"

    async def follow(
        self, after: int = 0, idle: float | None = None
    ) -> AsyncGenerator[tuple[int, bytes] | None, None]:
        """Every message after a number, as it comes; None if woken or idle with nothing new.

        A message goes to one follower, the newest: it may be the same client on its way back.
        What went to others before is sent only to a follower that asks for it by its number.
        """
        number, again, me = after, self.delivered, object()
        self._followers.append(me)
        try:
            while True:
                while self._followers[-1] is me:
                    number = max(number, self._dropped, self.delivered if number >= again else 0)
                    if number >= self._dropped + len(self._messages):
                        break
                    message = self._messages[number - self._dropped]
                    number += 1
                    self._taken(number, message)
                    self.delivered = max(self.delivered, number)
                    yield number, message
                if self.closed:
                    return
                awake = await self._wait(idle)
                if not awake or number == self._dropped + len(self._messages):
                    yield None
        finally:
            self._followers.remove(me)
            self.rouse()

    async def _wait(self, idle: float | None) -> bool:
        if self._wake is None or self._wake.done():
            self._wake = asyncio.get_running_loop().create_future()
        ready, _ = await asyncio.wait([self._wake], timeout=idle)
        return bool(ready)


def parse_event_id(event_id: str) -> tuple[str, int] | None:
    """The stream and the number in an event id of ours; None for any other text."""
    stream, _, number = event_id.rpartition(".")
    is_ours = stream and number.isascii() and number.isdecimal() and len(number) <= _MOST_DIGITS
    return (stream, int(number)) if is_ours else None
