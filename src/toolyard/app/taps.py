"""Where the page listens in: on every call, and on what does the work behind it."""

from __future__ import annotations

from typing import Protocol

from toolyard.protocol.call import Handler, Target
from toolyard.upstreams.target import UpstreamTargets


class Taps(Protocol):
    """Wraps what the page wants to observe."""

    def handler(self, handler: Handler) -> Handler: ...

    def script(self, target: Target) -> Target: ...

    def upstreams(self, targets: UpstreamTargets) -> UpstreamTargets: ...


class NoTaps:
    """Nobody listens: everything is used as it is."""

    def handler(self, handler: Handler) -> Handler:
        return handler

    def script(self, target: Target) -> Target:
        return target

    def upstreams(self, targets: UpstreamTargets) -> UpstreamTargets:
        return targets
