"""A server that runs once for several processes of ours: in one of them, which the others ask.

What clients share is shared by all these processes: calls of clients that cannot be asked
anything, lists, subscriptions. A connection that belongs to one client is opened where that
client is, as always.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeAlias

from toolyard.protocol.call import Call, Channel, JsonObject
from toolyard.protocol.client import ASKED
from toolyard.upstreams.connections import Downstream
from toolyard.upstreams.definition import Learnt, ServerDefinition
from toolyard.upstreams.lists.disk import UpstreamRecord


class OtherCopy(Protocol):
    """The server, in another process. All of it raises a LinkError."""

    async def perform(
        self, method: str, params: JsonObject, call: Call, channel: Channel
    ) -> JsonObject:
        """Raises ProtocolError for the server's own error."""

    async def resume(self, task: JsonObject, call: Call, channel: Channel) -> JsonObject:
        """The same, for a task that was begun before."""

    async def listing(self, client: Downstream) -> UpstreamRecord: ...

    async def subscribe(
        self, uri: str, call: Call, changed: Callable[[], None]
    ) -> Callable[[], None]:
        """Returns what ends it."""


class Copies(Protocol):
    async def elsewhere(
        self, definition: ServerDefinition, changed: Callable[[], None]
    ) -> OtherCopy | None:
        """Where it runs; None: here. `changed`: what it lists may be something else now.

        Raises a LinkError.
        """

    async def close(self) -> None: ...


FindCopy: TypeAlias = Callable[[Downstream], Awaitable["OtherCopy | None"]]


def may_share(definition: ServerDefinition, learnt: Learnt, client: Downstream) -> bool:
    """Is what this client needs shared with others?"""
    if definition.share == "always" or ASKED.isdisjoint(client.guise.capabilities):
        return True
    return bool(learnt.speaks_modern(client.guise.modern))
