"""A request on its way in: its head is here, its body arrives while it is read.

A body goes through these states, in this order, and `gone` may come at any time:

* arriving: the connection feeds chunks; a client that sent `Expect` waits until somebody reads
* whole: its last byte is here; perhaps nobody has read any of it
* taken: it was read; from here on only the client's leaving can be waited for

A body that nobody reads stays in the connection's buffers, and then in the client's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from toolyard.http.serving.request_heads import Head

if TYPE_CHECKING:
    from toolyard.http.serving.connection import ServerConnection


class BodyTooLarge(Exception):
    """The request has more bytes than allowed."""


class Disconnected(Exception):
    """The client left before its request was whole."""


def query_fields(query: bytes) -> dict[str, str]:
    """The fields of a query; of one that is given twice, the last."""
    fields = parse_qs(query.decode("latin-1"))
    return {name: values[-1] for name, values in fields.items()}


class Request:
    """One request of a client. `whole`: its body, if that is all here from the start."""

    __slots__ = (
        "_arrived",
        "_buffered",
        "_chunks",
        "_connection",
        "_taken",
        "_wanted",
        "_watcher",
        "go_ahead",
        "gone",
        "head",
        "headers",
        "whole",
    )

    def __init__(
        self, head: Head, connection: ServerConnection, whole: bytes | None = None
    ) -> None:
        self.head = head
        self.headers = head.headers  # by their names in lower case
        self._connection = connection
        # Tells a client that asked first to send its body.
        self.go_ahead: Callable[[], None] | None = None
        self._chunks: list[bytes] = [] if whole is None else [whole]
        self._buffered = 0
        self._taken = False
        self._wanted = 0  # bytes that may be here before anybody is told
        self._arrived: asyncio.Future[None] | None = None
        self._watcher: Callable[[bytes], None] | None = None
        self.whole = whole is not None
        self.gone = False  # the client has left

    # -- what the head says ------------------------------------------------------------

    @property
    def method(self) -> str:
        return self.head.method

    @property
    def path(self) -> str:
        return self.head.path

    @property
    def query(self) -> dict[str, str]:
        return query_fields(self.head.query)

    @property
    def authorization(self) -> list[str]:
        """Every Authorization header: whether there may be two is not decided here."""
        if "authorization" not in self.headers:
            return []
        raw = self.head.raw
        return [value.decode("latin-1") for name, value in raw if name == b"authorization"]

    @property
    def address(self) -> str:
        """The address of the client; empty if it has none."""
        return self._connection.address

    @property
    def foretold(self) -> str:
        """What the client was told already, where it was answered before there was a server."""
        return self._connection.foretold

    # -- for the connection ------------------------------------------------------------

    def feed(self, chunk: bytes) -> int:
        """Take a part of the body; gives how many bytes wait to be read now."""
        self._chunks.append(chunk)
        self._buffered += len(chunk)
        if self._buffered <= self._wanted:
            return 0
        self._notify()
        return self._buffered

    def complete(self) -> None:
        self.whole = True
        self._notify()

    def lost(self) -> None:
        self.gone = True
        self._notify()

    def _notify(self) -> None:
        if self._arrived is not None and not self._arrived.done():
            self._arrived.set_result(None)

    def carry(self, head: Head, body: bytes) -> None:
        """Be another request from here on, whose body is here: the one that was inside this one."""
        self.head, self.headers = head, head.headers
        self._chunks, self._taken, self.whole = [body], False, True

    # -- for whoever answers it ---------------------------------------------------------

    def watch(self, watcher: Callable[[bytes], None]) -> None:
        """Have this called with what is read of the body."""
        self._watcher = watcher

    def at_hand(self) -> bytes | None:
        """The whole body, if it is here already."""
        if not self.whole or self._taken or self.gone:
            return None
        chunks = self._chunks
        if self._buffered or self._watcher is not None or len(chunks) != 1:
            return self._take()
        self._taken = True  # it came with the head, as most do
        return chunks.pop()

    async def read(self, most: int) -> bytes:
        """The whole body. Raises BodyTooLarge and Disconnected."""
        if self._taken:
            return b""
        self._wanted = most  # nobody is woken for less than all of it, nor is the client held up
        if self._buffered:
            self._connection.read_on()
        while not (self.whole or self.gone or self._buffered > most):
            await self._more()
        self._wanted = 0
        if self.gone:
            raise Disconnected
        body = self._take()
        if len(body) > most:
            raise BodyTooLarge
        return body

    async def left(self) -> None:
        """Wait until the client has left; drop what is still to be read."""
        while await self._part() is not None:
            pass

    async def while_connected(self, work: Coroutine[Any, Any, None]) -> None:
        """Run work until it is done or the client has left."""
        loop = asyncio.get_running_loop()
        task, departure = loop.create_task(work), loop.create_task(self.left())
        try:
            await asyncio.wait((task, departure), return_when=asyncio.FIRST_COMPLETED)
        finally:
            task.cancel()
            departure.cancel()
            await asyncio.gather(task, departure, return_exceptions=True)

    async def _part(self) -> bytes | None:
        """The next part of the body; None once the client has left."""
        while not self.gone:
            if not self._taken and (self._chunks or self.whole):
                return self._take()
            await self._more()
        return None

    def _take(self) -> bytes:
        chunks, self._chunks = self._chunks, []
        self._taken = self.whole
        if self._buffered:
            self._buffered = 0
            self._connection.read_on()
        body = chunks[0] if len(chunks) == 1 else b"".join(chunks)
        if self._watcher is not None:
            self._watcher(body)
        return body

    async def _more(self) -> None:
        """Wait until there is more of the body, or all of it, or nobody who sends it."""
        if self.go_ahead is not None:
            self.go_ahead()
            self.go_ahead = None
        if self._arrived is None or self._arrived.done():
            self._arrived = asyncio.get_running_loop().create_future()
        await self._arrived
