"""How much work a JSON Schema makes, counted before it is done. Pure; fetches no references.

References let a schema of a few lines stand for more steps than anybody can wait for. The steps
at one place of a value are counted when the schema is read. How they multiply on the way down
depends on the value, and is counted for each value if the schema leaves it open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TypeAlias, TypeGuard
from urllib.parse import unquote, urljoin

from toolyard.protocol.call import Json, JsonObject
from toolyard.protocol.codec import dumps

MAX_SCHEMA_BYTES = 1024 * 1024
MAX_STEPS_IN_PLACE = 10_000
MAX_STEPS = 1_000_000
# How many references may follow each other.
MAX_CHAIN = 200

# Which parts of a schema apply to the same value, and which to what is below it.
_SAME_LISTS = ("allOf", "anyOf", "oneOf")
_SAME = ("not", "if", "then", "else", "propertyNames")
_SAME_MAPS = ("dependentSchemas", "dependencies")
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_BELOW_OBJECT = ("additionalProperties", "unevaluatedProperties")
_BELOW_LIST = ("items", "additionalItems", "contains", "unevaluatedItems")
# Characters of text, or values in an `enum`, that count as one step.
_TEXT_A_STEP, _VALUES_A_STEP = 1000, 100

# How often each subschema is looked at, by its id.
Counts: TypeAlias = dict[int, int]


def why_costly(schema: Json) -> str | None:
    """Why no value can be checked against it, or made from it, in reasonable time."""
    return None if not isinstance(schema, dict) else Costs(schema).reason


class Costs:
    """The cost of checking values against one schema."""

    def __init__(self, schema: JsonObject) -> None:
        self._root = schema
        self._by_name: dict[str, JsonObject] = {}
        self._nodes: dict[int, JsonObject] = {}
        self._reach_counts: dict[int, Counts] = {}
        self._weights: dict[int, int] = {}
        self.open = False  # how many steps there are depends on the value
        self.reason: str | None = None
        text = dumps(schema)
        if len(text) > MAX_SCHEMA_BYTES:
            self.reason = f"it has {len(text)} bytes, and may have {MAX_SCHEMA_BYTES}"
        elif any(b'"%b"' % key.encode() in text for key in _REFERENCES):
            self._count()

    def steps_exceeded(self, value: Json) -> bool:
        """Would this value take more steps than we allow?"""
        if not self.open:
            return False
        budget = MAX_STEPS
        todo: list[tuple[Json, Counts]] = [(value, {id(self._root): 1})]
        while todo:
            at, starts = todo.pop()
            here = self._everything_at(starts)
            budget -= sum(here.values())
            if budget < 0:
                return True
            todo += self._steps_down(at, here)
        return False

    # -- the schema alone --------------------------------------------------------------

    def _count(self) -> None:
        self._index(self._root, "")
        for node in tuple(self._nodes.values()):
            if self._weight(node, ()) > MAX_STEPS_IN_PLACE:
                self.reason = f"its references unfold to over {MAX_STEPS_IN_PLACE} steps"
                return
        self.open = self._is_open()

    def _index(self, schema: Json, base: str) -> None:
        """Note every object in it, and those that references may name."""
        todo: list[tuple[Json, str]] = [(schema, base)]
        while todo:
            at, base = todo.pop()
            if isinstance(at, list):
                todo += [(item, base) for item in at]
            elif isinstance(at, dict):
                self._nodes[id(at)] = at
                base = self._name(at, base)
                todo += [(item, base) for item in at.values()]

    def _name(self, at: JsonObject, base: str) -> str:
        own = at.get("$id", at.get("id"))
        if isinstance(own, str):
            base = urljoin(base, own).removesuffix("#")
            self._by_name.setdefault(base, at)
        for key in ("$anchor", "$dynamicAnchor"):
            if isinstance(at.get(key), str):
                self._by_name.setdefault(f"{base}#{at[key]}", at)
                self._by_name.setdefault(f"#{at[key]}", at)
        return base

    def _reference_targets(self, node: JsonObject) -> Iterator[JsonObject]:
        for key in _REFERENCES:
            ref = node.get(key)
            target = self._target(ref) if isinstance(ref, str) else None
            if target is not None:
                yield target

    def _target(self, ref: str) -> JsonObject | None:
        place, _, fragment = ref.partition("#")
        node_by_name = self._by_name.get(ref) or self._by_name.get(
            f"#{fragment}" if fragment else ""
        )
        if node_by_name is not None:
            return node_by_name
        # A relative one by its end: counting a wrong schema too does no harm.
        ends = (node for name, node in self._by_name.items() if place and name.endswith(place))
        at: Json = self._root if not place else next(ends, None)
        if fragment and not fragment.startswith("/"):
            return None
        for token in fragment.split("/")[1:]:
            at = _child(at, unquote(token).replace("~1", "/").replace("~0", "~"))
        return at if isinstance(at, dict) else None

    def _same_place(self, node: JsonObject) -> Iterator[JsonObject]:
        yield from self._reference_targets(node)
        for key in _SAME_LISTS:
            yield from _objects(node.get(key))
        for key in _SAME:
            if isinstance(node.get(key), dict):
                yield node[key]
        for key in _SAME_MAPS:
            if isinstance(node.get(key), dict):
                yield from _objects(list(node[key].values()))

    def _weight(self, node: JsonObject, above: tuple[int, ...]) -> int:
        """The steps at one place, with the text that they would take to write out."""
        if id(node) in above:
            return 0  # validators stop at such a cycle
        if len(above) > MAX_CHAIN:
            return MAX_STEPS_IN_PLACE + 1
        weight = self._weights.get(id(node))
        if weight is None:
            weight = _own_weight(node)
            for same in self._same_place(node):
                weight += self._weight(same, (*above, id(node)))
                if weight > MAX_STEPS_IN_PLACE:
                    break
            self._weights[id(node)] = weight
        return weight

    def _is_open(self) -> bool:
        """Does it lead back into itself, or unfold to too much to ignore?"""
        totals: dict[int, int] = {}  # 0 while it is being looked at
        todo: list[tuple[JsonObject, bool]] = [(self._root, False)]
        while todo:
            node, children_done = todo.pop()
            if children_done:
                total = 1 + sum(totals[id(below)] for below in self._neighbours(node))
                if total > MAX_STEPS_IN_PLACE:
                    return True
                totals[id(node)] = total
            elif id(node) not in totals:
                totals[id(node)] = 0
                todo.append((node, True))
                todo += [(below, False) for below in self._neighbours(node)]
            elif totals[id(node)] == 0:
                return True
        return False

    def _neighbours(self, node: JsonObject) -> Iterator[JsonObject]:
        yield from self._same_place(node)
        yield from _below_object(node, None)
        yield from _below_list(node, None)

    # -- the schema and a value --------------------------------------------------------

    def _everything_at(self, starts: Counts) -> Counts:
        counts: Counts = {}
        for node, count in starts.items():
            for subnode, times in self._reach(node, ()).items():
                counts[subnode] = min(counts.get(subnode, 0) + count * times, MAX_STEPS + 1)
        return counts

    def _reach(self, node: int, above: tuple[int, ...]) -> Counts:
        """How often each schema applies to a value that this one applies to, itself included."""
        if node in above:
            return {}
        counts = self._reach_counts.get(node)
        if counts is None:
            counts = {node: 1}
            for same in self._same_place(self._nodes[node]):
                for subnode, times in self._reach(id(same), (*above, node)).items():
                    counts[subnode] = min(counts.get(subnode, 0) + times, MAX_STEPS + 1)
            self._reach_counts[node] = counts
        return counts

    def _steps_down(self, value: Json, here: Counts) -> Iterator[tuple[Json, Counts]]:
        if isinstance(value, dict):
            for key, below in value.items():
                yield below, self._next(here, partial(_below_object, key=key))
        elif isinstance(value, list):
            for number, below in enumerate(value):
                yield below, self._next(here, partial(_below_list, number=number))

    def _next(self, here: Counts, below: Callable[[JsonObject], Iterable[JsonObject]]) -> Counts:
        counts: Counts = {}
        for node, count in here.items():
            for target in below(self._nodes[node]):
                counts[id(target)] = counts.get(id(target), 0) + count
        return counts


def _own_weight(node: JsonObject) -> int:
    text = sum(len(value) for value in node.values() if isinstance(value, str))
    count = sum(len(value) for value in node.values() if isinstance(value, list))
    return 1 + text // _TEXT_A_STEP + count // _VALUES_A_STEP


def _below_object(node: JsonObject, key: str | None) -> Iterator[JsonObject]:
    """The schemas for a property; for all properties if `key` is None."""
    properties = node.get("properties")
    if isinstance(properties, dict):
        yield from _objects([properties.get(key)] if key is not None else [*properties.values()])
    patterns = node.get("patternProperties")
    yield from _objects([*patterns.values()] if isinstance(patterns, dict) else [])
    yield from _objects([node.get(name) for name in _BELOW_OBJECT])


def _below_list(node: JsonObject, number: int | None) -> Iterator[JsonObject]:
    for key in ("prefixItems", "items"):
        schemas = node.get(key)
        if isinstance(schemas, list):
            yield from _objects(schemas if number is None else schemas[number : number + 1])
    yield from _objects([node.get(name) for name in _BELOW_LIST])


def _objects(values: Json) -> Iterator[JsonObject]:
    return (value for value in (values if isinstance(values, list) else ()) if _is_object(value))


def _is_object(value: Json) -> TypeGuard[JsonObject]:
    return isinstance(value, dict)


def _child(at: Json, token: str) -> Json:
    if isinstance(at, dict):
        return at.get(token)
    if isinstance(at, list) and token.isascii() and token.isdigit() and len(token) < 9:
        return at[int(token)] if int(token) < len(at) else None
    return None
