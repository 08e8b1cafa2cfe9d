"""The work behind an entry of an upstream: one request to it. Knows no connections."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from toolyard.errors import UpstreamError
from toolyard.protocol.call import Call, Caller, Channel, JsonObject, Result, Target
from toolyard.upstreams.link import LinkError, Lost, TimedOut

# (server, method, params, call, channel) -> result
Perform: TypeAlias = Callable[[str, str, JsonObject, Call, Channel], Awaitable[JsonObject]]
# (server, uri, caller, changed): runs until it is cancelled
WatchUri: TypeAlias = Callable[[str, str, Caller, Callable[[], None]], Awaitable[None]]

# Of the client's params these are ours to set, or end at this hop.
_REPLACED = frozenset({"name", "arguments", "uri", "task", "_meta"})


class UpstreamTarget:
    """`shape` makes the params of `method` from the arguments of a call."""

    __slots__ = ("_method", "_perform", "_server", "_shape")

    def __init__(
        self,
        server: str,
        method: str,
        shape: Callable[[JsonObject], JsonObject],
        perform: Perform,
    ) -> None:
        self._server = server
        self._method = method
        self._shape = shape
        self._perform = perform

    async def call(self, arguments: JsonObject, call: Call, channel: Channel) -> Result:
        params = self._shape(arguments)
        if call.method == self._method:
            params = {**_unknown(call.params), **params}
        if call.input_responses is not None:
            params["inputResponses"] = call.input_responses
        if call.request_state is not None:
            params["requestState"] = call.request_state
        try:
            return await self._perform(self._server, self._method, params, call, channel)
        except (Lost, TimedOut) as error:
            raise UpstreamError(self._server, f"{error}; the request may have run") from None
        except LinkError as error:
            raise UpstreamError(self._server, str(error)) from None


class ResourceTarget(UpstreamTarget):
    """Reads resources, and knows when one has changed."""

    __slots__ = ("_watch",)

    def __init__(self, server: str, perform: Perform, watch: WatchUri) -> None:
        super().__init__(server, "resources/read", lambda given: {"uri": given["uri"]}, perform)
        self._watch = watch

    async def watch(self, arguments: JsonObject, call: Call, changed: Callable[[], None]) -> None:
        """Call `changed` whenever the resource may have changed, until cancelled."""
        try:
            await self._watch(self._server, arguments["uri"], call.caller, changed)
        except LinkError as error:
            raise UpstreamError(self._server, str(error)) from None


def _unknown(params: JsonObject) -> JsonObject:
    return {key: value for key, value in params.items() if key not in _REPLACED}


class Targets:
    """The targets of every upstream, by the name its definition gave it."""

    def __init__(self, perform: Perform, watch: WatchUri) -> None:
        self._perform = perform
        self._watch = watch

    def tool(self, server: str, name: str) -> Target:
        def shape(arguments: JsonObject) -> JsonObject:
            return {"name": name, "arguments": arguments}

        return UpstreamTarget(server, "tools/call", shape, self._perform)

    def prompt(self, server: str, name: str) -> Target:
        def shape(arguments: JsonObject) -> JsonObject:
            return {"name": name, "arguments": arguments}

        return UpstreamTarget(server, "prompts/get", shape, self._perform)

    def resource(self, server: str) -> Target:
        return ResourceTarget(server, self._perform, self._watch)

    def completion(self, server: str) -> Target:
        return UpstreamTarget(server, "completion/complete", dict, self._perform)
