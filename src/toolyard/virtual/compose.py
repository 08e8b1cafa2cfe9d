"""The Target of a tool composed of tools: patterns run over other targets. Knows no catalog."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from toolyard.errors import ProtocolError, ToolError
from toolyard.protocol.asking.rounds import answered, asks
from toolyard.protocol.call import (
    Call,
    Channel,
    Json,
    JsonObject,
    Result,
    Target,
)
from toolyard.protocol.channel import PassingChannel
from toolyard.virtual.codec import decoded, dumps
from toolyard.virtual.composition import (
    Binding,
    Composition,
    Constant,
    Construct,
    Filter,
    FromInput,
    FromStep,
    MapEach,
    Operation,
    Pipeline,
    ScatterGather,
    SchemaMap,
    Step,
    UseTool,
)
from toolyard.virtual.extract import texts_of, value_of
from toolyard.virtual.paths import MISSING, Budget, Path

FAN_OUT = 1_000
AT_ONCE = 16
# How often one step may ask its client before its call is given up.
MOST_ROUNDS = 16

Job = Callable[[], Awaitable[Json]]


@dataclass(frozen=True, slots=True)
class Terms:
    """How a number of jobs is run."""

    at_once: int = AT_ONCE
    timeout: float | None = None
    # The first failure ends the others and is raised; otherwise failures are among the results.
    fail_fast: bool = True


class Gather(Protocol):
    """Runs jobs at the same time; the results are in the order of the jobs."""

    async def __call__(self, jobs: Sequence[Job], terms: Terms) -> list[Json | ToolError]: ...


@dataclass(frozen=True, slots=True)
class ComposedTarget:
    composition: Composition
    targets: Mapping[str, Target]  # by the names that the composition uses
    gather: Gather

    async def call(self, arguments: JsonObject, call: Call, channel: Channel) -> Result:
        inner = replace(call, params={}, headers=None, input_responses=None, request_state=None)
        run = _Run(self, inner, channel)
        value = await run.operation(self.composition, arguments, "")
        return {"content": [{"type": "text", "text": dumps(value)}], "structuredContent": value}


class _Run:
    """One call of a composed tool."""

    def __init__(self, target: ComposedTarget, call: Call, channel: Channel) -> None:
        self._target = target
        self._call = call
        self._channel = channel
        self._quiet = _StepChannel(channel)

    async def operation(self, operation: Operation, value: Json, place: str) -> Json:
        match operation:
            case UseTool(name):
                return await self._tool(name, value, place)
            case Pipeline(steps):
                return await self._pipeline(steps, value, place)
            case ScatterGather():
                return await self._scatter(operation, value, place)
            case MapEach(inner):
                return await self._each(inner, value, place)
            case Filter(keeps):
                return [one for one in _elements(value, place) if keeps(one)]
            case SchemaMap(apply):
                return apply(value)

    async def _pipeline(self, steps: tuple[Step, ...], value: Json, place: str) -> Json:
        made: dict[str, Json] = {}
        last: Json = value
        for number, step in enumerate(steps):
            if not place:
                self._channel.progress(number, len(steps), f"step {step.id}")
            at = f"{place}{step.id}"
            last = made[step.id] = await self.operation(
                step.operation, _bound(step.input, value, made), f"{at}/"
            )
        if not place:
            self._channel.progress(len(steps), len(steps))
        return last

    async def _scatter(self, pattern: ScatterGather, value: Json, place: str) -> Json:
        jobs = [
            self._job(branch, value, f"{place}target {number + 1}/")
            for number, branch in enumerate(pattern.branches)
        ]
        terms = Terms(timeout=pattern.timeout, fail_fast=pattern.fail_fast)
        results = await self._target.gather(jobs, terms)
        failed = [one for one in results if isinstance(one, ToolError)]
        if len(failed) == len(results):
            raise failed[0]
        for error in failed:
            self._channel.log("warning", error.message)
        return pattern.aggregate([one for one in results if not isinstance(one, ToolError)])

    async def _each(self, inner: Operation, value: Json, place: str) -> Json:
        elements = _elements(value, place)
        if len(elements) > FAN_OUT:
            raise ToolError(f"{_named(place)}{len(elements)} elements, at most {FAN_OUT}")
        jobs = [
            self._job(inner, one, f"{place}element {number + 1}/")
            for number, one in enumerate(elements)
        ]
        return await self._target.gather(jobs, Terms())

    def _job(self, operation: Operation, value: Json, place: str) -> Job:
        async def job() -> Json:
            return await self.operation(operation, value, place)

        return job

    async def _tool(self, name: str, value: Json, place: str) -> Json:
        at = f"{_named(place)}tool {name}: "
        if not isinstance(value, dict):
            raise ToolError(f"{at}its arguments must be an object")
        try:
            result = await self._answered(self._target.targets[name], value)
        except ToolError as error:
            raise ToolError(f"{at}{error.message}") from error
        except ProtocolError as error:
            raise ToolError(f"{at}{error.message} ({error.code})") from error
        if result.get("isError"):
            said = "\n".join(texts_of(result)) or "it failed and does not say why"
            raise ToolError(f"{at}{said}")
        found = value_of(result)
        return "\n".join(texts_of(result)) if found is MISSING else found

    async def _answered(self, target: Target, arguments: JsonObject) -> JsonObject:
        """A step's question is put to the client here: the steps before must not run again."""
        result = await target.call(arguments, self._call, self._quiet)
        if asks(result):

            def make(call: Call) -> Awaitable[Result]:
                return target.call(arguments, call, self._quiet)

            result = await answered(result, self._call, make, self._channel.ask, MOST_ROUNDS)
        return decoded(result)


class _StepChannel(PassingChannel):
    __slots__ = ()

    def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Dropped: a step's progress is not the whole call's."""


def _bound(binding: Binding, value: Json, made: Mapping[str, Json]) -> Json:
    """What a step is given; a path that finds nothing gives null."""
    match binding:
        case Constant(constant):
            return constant
        case FromInput(path):
            return _found(path, value)
        case FromStep(step, path):
            return _found(path, made[step])
        case Construct(fields):
            return {name: _bound(one, value, made) for name, one in fields.items()}


def _found(path: Path, value: Json) -> Json:
    if path.get is None:
        return path.find(value, Budget())
    found = path.get(value)
    return None if found is MISSING else found


def _elements(value: Json, place: str) -> list[Json]:
    if not isinstance(value, list):
        raise ToolError(f"{_named(place)}its input must be a list")
    return value


def _named(place: str) -> str:
    steps = [step for step in place.split("/") if step]
    return f"step {' / '.join(steps)}: " if steps else ""
