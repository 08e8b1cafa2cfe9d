"""What every link to an upstream has in common: how messages go out, and what can go wrong."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Mapping
from types import MappingProxyType
from typing import ClassVar, NamedTuple, Protocol

from toolyard.processes.pacing import Pace, units_of
from toolyard.protocol.call import Json, JsonObject
from toolyard.protocol.codec import dumps
from toolyard.protocol.jsonrpc import MOST_IN_BATCH

MAX_MESSAGE = 64 * 1024 * 1024
UNREQUESTED_RATE = 1000.0


class LinkError(Exception):
    """Talking to the upstream failed; the text says how."""


class NotSent(LinkError):
    """The message provably never reached the upstream: it may be sent again."""


class Lost(LinkError):
    """The answer will not come, and the upstream may have acted on the message."""


class TimedOut(LinkError):
    """No answer in time."""


class Down(LinkError):
    """It failed a moment ago and is not tried again yet."""


class SessionGone(NotSent):
    """The upstream refused the message because it does not know our session any more."""


class Refusal(LinkError):
    """An HTTP status other than success; `error` is the JSON-RPC error in its body, if any."""

    def __init__(self, status: int, text: str, error: JsonObject | None = None) -> None:
        super().__init__(f"answered HTTP {status}{': ' + text if text else ''}")
        self.status = status
        self.error = error


class CredentialsError(LinkError):
    """The upstream wants credentials, or other ones."""


NO_HEADERS: Mapping[str, str] = MappingProxyType({})


class Outgoing(NamedTuple):
    """One request on its way: the message, and what the transport's headers must say about it."""

    id: int
    method: str
    params: JsonObject  # its `_meta`, if there is one, belongs to this request alone
    version: str | None = None  # the settled revision's date; None while it is being settled
    modern: bool = False
    headers: Mapping[str, str] = NO_HEADERS
    # Headers that no other request has, as `encode_head` wants them.
    lines: bytes = b""

    def encode(self) -> bytes:
        return dumps(
            {"jsonrpc": "2.0", "id": self.id, "method": self.method, "params": self.params}
        )


class Hearer(Protocol):
    """Whoever is told what an upstream says, beside the answers to requests."""

    def receive(self, message: JsonObject, request_id: int | None) -> None:
        """With the id of our request on whose stream it came, if that is known."""

    def on_polling(self, request_id: int) -> None:
        """The stream of this request was ended before its answer: it is polled for the rest."""

    def on_lost(self, error: LinkError) -> None:
        """Nothing can be exchanged any more. Called once."""


class Unheard:
    """Before a link is opened nobody hears it, and there is nothing to hear."""

    def receive(self, message: JsonObject, request_id: int | None) -> None:
        pass

    def on_polling(self, request_id: int) -> None:
        pass

    def on_lost(self, error: LinkError) -> None:
        pass


class Link(ABC):
    """One conversation with an upstream, in some transport: opened, used, closed or lost.

    `pace` is that of messages nobody asked for: the upstream is read no faster than this.
    """

    transport: ClassVar[str]

    def __init__(self, pace: Pace) -> None:
        self.lost: LinkError | None = None
        self.pace = pace
        self.address = ""  # the host at the other end, where there is one
        self._hearer: Hearer = Unheard()

    async def pause(self, size: int) -> None:
        """After a message of this size that nobody asked for."""
        seconds = self.pace.take(units_of(size))
        if seconds:
            await asyncio.sleep(seconds)

    async def open(self, hearer: Hearer) -> None:
        """Get ready to exchange messages, or raise a LinkError."""
        self._hearer = hearer
        await self._open()

    @abstractmethod
    async def _open(self) -> None: ...

    @abstractmethod
    def exchange(self, out: Outgoing) -> Awaitable[JsonObject]:
        """Send a request and wait for its answer, a JSON-RPC response with our id."""

    def forget(self, request_id: int) -> None:  # noqa: B027 - most transports need nothing
        """Nobody waits for this answer any more."""

    @abstractmethod
    async def send(self, message: JsonObject, version: str | None) -> None:
        """Send a notification, or the answer to a request of the upstream."""

    @abstractmethod
    async def close(self) -> None:
        """End the conversation. May be called twice."""

    def listen(self, version: str) -> None:  # noqa: B027 - most transports need nothing
        """The handshake is over: from now on the upstream may speak unasked."""

    def diagnosis(self) -> str:
        """What the upstream said beside the protocol: the tail of its stderr."""
        return ""

    def lose(self, error: LinkError) -> None:
        """Nothing can be exchanged any more."""
        if self.lost is None:
            self.lost = error
            self._hearer.on_lost(error)


class Pending:
    """Requests that wait for an answer on a stream that all of them share."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._waiting: dict[int, asyncio.Future[JsonObject]] = {}

    def add(self, request_id: int) -> asyncio.Future[JsonObject]:
        future: asyncio.Future[JsonObject] = self._loop.create_future()
        self._waiting[request_id] = future
        return future

    def drop(self, request_id: int) -> None:
        future = self._waiting.pop(request_id, None)
        if future is not None and future.done() and not future.cancelled():
            future.exception()  # seen, also where sending failed before it was awaited

    def settle(self, message: JsonObject) -> bool:
        """Hand an answer to whoever waits for it; False where nobody does, and it is dropped."""
        request_id = message.get("id")
        future = self._waiting.pop(request_id, None) if type(request_id) is int else None
        if future is None or future.done():
            return False
        future.set_result(message)
        return True

    def break_off(self, request_id: int, error: LinkError) -> None:
        future = self._waiting.pop(request_id, None)
        if future is not None and not future.done():
            future.set_exception(error)

    def fail(self, error: LinkError) -> None:
        futures, self._waiting = self._waiting, {}
        for future in futures.values():
            if not future.done():
                future.set_exception(error)


def messages_in(value: Json) -> list[JsonObject]:
    """The message, or those of a batch; what is not an object is skipped, and too long a batch."""
    if isinstance(value, list):
        if len(value) > MOST_IN_BATCH:
            return []
        return [item for item in value if isinstance(item, dict)]
    return [value] if isinstance(value, dict) else []
