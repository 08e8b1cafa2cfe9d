"""Server-sent events: the messages of one stream in order, kept for who comes back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator


def priming(event_id: str, retry_ms: int) -> bytes:
    """An event without data: gives a client that is cut off something to come back with."""
    return f"id: {event_id}\nretry: {retry_ms}\ndata: \n\n".encode()


class Outbox:
    """The messages of one stream. Numbered from 1; kept for replay up to a bound."""

    def __init__(self, stream: str = "", keep: int | None = None) -> None:
        self.stream = stream
        self.closed = False
        self._keep = keep
        self._messages: list[bytes] = []
        self._dropped = 0
        self._wake: asyncio.Future[None] | None = None
        self._followers: list[object] = []
        self.delivered = 0  # the last one that went to somebody

    def put(self, message: bytes) -> None:
        self._messages.append(message)
        if self._keep is not None and len(self._messages) > self._keep:
            del self._messages[0]
            self._dropped += 1
        self.rouse()

    def forget(self, through: int) -> None:
        """Let go of what was delivered and will not be asked for again."""
        count = through - self._dropped
        if count > 0:
            del self._messages[:count]
            self._dropped += count

    def close(self) -> None:
        self.closed = True
        self.rouse()

    def rouse(self) -> None:
        """Have followers look up, whether or not there is something new."""
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)

    def event_id(self, number: int) -> str:
        return f"{self.stream}.{number}"

    async def follow(
        self, after: int = 0, idle: float | None = None
    ) -> AsyncGenerator[tuple[int, bytes] | None, None]:
        """Every message after a number, as they come; None when roused or idle with nothing new.

        A message goes to one follower, the newest: it may be the same client on its way back.
        What went to others before is only told to who asks for it by its number.
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
                    self.delivered = max(self.delivered, number)
                    yield number, message
                if self.closed:
                    return
                roused = await self._wait(idle)
                if not roused or number == self._dropped + len(self._messages):
                    yield None
        finally:
            self._followers.remove(me)
            self.rouse()

    async def _wait(self, idle: float | None) -> bool:
        if self._wake is None or self._wake.done():
            self._wake = asyncio.get_running_loop().create_future()
        done, _ = await asyncio.wait([self._wake], timeout=idle)
        return bool(done)


def parse_event_id(event_id: str) -> tuple[str, int] | None:
    """The stream and the number in an id of ours."""
    stream, _, number = event_id.rpartition(".")
    return (stream, int(number)) if stream and number.isdecimal() else None
