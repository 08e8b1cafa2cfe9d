"""RFC 9535 JSONPath, compiled once and evaluated within bounds. Knows nothing of schemas."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Final, TypeAlias

from toolyard.errors import ToolError
from toolyard.protocol.call import Json

MAX_NODES = 100_000
MAX_LEVELS = 64

# What a path without a match yields. Not None: null is a value.
MISSING: Final = object()


class _Star:
    """The step `[*]`: every element of an array, every member value of an object."""


STAR: Final = _Star()
Step: TypeAlias = str | int | _Star
# Called with the value; a second argument is allowed and ignored, so that a getter can stand
# where a maker of projected values is called with its budget, without a call in between.
Get: TypeAlias = Callable[..., Json]


class Budget:
    """How many nodes one evaluation may still visit, and how deep it may go."""

    __slots__ = ("levels", "nodes")

    def __init__(self, nodes: int = MAX_NODES) -> None:
        self.nodes = nodes
        self.levels = MAX_LEVELS

    def spend(self, nodes: int) -> None:
        self.nodes -= nodes
        if self.nodes < 0:
            raise ToolError(f"the result is too large to project: over {MAX_NODES} nodes visited")

    def enter(self) -> None:
        self.levels -= 1
        if self.levels < 0:
            raise ToolError(f"the result is too deep to project: over {MAX_LEVELS} levels")

    def leave(self) -> None:
        self.levels += 1


Find: TypeAlias = Callable[[Json, Budget], list[Json]]


@dataclass(frozen=True, slots=True)
class Path:
    """A compiled JSONPath: how to find all its matches, or the only one."""

    text: str
    find: Find  # every match, in order
    get: Get | None  # the value or MISSING; None where the form allows several matches
    stars: bool = False
    member: str | None = None  # the name, where the path is `$.name` and nothing more

    @property
    def definite(self) -> bool:
        return self.get is not None


class BadPath(ValueError):
    """The text is not a JSONPath; the message says what is wrong with it and where."""


@lru_cache(maxsize=4096)
def compile_path(text: str) -> Path:
    steps = _plain_steps(text)
    if steps is not None:
        return path_of_steps(text, steps)
    # Loading the library costs more than a whole start; few registries need it.
    from toolyard.virtual.query.queries import compile_query  # noqa: PLC0415

    return compile_query(text)


def path_of_steps(text: str, steps: list[Step]) -> Path:
    check_length(text, len(steps))
    if any(step is STAR for step in steps):
        return Path(text, _finder(steps), None, stars=True)
    get = _getter([step for step in steps if not isinstance(step, _Star)])

    def find(value: Json, budget: Budget) -> list[Json]:
        node = get(value)
        return [] if node is MISSING else [node]

    member = steps[0] if len(steps) == 1 and isinstance(steps[0], str) else None
    return Path(text, find, get, member=member)


def check_length(text: str, steps: int) -> None:
    if steps > MAX_LEVELS:
        raise BadPath(f"{text[:40]}... has {steps} steps, at most {MAX_LEVELS}")


_NAME = "[A-Za-z_\u0080-\ud7ff\ue000-\U0010ffff][0-9A-Za-z_\u0080-\ud7ff\ue000-\U0010ffff]*"
_QUOTED = r"[^'\"\\\x00-\x1f\ud800-\udfff]*"
# At most 15 digits: anything larger is near or past the limit that the library checks.
_STEP = re.compile(
    rf"\.(?P<name>{_NAME})"
    rf"|\['(?P<single>{_QUOTED})'\]"
    rf'|\["(?P<double>{_QUOTED})"\]'
    r"|\[(?P<index>0|-?[1-9][0-9]{0,14})\]"
    r"|(?P<star>\[\*\]|\.\*)"
)


def _plain_steps(text: str) -> list[Step] | None:
    """The steps of a path made of names, indices and `[*]` only; None for any other text."""
    if not text.startswith("$"):
        return None
    steps: list[Step] = []
    at = 1
    while at < len(text):
        match = _STEP.match(text, at)
        if match is None:
            return None
        kind = match.lastgroup or ""
        steps.append(_step(kind, match[kind]))
        at = match.end()
    return steps


def _step(kind: str, text: str) -> Step:
    if kind == "star":
        return STAR
    return int(text) if kind == "index" else text


def _getter(steps: list[str | int]) -> Get:
    if not steps:
        return lambda value, _=None: value
    *before, step = steps
    parent = before[-1] if before else None
    if isinstance(step, int):
        final = _element_getter(step)
    elif isinstance(parent, str):
        before.pop()
        final = _grandchild_getter(parent, step)
    else:
        final = _member_getter(step)
    return _chain_getter(_getter(before), final) if before else final


def _grandchild_getter(outer: str, inner: str) -> Get:
    """Two members at once: by far the most frequent of the longer paths."""

    def get(value: Json, _: object = None) -> Json:
        if isinstance(value, dict):
            value = value.get(outer)
            if isinstance(value, dict):
                return value.get(inner, MISSING)
        return MISSING

    return get


def _member_getter(name: str) -> Get:
    def get(value: Json, _: object = None) -> Json:
        return value.get(name, MISSING) if isinstance(value, dict) else MISSING

    return get


def _element_getter(index: int) -> Get:
    def get(value: Json, _: object = None) -> Json:
        if isinstance(value, list) and -len(value) <= index < len(value):
            return value[index]
        return MISSING

    return get


def _chain_getter(outer: Get, inner: Get) -> Get:
    def get(value: Json, _: object = None) -> Json:
        return inner(outer(value))

    return get


def _finder(steps: list[Step]) -> Find:
    """The definite steps between two stars are one getter."""
    runs: list[list[str | int]] = [[]]
    for step in steps:
        if isinstance(step, _Star):
            runs.append([])
        else:
            runs[-1].append(step)
    head, *tail = map(_getter, runs)

    def find(value: Json, budget: Budget) -> list[Json]:
        nodes = [head(value)]
        for get in tail:
            nodes = list(chain.from_iterable(map(_children, nodes)))
            budget.spend(len(nodes))
            nodes = [match for node in nodes if (match := get(node)) is not MISSING]
        return nodes

    return find


def _children(value: Json) -> list[Json]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def measure(value: Json) -> int:
    """The number of nodes in a document; refuses one that is too large or too deep."""
    nodes, level, depth = 1, [value], 0
    while level := list(chain.from_iterable(map(_children, level))):
        nodes += len(level)
        depth += 1
        if nodes > MAX_NODES:
            raise ToolError(f"the result is too large to search: over {MAX_NODES} nodes")
        if depth > MAX_LEVELS:
            raise ToolError(f"the result is nested too deeply to search: over {MAX_LEVELS} levels")
    return nodes
