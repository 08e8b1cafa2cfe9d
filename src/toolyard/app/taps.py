"""Where others look on: at every call, at what does the work behind it, at every request out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from toolyard.catalog.entries import Tool
from toolyard.methods.tools import Permit
from toolyard.methods.views import Saved
from toolyard.protocol.call import Call, Handler, Target
from toolyard.scripts.running.runner import Runner
from toolyard.transports.answer import NoteRequest, Observe
from toolyard.upstreams.conversation.observing import UNWATCHED, Watch
from toolyard.upstreams.target import UpstreamTargets
from toolyard.virtual.watching import Onlooker


class Taps(Protocol):
    """Wraps what somebody wants to observe; None where nobody does."""

    @property
    def request(self) -> Observe | None:
        """Sees each request of a client until it is answered."""

    @property
    def note(self) -> NoteRequest | None:
        """Is told of each request of a client that was answered."""

    @property
    def watch(self) -> Watch:
        """Sees each request to an upstream."""

    @property
    def onlooker(self) -> Onlooker | None:
        """Sees what is made of the results of other tools."""

    @property
    def saved(self) -> Saved | None:
        """Is told how many characters a model did not get to read."""

    @property
    def runner_type(self) -> type[Runner]:
        """What runs scripts."""

    def permit(self, permit: Permit | None) -> Permit | None: ...

    def handler(self, handler: Handler) -> Handler: ...

    def script(self, target: Target) -> Target: ...

    def upstreams(self, targets: UpstreamTargets) -> UpstreamTargets: ...


class NoTaps:
    """Nobody looks on: everything is used as it is."""

    request: Observe | None = None
    note: NoteRequest | None = None
    watch: Watch = UNWATCHED
    onlooker: Onlooker | None = None
    saved: Saved | None = None
    runner_type = Runner

    def permit(self, permit: Permit | None) -> Permit | None:
        return permit

    def handler(self, handler: Handler) -> Handler:
        return handler

    def script(self, target: Target) -> Target:
        return target

    def upstreams(self, targets: UpstreamTargets) -> UpstreamTargets:
        return targets


@dataclass(frozen=True, slots=True)
class MoreTaps:
    """These taps, and others who look on."""

    taps: Taps
    request: Observe | None
    note: NoteRequest | None
    watch: Watch
    onlooker: Onlooker | None = None
    saved: Saved | None = None
    runner_type: type[Runner] = Runner
    # A decision that takes time, as a policy's does.
    around_decision: Callable[[Awaitable[None], Tool], Awaitable[None]] | None = None

    def permit(self, permit: Permit | None) -> Permit | None:
        permit, around = self.taps.permit(permit), self.around_decision
        if permit is None or around is None:
            return permit

        def observed_permit(call: Call, tool: Tool) -> Awaitable[None] | None:
            decision = permit(call, tool)
            return None if decision is None else around(decision, tool)

        return observed_permit

    def handler(self, handler: Handler) -> Handler:
        return self.taps.handler(handler)

    def script(self, target: Target) -> Target:
        return self.taps.script(target)

    def upstreams(self, targets: UpstreamTargets) -> UpstreamTargets:
        return self.taps.upstreams(targets)
