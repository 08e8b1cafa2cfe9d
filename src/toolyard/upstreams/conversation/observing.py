"""How others look on at what is said to an upstream."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from time import perf_counter
from typing import Any, NamedTuple, Protocol

from toolyard.protocol.call import JsonObject
from toolyard.upstreams.conversation.envelope import result_of
from toolyard.upstreams.conversation.running import Running
from toolyard.upstreams.link.link import Link, Outgoing


class Addressee(Protocol):
    """To whom a request goes."""

    @property
    def server(self) -> str:
        """The name that the registry gives to the upstream."""

    @property
    def link(self) -> Link: ...

    @property
    def party(self) -> tuple[str, str, str]:
        """The transport, the server's name, and its address; its name where it has no other."""


class NoteExchange(Protocol):
    """Is told of each request to one addressee that has ended, and when it began (`perf_counter`).

    Without a result it has failed, of the exception that is being handled.
    """

    def __call__(self, out: Outgoing, result: JsonObject | None, start: float) -> None: ...


class ObserveExchange(Protocol):
    """Looks on while a request goes out, may add to it, and passes it on.

    That is `send(out, running, limit)`: a closure for each request would cost more than looking.
    """

    def __call__(
        self,
        addressee: Addressee,
        send: Callable[[Outgoing, Running | None, float | None], Awaitable[JsonObject]],
        out: Outgoing,
        running: Running | None,
        limit: float | None,
    ) -> Coroutine[Any, Any, JsonObject]: ...


class Watch(NamedTuple):
    """Who looks on at what is said to upstreams; None: nobody does."""

    observe: ObserveExchange | None = None
    note: Callable[[Addressee], NoteExchange] | None = None

    def note_of(self, addressee: Addressee) -> NoteExchange | None:
        return self.note(addressee) if self.note is not None else None


UNWATCHED = Watch()


async def noted(addressee: Addressee, out: Outgoing, note: NoteExchange | None) -> JsonObject:
    """The result of a request that comes once a connection."""
    start, result = perf_counter(), None
    try:
        result = result_of(await addressee.link.exchange(out))
        return result
    finally:
        if note is not None:
            note(out, result, start)
