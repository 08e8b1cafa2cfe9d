"""How others look on at what is said to an upstream."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Protocol, TypeAlias

from toolyard.protocol.call import JsonObject
from toolyard.upstreams.link.link import Link, Outgoing


class Addressee(Protocol):
    """To whom a request goes."""

    @property
    def server(self) -> str:
        """The name that the registry gives to the upstream."""

    @property
    def link(self) -> Link: ...


# Looks on while a request goes out, may add to it, and passes it on.
ObserveExchange: TypeAlias = Callable[
    [Addressee, Outgoing, Callable[[Outgoing], Awaitable[JsonObject]]],
    Coroutine[Any, Any, JsonObject],
]
