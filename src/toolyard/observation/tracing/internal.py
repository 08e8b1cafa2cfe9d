"""INTERNAL spans for what we do ourselves within a request: scripts, queues, policies, projections.

Only within a request that is traced: outside of one they would tell nobody anything.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from time import time_ns

from toolyard.catalog.entries import Tool
from toolyard.errors import ProtocolError, ToolError
from toolyard.observation.outcomes import failure_of
from toolyard.observation.tracing.records import (
    LONGEST_TEXT,
    NOBODY,
    AttributeValue,
    Outcome,
)
from toolyard.observation.tracing.spans import Place, current
from toolyard.protocol.call import Call, Channel, Result
from toolyard.scripts.running.gate import Gate
from toolyard.scripts.running.run import Finished, ScriptSpec
from toolyard.scripts.running.runner import Runner
from toolyard.virtual.watching import Onlooker

# What a record says of a request, where there is none.
_NO_REQUEST = (None, None, None, NOBODY)
_SPOKEN = (ToolError, ProtocolError)  # those that say what is wrong in words of their own


class InternalSpan:
    """One that lasts; what it says of itself may be added meanwhile."""

    __slots__ = ("_name", "_parent_id", "_start_ns", "attributes", "failure", "message", "place")

    def __init__(self, name: str, parent: Place) -> None:
        self._name = name
        self._parent_id = parent.span_id
        self._start_ns = time_ns()
        self.place = parent.child()
        self.attributes: dict[str, AttributeValue] = {}
        self.failure = self.message = ""

    def fail(self, error: BaseException) -> None:
        self.failure = failure_of(error)
        self.message = error.message if isinstance(error, _SPOKEN) else str(error)

    def end(self) -> None:
        trace_id, span_id, is_sampled, state, _, keep = self.place
        if not is_sampled:
            return
        message, attributes = self.message[:LONGEST_TEXT], tuple(self.attributes.items())
        ids = ("INTERNAL", trace_id, span_id, self._parent_id, state)
        outcome = Outcome(self.failure, message, (), attributes)
        keep((*ids, self._start_ns, time_ns(), self._name, *_NO_REQUEST, outcome))


@contextmanager
def internal(name: str) -> Iterator[InternalSpan | None]:
    """A span within the current one, which it takes the place of meanwhile."""
    parent = current.get()
    if parent is None:
        yield None
        return
    span = InternalSpan(name, parent)
    current.set(span.place)
    try:
        yield span
    except BaseException as error:
        span.fail(error)
        raise
    finally:
        current.set(parent)
        span.end()


class TracedRunner(Runner):
    """Runs scripts within a span, and tells them of it: `TRACEPARENT` and what goes with it."""

    async def run(
        self, spec: ScriptSpec, call: Call | None = None, channel: Channel | None = None
    ) -> Finished:
        with internal(f"script {os.path.basename(spec.path)}") as span:
            if span is None:
                return await super().run(spec, call, channel)
            variables = {name.upper(): value for name, value in span.place.fields.items()}
            spec = spec._replace(extra_env={**variables, **spec.extra_env})
            outcome = await super().run(spec, call, channel)
            span.attributes["process.exit.code"] = outcome.exit_code
            span.attributes["process.executable.path"] = spec.path
            if outcome.timed_out is not None:
                span.failure = "timeout"
            return outcome

    def _new_gate(self, size: int) -> Gate:
        return TracedGate(size)


class TracedGate(Gate):
    """Waiting for a turn is part of the trace; entering at once is not worth a span."""

    __slots__ = ()

    async def enter(self) -> None:
        if self.is_open:
            await super().enter()
            return
        with internal("queue"):
            await super().enter()


class TracedMaking:
    """What is made of other tools' results, within a span; others may look on beside it."""

    __slots__ = ("_inner",)

    def __init__(self, inner: Onlooker | None) -> None:
        self._inner = inner

    def projection(self, call: Call, result: Result, make: Callable[[Result], Result]) -> Result:
        with internal("projection"):
            if self._inner is None:
                return make(result)
            return self._inner.projection(call, result, make)

    def composition(self, call: Call, run: Callable[[], Awaitable[Result]]) -> Awaitable[Result]:
        """Its steps are spans by themselves."""
        return run() if self._inner is None else self._inner.composition(call, run)

    def step(self, result: Result) -> None:
        if self._inner is not None:
            self._inner.step(result)


def traced_decision(decision: Awaitable[None], tool: Tool) -> Awaitable[None]:
    """A policy's decision on a call of this tool, within a span."""

    async def decide() -> None:
        with internal(f"policy {tool.name}"):
            await decision

    return decide()
