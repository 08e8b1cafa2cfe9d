"""Where others look on: at every call, at what does the work behind it, at every request out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from toolyard.protocol.call import Handler, Target
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

    def handler(self, handler: Handler) -> Handler: ...

    def script(self, target: Target) -> Target: ...

    def upstreams(self, targets: UpstreamTargets) -> UpstreamTargets: ...


class NoTaps:
    """Nobody looks on: everything is used as it is."""

    request: Observe | None = None
    exchange: ObserveExchange | None = None

    def handler(self, handler: Handler) -> Handler:
        return handler

    def script(self, target: Target) -> Target:
        return target

    def upstreams(self, targets: UpstreamTargets) -> UpstreamTargets:
        return targets


@dataclass(frozen=True, slots=True)
class MoreTaps:
    """These taps, and others who look on at requests and at what scripts answer."""

    taps: Taps
    request: Observe | None
    exchange: ObserveExchange | None
    around_script: Callable[[Target], Target]

    def handler(self, handler: Handler) -> Handler:
        return self.taps.handler(handler)

    def script(self, target: Target) -> Target:
        return self.taps.script(self.around_script(target))

    def upstreams(self, targets: UpstreamTargets) -> UpstreamTargets:
        return self.taps.upstreams(targets)
