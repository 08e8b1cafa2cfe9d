"""The patterns of a JSON Schema: how much text may be matched against them. Pure.

The cost of a pattern grows with its compiled size times the length of the text, even though
the engine is linear. Text that no pattern applies to does not count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from toolyard.protocol.call import Json
from toolyard.protocol.codec import dumps

# Tried in this order: the first size that a schema's patterns fit in determines their cost.
PATTERN_SIZES = tuple(400 * 4**n for n in range(8))  # up to 6.5 MB
# Bytes of a compiled pattern times characters of text: half a second, give or take.
MAX_WORK = 2_000_000_000
TOO_LONG = "takes too many steps to match against the pattern"
# A pattern below a property's name is for that property; below these it may be for any.
_ANYWHERE = frozenset({"$defs", "definitions", "additionalProperties", "unevaluatedProperties"})
_NAMED = frozenset({"properties", "patternProperties", "dependentSchemas"})


class Patterns:
    """The patterns of one schema, and which properties they are for."""

    def __init__(self, schema: Json) -> None:
        self.count = 0
        self._names: set[str | None] = set()
        if b'"pattern' in dumps(schema):
            for name in _pattern_names(schema, None):
                self.count += 1
                self._names.add(name)

    def bounded(
        self, check: Callable[[Json], str | None], size: int
    ) -> Callable[[Json], str | None]:
        """The check, which refuses texts that are too long for patterns of this size."""
        most = MAX_WORK // (size * self.count)

        def checked(value: Json) -> str | None:
            if len(dumps(value)) > most and self._matched_length(value) > most:
                return f"(root): {TOO_LONG}"
            return check(value)

        return checked

    def _matched_length(self, value: Json) -> int:
        """The characters that patterns may be matched against, names of properties included."""
        total = 0
        todo: list[tuple[Json, str | None]] = [(value, None)]
        while todo:
            at, name = todo.pop()
            if isinstance(at, dict):
                total += sum(map(len, at)) if None in self._names else 0
                todo += [(below, key) for key, below in at.items()]
            elif isinstance(at, list):
                todo += [(below, name) for below in at]
            elif isinstance(at, str) and (None in self._names or name in self._names):
                total += len(at)
        return total


def _pattern_names(schema: Json, name: str | None) -> Iterator[str | None]:
    """For each pattern the property that it is for; None if that is not known."""
    if isinstance(schema, list):
        for item in schema:
            yield from _pattern_names(item, name)
    if not isinstance(schema, dict):
        return
    if isinstance(schema.get("pattern"), str):
        yield name
    for key, value in schema.items():
        if key in _NAMED and isinstance(value, dict):
            for own, below in value.items():
                if key == "patternProperties":
                    yield None
                yield from _pattern_names(below, own if key == "properties" else None)
        else:
            yield from _pattern_names(value, None if key in _ANYWHERE else name)
