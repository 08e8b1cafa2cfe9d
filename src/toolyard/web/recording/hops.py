"""The second hop of a call: what went to the script or the upstream, and what came back.

To see a call's hops, add a list to `observers` before it runs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from contextvars import ContextVar
from time import perf_counter

from toolyard.errors import UpstreamError
from toolyard.protocol.call import Call, Channel, Json, JsonObject, Result, Target
from toolyard.upstreams.target import UpstreamTargets


class Hop:
    """One request to whoever does the work; filled in place, as it is on the hot path."""

    __slots__ = ("arguments", "began", "ended", "error", "result", "to", "unreached")

    def __init__(self, to: str, arguments: Json) -> None:
        self.to = to
        self.arguments = arguments
        self.result: Json = None
        self.error: str | None = None
        self.unreached = False  # the error is that of the way there
        self.began = perf_counter()
        self.ended = 0.0

    def with_values(self, arguments: Json, result: Json) -> Hop:
        """The same hop with other values; other observers keep theirs."""
        if arguments is self.arguments and result is self.result:
            return self
        copy = Hop(self.to, arguments)
        copy.result, copy.error, copy.unreached = result, self.error, self.unreached
        copy.began, copy.ended = self.began, self.ended
        return copy


def in_words(error: BaseException) -> str:
    """What happened, for people who do not know Python's names for it."""
    if isinstance(error, asyncio.CancelledError):
        return "cancelled"
    if isinstance(error, TimeoutError):
        return str(error) or "it took too long"
    return str(error) or f"an internal error ({type(error).__name__})"


observers: ContextVar[tuple[list[Hop], ...]] = ContextVar("observers", default=())


class Observed:
    """A target whose calls are shown to whoever observes at the time."""

    __slots__ = ("_target", "_to")

    def __init__(self, target: Target, to: str) -> None:
        self._target = target
        self._to = to

    def call(self, arguments: JsonObject, call: Call, channel: Channel) -> Awaitable[Result]:
        hop_lists = observers.get()
        if not hop_lists:
            return self._target.call(arguments, call, channel)
        return self._observe(hop_lists, arguments, call, channel)

    async def _observe(
        self,
        hop_lists: tuple[list[Hop], ...],
        arguments: JsonObject,
        call: Call,
        channel: Channel,
    ) -> Result:
        hop = Hop(self._to, arguments)
        for hops in hop_lists:
            hops.append(hop)
        try:
            result = await self._target.call(arguments, call, channel)
        except BaseException as error:
            hop.error = in_words(error)
            hop.unreached = isinstance(error, UpstreamError)
            raise
        finally:
            hop.ended = perf_counter()
        hop.result = result
        return result


class ObservedTargets:
    """The targets of every upstream, each of them observed."""

    def __init__(self, targets: UpstreamTargets) -> None:
        self._targets = targets

    def tool(self, server: str, name: str) -> Target:
        return Observed(self._targets.tool(server, name), server)

    def prompt(self, server: str, name: str) -> Target:
        return Observed(self._targets.prompt(server, name), server)

    def resource(self, server: str) -> Target:
        return self._targets.resource(server)

    def completion(self, server: str) -> Target:
        return self._targets.completion(server)
