"""Where others look on: at every call, at what does the work behind it, at every request out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from toolyard.catalog.entries import Tool
from toolyard.methods.tools import Permit
from toolyard.protocol.call import Call, Handler, Target
from toolyard.scripts.running.runner import Runner
from toolyard.transports.answer import Observe
from toolyard.upstreams.conversation.observing import ObserveExchange
from toolyard.upstreams.target import UpstreamTargets


class Taps(Protocol):
    """Wraps what somebody wants to observe; None where nobody does."""

    @property
    def request(self) -> Observe | None:
        """Sees each request of a client until it is answered."""

    @property
    def exchange(self) -> ObserveExchange | None:
        """Sees each request to an upstream until its answer is here."""

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
    exchange: ObserveExchange | None = None
    runner_type = Runner

    def permit(self, permit: Permit | None) -> Permit | None:
        return permit

    def handler(self, handler: Handler) -> Handler:
        return handler

    def script(self, target: Target) -> Target:
        return target

    def upstreams(self, targets: UpstreamTargets) -> UpstreamTargets:
        return targets


def _same(target: Target) -> Target:
    return target


@dataclass(frozen=True, slots=True)
class MoreTaps:
    """These taps, and others who look on."""

    taps: Taps
    request: Observe | None
    exchange: ObserveExchange | None
    around_script: Callable[[Target], Target] = _same
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
        return self.taps.script(self.around_script(target))

    def upstreams(self, targets: UpstreamTargets) -> UpstreamTargets:
        return self.taps.upstreams(targets)


def both_requests(outer: Observe, inner: Observe | None) -> Observe:
    if inner is None:
        return outer
    return lambda call, session, work: outer(call, session, lambda: inner(call, session, work))


def both_exchanges(outer: ObserveExchange, inner: ObserveExchange | None) -> ObserveExchange:
    if inner is None:
        return outer
    return lambda addressee, out, send: outer(
        addressee, out, lambda out: inner(addressee, out, send)
    )
