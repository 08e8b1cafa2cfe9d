"""The Target of a tool composed of tools: patterns run over other targets. Knows no catalog."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
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
from toolyard.protocol.client import without_tasks
from toolyard.virtual.codec import decoded, dumps
from toolyard.virtual.composing.composition import (
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
from toolyard.virtual.output.extract import texts_of, value_of
from toolyard.virtual.query.paths import MISSING, Budget, Path
from toolyard.virtual.watching import Onlooker

FAN_OUT = 1_000
AT_ONCE = 16
# How often one step may ask the client before its call is given up.
MOST_ROUNDS = 16

Job = Callable[[], Awaitable[Json]]


@dataclass(frozen=True, slots=True)
class Terms:
    """How several jobs are run."""

    at_once: int = AT_ONCE
    timeout: float | None = None
    # The first failure ends the others and is raised; otherwise failures are among the results.
    fail_fast: bool = True


class Gather(Protocol):
    """Runs jobs at the same time; the results are in the order of the jobs."""

    async def __call__(self, jobs: Sequence[Job], terms: Terms) -> list[Json | ToolError]: ...


@dataclass(frozen=True, slots=True)
class ComposedTarget:
    """A tool that runs a composition: its steps call other targets."""

    composition: Composition
    targets: Mapping[str, Target]  # by the names that the composition uses
    gather: Gather
    onlooker: Onlooker | None = None

    def call(self, arguments: JsonObject, call: Call, channel: Channel) -> Awaitable[Result]:
        if self.onlooker is None:
            return self._run(arguments, call, channel)
        return self.onlooker.composition(call, partial(self._run, arguments, call, channel))

    async def _run(self, arguments: JsonObject, call: Call, channel: Channel) -> Result:
        if call.task is not None and call.task.upstream is not None:
            raise ToolError("the server that ran this was stopped between two of its steps")
        inner = replace(
            call,
            params={},
            headers=None,
            input_responses=None,
            request_state=None,
            client=without_tasks(call.client),  # a step cannot take a handle
        )
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
                return [element for element in _elements(value, place) if keeps(element)]
            case SchemaMap(apply):
                return apply(value)

    async def _pipeline(self, steps: tuple[Step, ...], value: Json, place: str) -> Json:
        values: dict[str, Json] = {}
        outcome: Json = value
        for number, step in enumerate(steps):
            if not place:
                self._channel.progress(number, len(steps), f"step {step.id}")
            at = f"{place}{step.id}"
            outcome = values[step.id] = await self.operation(
                step.operation, _bound(step.input, value, values), f"{at}/"
            )
        if not place:
            self._channel.progress(len(steps), len(steps))
        return outcome

    async def _scatter(self, pattern: ScatterGather, value: Json, place: str) -> Json:
        jobs = [
            self._job(branch, value, f"{place}target {number + 1}/")
            for number, branch in enumerate(pattern.branches)
        ]
        terms = Terms(timeout=pattern.timeout, fail_fast=pattern.fail_fast)
        results = await self._target.gather(jobs, terms)
        failures = [result for result in results if isinstance(result, ToolError)]
        if len(failures) == len(results):
            raise failures[0]
        for error in failures:
            self._channel.log("warning", error.message)
        return pattern.aggregate(
            [result for result in results if not isinstance(result, ToolError)]
        )

    async def _each(self, inner: Operation, value: Json, place: str) -> Json:
        elements = _elements(value, place)
        if len(elements) > FAN_OUT:
            raise ToolError(f"{_named(place)}{len(elements)} elements, at most {FAN_OUT}")
        jobs = [
            self._job(inner, element, f"{place}element {number + 1}/")
            for number, element in enumerate(elements)
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
            message = "\n".join(texts_of(result)) or "it failed without saying why"
            raise ToolError(f"{at}{message}")
        answer = value_of(result)
        return "\n".join(texts_of(result)) if answer is MISSING else answer

    async def _answered(self, target: Target, arguments: JsonObject) -> JsonObject:
        """A step's questions go to the client from here: the steps before it must not run again."""
        result = await target.call(arguments, self._call, self._quiet)
        if asks(result):

            def make(call: Call) -> Awaitable[Result]:
                return target.call(arguments, call, self._quiet)

            result = await answered(result, self._call, make, self._channel.ask, MOST_ROUNDS)
        if self._target.onlooker is not None:
            self._target.onlooker.step(result)
        return decoded(result)


class _StepChannel(PassingChannel):
    """A step's channel: the call's own, without the progress of the step."""

    __slots__ = ()

    def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Dropped: a step's progress is not the whole call's."""


def _bound(binding: Binding, value: Json, values: Mapping[str, Json]) -> Json:
    """A step's input; a path that finds nothing gives null."""
    match binding:
        case Constant(constant):
            return constant
        case FromInput(path):
            return _match(path, value)
        case FromStep(step, path):
            return _match(path, values[step])
        case Construct(fields):
            return {name: _bound(field, value, values) for name, field in fields.items()}


def _match(path: Path, value: Json) -> Json:
    if path.get is None:
        return path.find(value, Budget())
    match = path.get(value)
    return None if match is MISSING else match


def _elements(value: Json, place: str) -> list[Json]:
    if not isinstance(value, list):
        raise ToolError(f"{_named(place)}its input must be a list")
    return value


def _named(place: str) -> str:
    steps = [step for step in place.split("/") if step]
    return f"step {' / '.join(steps)}: " if steps else ""
