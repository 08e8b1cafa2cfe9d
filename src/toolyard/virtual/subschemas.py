"""Where a JSON Schema keeps schemas, and where it keeps plain values. Knows nothing of tools."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator

from toolyard.files.pointers import escape
from toolyard.protocol.call import Json, JsonObject

# Those that describe the same value as the schema that they are in.
IN_PLACE_LISTS = ("allOf", "anyOf", "oneOf")
IN_PLACE = ("if", "then", "else", "not")
IN_PLACE_MAPS = ("dependentSchemas", "dependencies")
_MAPS = frozenset(
    {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}
)
_LISTS = frozenset({*IN_PLACE_LISTS, "prefixItems", "items"})
_SINGLE = frozenset(
    {
        *("items", "additionalItems", "contains", "unevaluatedItems"),
        *("additionalProperties", "propertyNames", "unevaluatedProperties"),
        *("not", "if", "then", "else", "contentSchema"),
    }
)


def subschemas(schema: Json) -> Iterator[tuple[tuple[str, ...], JsonObject]]:
    """Each direct subschema that is an object, with the tokens that lead to it."""
    if not isinstance(schema, dict):
        return
    for key, value in schema.items():
        if key in _MAPS and isinstance(value, dict):
            yield from (((key, name), sub) for name, sub in value.items() if isinstance(sub, dict))
        elif key in _LISTS and isinstance(value, list):
            yield from (
                ((key, str(i)), sub) for i, sub in enumerate(value) if isinstance(sub, dict)
            )
        elif key in _SINGLE and isinstance(value, dict):
            yield (key,), value


def walk(schema: Json, at: str = "") -> Iterator[tuple[str, JsonObject]]:
    """The schema and everything below it, each with its JSON pointer."""
    if not isinstance(schema, dict):
        return
    yield at, schema
    for tokens, sub in subschemas(schema):
        yield from walk(sub, at + "".join(f"/{escape(token)}" for token in tokens))


def rebuild(schema: JsonObject, change: Callable[[JsonObject], Json]) -> JsonObject:
    """A copy with each direct subschema changed and every other value copied."""
    return {key: _rebuilt(key, value, change) for key, value in schema.items()}


def _rebuilt(key: str, value: Json, change: Callable[[JsonObject], Json]) -> Json:
    if key in _MAPS and isinstance(value, dict):
        return {name: _changed(sub, change) for name, sub in value.items()}
    if key in _LISTS and isinstance(value, list):
        return [_changed(sub, change) for sub in value]
    if key in _SINGLE:
        return _changed(value, change)
    return copy.deepcopy(value)


def _changed(value: Json, change: Callable[[JsonObject], Json]) -> Json:
    return change(value) if isinstance(value, dict) else copy.deepcopy(value)
