"""The work behind an entry of an upstream: one request to it. Knows no connections."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeAlias

from toolyard.errors import METHOD_NOT_FOUND, ProtocolError, ToolError, UpstreamError
from toolyard.protocol.asking.rounds import RESPONSES, STATE
from toolyard.protocol.call import Call, Channel, Json, JsonObject, Result, Target
from toolyard.telemetry import each_text
from toolyard.upstreams.link.link import LinkError, Lost, TimedOut

# Sends a method with these params, on behalf of a call.
Perform: TypeAlias = Callable[[str, JsonObject, Call, Channel], Awaitable[JsonObject]]


class Backend(Protocol):
    """The server behind a target. Both raise a LinkError when it cannot be reached."""

    @property
    def perform(self) -> Perform: ...

    async def resume(self, task: JsonObject, call: Call, channel: Channel) -> JsonObject:
        """Wait for a task that an earlier request has begun there."""

    async def subscribe(
        self, uri: str, call: Call, channel: Channel, changed: Callable[[], None]
    ) -> Callable[[], None]:
        """Returns what ends it."""

    def public_text(self, error: LinkError) -> str:
        """What may be said about an error: nothing that came from a variable."""


# Of the client's params these are ours to set, or end at this hop.
_REPLACED = frozenset({"name", "arguments", "uri", "task", "_meta"})


class UpstreamTarget:
    """One request to a server: `shape` makes its params from the arguments of a call."""

    __slots__ = ("_method", "_peer", "_server", "_shape")

    def __init__(
        self,
        server: str,
        method: str,
        shape: Callable[[JsonObject], JsonObject],
        peer: Backend,
    ) -> None:
        self._server = server
        self._method = method
        self._shape = shape
        self._peer = peer

    async def call(self, arguments: JsonObject, call: Call, channel: Channel) -> Result:
        params = self._shape(arguments)
        if call.method == self._method and not call.params.keys() <= _REPLACED:
            params = {**_unknown(call.params), **params}
        if call.input_responses is not None:
            params[RESPONSES] = call.input_responses
        if call.request_state is not None:
            params[STATE] = call.request_state
        begun = call.task.upstream if call.task is not None else None
        try:
            if begun is not None:
                result = await self._resume(begun, params, call, channel)
            else:
                result = await self._peer.perform(self._method, params, call, channel)
            return self._without_secrets(result) if result.get("isError") else result
        except ProtocolError as error:
            data = self._without_secrets(error.data)
            raise ProtocolError(error.code, self._without_secrets(error.message), data) from None
        except (Lost, TimedOut) as error:
            reason = f"{self._peer.public_text(error)}; the request may have run"
            raise UpstreamError(self._server, reason) from None
        except LinkError as error:
            raise UpstreamError(self._server, self._peer.public_text(error)) from None

    async def _resume(
        self, begun: JsonObject, params: JsonObject, call: Call, channel: Channel
    ) -> JsonObject:
        if begun.get("tool") != params.get("name"):
            raise ToolError("the tool has been replaced: what it began can no longer be awaited")
        return await self._peer.resume(begun, call, channel)

    def _without_secrets(self, value: Json) -> Any:
        """What a server says about its failure may repeat what it was started or called with."""
        return each_text(value, lambda text: self._peer.public_text(LinkError(text)))


class UpstreamResourceTarget(UpstreamTarget):
    """Reads resources, and knows when one has changed."""

    __slots__ = ()

    def __init__(self, server: str, peer: Backend) -> None:
        super().__init__(
            server, "resources/read", lambda arguments: {"uri": arguments["uri"]}, peer
        )

    async def subscribe(
        self, arguments: JsonObject, call: Call, channel: Channel, changed: Callable[[], None]
    ) -> Callable[[], None]:
        """From now on `changed` is called when the resource has changed; returns what ends that."""
        try:
            return await self._peer.subscribe(arguments["uri"], call, channel, changed)
        except LinkError as error:
            raise UpstreamError(self._server, self._peer.public_text(error)) from None


class CompletionTarget(UpstreamTarget):
    """Completes arguments, where its server does: older ones do not say whether they do."""

    __slots__ = ()

    def __init__(self, server: str, peer: Backend) -> None:
        super().__init__(server, "completion/complete", dict, peer)

    async def call(self, arguments: JsonObject, call: Call, channel: Channel) -> Result:
        try:
            return await super().call(arguments, call, channel)
        except ProtocolError as error:
            if error.code != METHOD_NOT_FOUND:
                raise
            return {"completion": {"values": [], "total": 0, "hasMore": False}}


def _unknown(params: JsonObject) -> JsonObject:
    return {key: value for key, value in params.items() if key not in _REPLACED}


class UpstreamTargets(Protocol):
    """What does the work behind an upstream's entries, by the server's name."""

    def tool(self, server: str, name: str) -> Target: ...

    def prompt(self, server: str, name: str) -> Target: ...

    def resource(self, server: str) -> Target: ...

    def completion(self, server: str) -> Target: ...


class PoolTargets:
    """The targets of every upstream, by the name its definition gave it.

    `find` is asked when a target is made: it goes on with that upstream, whatever the name
    means later.
    """

    def __init__(self, find: Callable[[str], Backend]) -> None:
        self._find = find

    def tool(self, server: str, name: str) -> Target:
        def shape(arguments: JsonObject) -> JsonObject:
            return {"name": name, "arguments": arguments}

        return UpstreamTarget(server, "tools/call", shape, self._find(server))

    def prompt(self, server: str, name: str) -> Target:
        def shape(arguments: JsonObject) -> JsonObject:
            return {"name": name, "arguments": arguments}

        return UpstreamTarget(server, "prompts/get", shape, self._find(server))

    def resource(self, server: str) -> Target:
        return UpstreamResourceTarget(server, self._find(server))

    def completion(self, server: str) -> Target:
        return CompletionTarget(server, self._find(server))
