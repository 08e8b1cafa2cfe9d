"""A `spec`: a tool composed of other tools, read and checked. Calls nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from toolyard.protocol.call import Json, JsonObject
from toolyard.virtual.composing.aggregation import Aggregate, compile_aggregation, compile_predicate
from toolyard.virtual.output.mappings import Apply, Problem, compile_mappings
from toolyard.virtual.query.paths import BadPath, Path, compile_path

MAX_STEPS = 64


@dataclass(frozen=True, slots=True)
class FromInput:
    path: Path


@dataclass(frozen=True, slots=True)
class FromStep:
    step: str
    path: Path


@dataclass(frozen=True, slots=True)
class Constant:
    value: Json


@dataclass(frozen=True, slots=True)
class Construct:
    fields: Mapping[str, Binding]


Binding: TypeAlias = FromInput | FromStep | Constant | Construct


@dataclass(frozen=True, slots=True)
class UseTool:
    name: str


@dataclass(frozen=True, slots=True)
class Step:
    id: str
    operation: Operation
    input: Binding


@dataclass(frozen=True, slots=True)
class Pipeline:
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class ScatterGather:
    branches: tuple[Operation, ...]
    aggregate: Aggregate
    timeout: float | None
    fail_fast: bool


@dataclass(frozen=True, slots=True)
class Filter:
    keeps: Callable[[Json], bool]


@dataclass(frozen=True, slots=True)
class SchemaMap:
    apply: Apply


@dataclass(frozen=True, slots=True)
class MapEach:
    inner: Operation


Pattern: TypeAlias = Pipeline | ScatterGather | Filter | SchemaMap | MapEach
Operation: TypeAlias = UseTool | Pattern
Composition: TypeAlias = Pattern

_EVERYTHING = FromInput(compile_path("$"))


def tools_used(operation: Operation) -> Iterator[str]:
    """The names of the tools it calls, in order."""
    match operation:
        case UseTool(name):
            yield name
        case Pipeline(steps):
            for step in steps:
                yield from tools_used(step.operation)
        case ScatterGather(branches):
            for branch in branches:
                yield from tools_used(branch)
        case MapEach(inner):
            yield from tools_used(inner)
        case _:
            return


def parse_composition(spec: JsonObject, pointer: str, problem: Problem) -> Composition | None:
    """None, with every problem reported, where it cannot be run."""
    places: list[str] = []

    def report(at: str, message: str) -> None:
        places.append(at)
        problem(at, message)

    parser = _CompositionParser(report)
    pattern = parser.pattern(spec, pointer)
    if parser.operations > MAX_STEPS:
        report(pointer, f"has {parser.operations} steps, at most {MAX_STEPS}")
    return None if places else pattern


class _CompositionParser:
    """Reads a `spec` from the outside in, reports every problem, and counts the operations."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self.operations = 0

    def pattern(self, spec: Json, pointer: str) -> Pattern | None:
        kinds = [kind for kind in _PATTERNS if isinstance(spec, dict) and kind in spec]
        if len(kinds) != 1:
            keys = ", ".join(sorted(spec)) if isinstance(spec, dict) else "this"
            runs = ", ".join(_PATTERNS)
            self._problem(pointer, f"{keys or 'this'} cannot be run; the patterns are {runs}")
            return None
        kind = kinds[0]
        at = f"{pointer}/{kind}"
        if not isinstance(spec[kind], dict):
            self._problem(at, "must be an object")
            return None
        return _PATTERNS[kind](self, spec[kind], at)

    def operation(self, spec: Json, pointer: str) -> Operation | None:
        self.operations += 1
        if isinstance(spec, dict) and "tool" in spec:
            tool = spec["tool"]
            name = tool.get("name") if isinstance(tool, dict) else tool
            if isinstance(name, str) and name:
                return UseTool(name)
            self._problem(f"{pointer}/tool", "needs the name of a tool")
            return None
        if isinstance(spec, dict) and "pattern" in spec:
            return self.pattern(spec["pattern"], f"{pointer}/pattern")
        return self.pattern(spec, pointer)

    def _pipeline(self, spec: JsonObject, pointer: str) -> Pattern | None:
        raw = spec.get("steps")
        if not isinstance(raw, list) or not raw:
            self._problem(f"{pointer}/steps", "must be a list of at least one step")
            return None
        steps: list[Step] = []
        for number, step_spec in enumerate(raw):
            step = self._step(step_spec, f"{pointer}/steps/{number}", [step.id for step in steps])
            if step is not None:
                steps.append(step)
        return Pipeline(tuple(steps))

    def _step(self, spec: Json, pointer: str, before: list[str]) -> Step | None:
        if not isinstance(spec, dict):
            self._problem(pointer, "must be an object")
            return None
        name = spec.get("id", f"step {len(before) + 1}")
        if not isinstance(name, str) or name in before:
            self._problem(f"{pointer}/id", "must be a string that no earlier step has")
            return None
        operation = self.operation(spec.get("operation"), f"{pointer}/operation")
        binding = self._first_binding(spec.get("input"), f"{pointer}/input", before)
        return Step(name, operation, binding) if operation and binding else None

    def _first_binding(self, spec: Json, pointer: str, before: list[str]) -> Binding | None:
        """Without a binding, a step takes the result of the one before it."""
        if spec is not None:
            return self._binding(spec, pointer, before)
        return FromStep(before[-1], compile_path("$")) if before else _EVERYTHING

    def _binding(self, spec: Json, pointer: str, before: list[str]) -> Binding | None:
        kinds = ("input", "step", "constant", "construct")
        present = [kind for kind in kinds if isinstance(spec, dict) and kind in spec]
        if len(present) != 1:
            self._problem(pointer, f"must have one of {', '.join(kinds)}")
            return None
        kind, value = present[0], spec[present[0]]
        at = f"{pointer}/{kind}"
        if kind == "constant":
            return Constant(value)
        if not isinstance(value, dict):
            self._problem(at, "must be an object")
            return None
        if kind == "construct":
            return self._construct(value, at, before)
        return self._path_binding(kind, value, at, before)

    def _construct(self, spec: JsonObject, pointer: str, before: list[str]) -> Binding | None:
        fields = spec.get("fields", {})
        if not isinstance(fields, dict):
            self._problem(f"{pointer}/fields", "must be an object of bindings")
            return None
        bindings = {
            name: self._binding(field, f"{pointer}/fields/{name}", before)
            for name, field in fields.items()
        }
        return Construct(
            {name: binding for name, binding in bindings.items() if binding is not None}
        )

    def _path_binding(
        self, kind: str, spec: JsonObject, pointer: str, before: list[str]
    ) -> Binding | None:
        path = self._path(spec.get("path", "$"), f"{pointer}/path")
        if path is None:
            return None
        if kind == "input":
            return FromInput(path)
        step = spec.get("stepId", spec.get("step_id"))
        if step not in before:
            earlier = ", ".join(before) or "none"
            self._problem(f"{pointer}/stepId", f"no earlier step {step!r} (there are: {earlier})")
            return None
        return FromStep(step, path)

    def _path(self, text: Json, pointer: str) -> Path | None:
        try:
            return compile_path(text if isinstance(text, str) else "")
        except BadPath as error:
            self._problem(pointer, str(error))
            return None

    def _scatter_gather(self, spec: JsonObject, pointer: str) -> Pattern | None:
        raw = spec.get("targets")
        if not isinstance(raw, list) or not raw:
            self._problem(f"{pointer}/targets", "must be a list of at least one target")
            return None
        branches = [
            self.operation(target, f"{pointer}/targets/{i}") for i, target in enumerate(raw)
        ]
        at = f"{pointer}/aggregation"
        aggregate = compile_aggregation(spec.get("aggregation") or {}, at, self._problem)
        millis = spec.get("timeoutMs", spec.get("timeout_ms"))
        if millis is not None and (not isinstance(millis, (int, float)) or millis <= 0):
            self._problem(f"{pointer}/timeoutMs", "must be a number above 0")
            millis = None
        return ScatterGather(
            tuple(branch for branch in branches if branch is not None),
            aggregate,
            millis / 1000 if millis else None,
            bool(spec.get("failFast", spec.get("fail_fast", False))),
        )

    def _filter(self, spec: JsonObject, pointer: str) -> Pattern | None:
        predicate = spec.get("predicate", spec)
        return Filter(compile_predicate(predicate, f"{pointer}/predicate", self._problem))

    def _schema_map(self, spec: JsonObject, pointer: str) -> Pattern | None:
        mappings = spec.get("mappings")
        if not isinstance(mappings, dict):
            self._problem(f"{pointer}/mappings", "must be an object of mappings")
            return None
        return SchemaMap(compile_mappings(mappings, f"{pointer}/mappings", self._problem))

    def _map_each(self, spec: JsonObject, pointer: str) -> Pattern | None:
        inner = self.operation(spec.get("inner"), f"{pointer}/inner")
        return MapEach(inner) if inner is not None else None


_PATTERNS: Mapping[str, Callable[[_CompositionParser, JsonObject, str], Pattern | None]] = {
    "pipeline": _CompositionParser._pipeline,
    "scatterGather": _CompositionParser._scatter_gather,
    "filter": _CompositionParser._filter,
    "schemaMap": _CompositionParser._schema_map,
    "mapEach": _CompositionParser._map_each,
}
