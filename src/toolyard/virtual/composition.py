"""A `spec`: tools composed of tools, read and checked. Calls nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from toolyard.protocol.call import Json, JsonObject
from toolyard.virtual.aggregation import Aggregate, compile_aggregation, compile_predicate
from toolyard.virtual.mappings import Apply, Problem, compile_mappings
from toolyard.virtual.paths import BadPath, Path, compile_path

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
    found: list[str] = []

    def seen(at: str, message: str) -> None:
        found.append(at)
        problem(at, message)

    parser = _CompositionParser(seen)
    pattern = parser.pattern(spec, pointer)
    if parser.operations > MAX_STEPS:
        seen(pointer, f"has {parser.operations} steps, at most {MAX_STEPS}")
    return None if found else pattern


class _CompositionParser:
    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self.operations = 0

    def pattern(self, stated: Json, pointer: str) -> Pattern | None:
        known = [kind for kind in _PATTERNS if isinstance(stated, dict) and kind in stated]
        if len(known) != 1:
            others = ", ".join(sorted(stated)) if isinstance(stated, dict) else "this"
            runs = ", ".join(_PATTERNS)
            self._problem(pointer, f"{others or 'this'} cannot be run; the patterns are {runs}")
            return None
        kind = known[0]
        at = f"{pointer}/{kind}"
        if not isinstance(stated[kind], dict):
            self._problem(at, "must be an object")
            return None
        return _PATTERNS[kind](self, stated[kind], at)

    def operation(self, stated: Json, pointer: str) -> Operation | None:
        self.operations += 1
        if isinstance(stated, dict) and "tool" in stated:
            tool = stated["tool"]
            name = tool.get("name") if isinstance(tool, dict) else tool
            if isinstance(name, str) and name:
                return UseTool(name)
            self._problem(f"{pointer}/tool", "needs the name of a tool")
            return None
        if isinstance(stated, dict) and "pattern" in stated:
            return self.pattern(stated["pattern"], f"{pointer}/pattern")
        return self.pattern(stated, pointer)

    def _pipeline(self, stated: JsonObject, pointer: str) -> Pattern | None:
        raw = stated.get("steps")
        if not isinstance(raw, list) or not raw:
            self._problem(f"{pointer}/steps", "must be a list of at least one step")
            return None
        steps: list[Step] = []
        for number, one in enumerate(raw):
            step = self._step(one, f"{pointer}/steps/{number}", [step.id for step in steps])
            if step is not None:
                steps.append(step)
        return Pipeline(tuple(steps))

    def _step(self, stated: Json, pointer: str, before: list[str]) -> Step | None:
        if not isinstance(stated, dict):
            self._problem(pointer, "must be an object")
            return None
        name = stated.get("id", f"step {len(before) + 1}")
        if not isinstance(name, str) or name in before:
            self._problem(f"{pointer}/id", "must be a string that no step before has")
            return None
        operation = self.operation(stated.get("operation"), f"{pointer}/operation")
        binding = self._first_binding(stated.get("input"), f"{pointer}/input", before)
        return Step(name, operation, binding) if operation and binding else None

    def _first_binding(self, stated: Json, pointer: str, before: list[str]) -> Binding | None:
        """Without a binding a step takes what the one before it gave."""
        if stated is not None:
            return self._binding(stated, pointer, before)
        return FromStep(before[-1], compile_path("$")) if before else _EVERYTHING

    def _binding(self, stated: Json, pointer: str, before: list[str]) -> Binding | None:
        kinds = ("input", "step", "constant", "construct")
        known = [kind for kind in kinds if isinstance(stated, dict) and kind in stated]
        if len(known) != 1:
            self._problem(pointer, f"must have one of {', '.join(kinds)}")
            return None
        kind, value = known[0], stated[known[0]]
        at = f"{pointer}/{kind}"
        if kind == "constant":
            return Constant(value)
        if not isinstance(value, dict):
            self._problem(at, "must be an object")
            return None
        if kind == "construct":
            return self._construct(value, at, before)
        return self._path_binding(kind, value, at, before)

    def _construct(self, stated: JsonObject, pointer: str, before: list[str]) -> Binding | None:
        fields = stated.get("fields", {})
        if not isinstance(fields, dict):
            self._problem(f"{pointer}/fields", "must be an object of bindings")
            return None
        made = {
            name: self._binding(one, f"{pointer}/fields/{name}", before)
            for name, one in fields.items()
        }
        return Construct({name: one for name, one in made.items() if one is not None})

    def _path_binding(
        self, kind: str, stated: JsonObject, pointer: str, before: list[str]
    ) -> Binding | None:
        path = self._path(stated.get("path", "$"), f"{pointer}/path")
        if path is None:
            return None
        if kind == "input":
            return FromInput(path)
        step = stated.get("stepId", stated.get("step_id"))
        if step not in before:
            known = ", ".join(before) or "none"
            self._problem(f"{pointer}/stepId", f"no step {step!r} before this one (there: {known})")
            return None
        return FromStep(step, path)

    def _path(self, text: Json, pointer: str) -> Path | None:
        try:
            return compile_path(text if isinstance(text, str) else "")
        except BadPath as error:
            self._problem(pointer, str(error))
            return None

    def _scatter_gather(self, stated: JsonObject, pointer: str) -> Pattern | None:
        raw = stated.get("targets")
        if not isinstance(raw, list) or not raw:
            self._problem(f"{pointer}/targets", "must be a list of at least one target")
            return None
        branches = [self.operation(one, f"{pointer}/targets/{i}") for i, one in enumerate(raw)]
        at = f"{pointer}/aggregation"
        aggregate = compile_aggregation(stated.get("aggregation") or {}, at, self._problem)
        millis = stated.get("timeoutMs", stated.get("timeout_ms"))
        if millis is not None and (not isinstance(millis, (int, float)) or millis <= 0):
            self._problem(f"{pointer}/timeoutMs", "must be a number above 0")
            millis = None
        return ScatterGather(
            tuple(branch for branch in branches if branch is not None),
            aggregate,
            millis / 1000 if millis else None,
            bool(stated.get("failFast", stated.get("fail_fast", False))),
        )

    def _filter(self, stated: JsonObject, pointer: str) -> Pattern | None:
        predicate = stated.get("predicate", stated)
        return Filter(compile_predicate(predicate, f"{pointer}/predicate", self._problem))

    def _schema_map(self, stated: JsonObject, pointer: str) -> Pattern | None:
        mappings = stated.get("mappings")
        if not isinstance(mappings, dict):
            self._problem(f"{pointer}/mappings", "must be an object of mappings")
            return None
        return SchemaMap(compile_mappings(mappings, f"{pointer}/mappings", self._problem))

    def _map_each(self, stated: JsonObject, pointer: str) -> Pattern | None:
        inner = self.operation(stated.get("inner"), f"{pointer}/inner")
        return MapEach(inner) if inner is not None else None


_PATTERNS: Mapping[str, Callable[[_CompositionParser, JsonObject, str], Pattern | None]] = {
    "pipeline": _CompositionParser._pipeline,
    "scatterGather": _CompositionParser._scatter_gather,
    "filter": _CompositionParser._filter,
    "schemaMap": _CompositionParser._schema_map,
    "mapEach": _CompositionParser._map_each,
}
