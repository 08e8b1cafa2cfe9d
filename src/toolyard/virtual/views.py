"""What a projection reads of a schema, wherever the schema says it. Evaluates nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from toolyard.files.pointers import unescape as unescaped
from toolyard.protocol.call import Json, JsonObject
from toolyard.virtual.subschemas import subschemas


@dataclass(frozen=True, slots=True)
class View:
    source_field: str | None = None
    properties: JsonObject | None = None
    required: frozenset[str] = frozenset()
    items: JsonObject | None = None
    # Members beyond the listed ones are wanted too.
    open: bool = False


class Views:
    """Reads schemas of one document, through `$ref`, `allOf` and a nullable's `anyOf`."""

    def __init__(self, root: JsonObject) -> None:
        self._root = root
        self._projecting: dict[int, bool] = {}

    def of(self, schema: Json) -> View:
        return self._read(schema, 0)

    def projects(self, schema: Json) -> bool:
        """Is there a `source_field` at or below this schema?"""
        if id(schema) not in self._projecting:
            found = self._reaches(schema, lambda sub: "source_field" in sub, set())
            self._projecting[id(schema)] = found
        return self._projecting[id(schema)]

    def recurs(self, schema: Json) -> bool:
        """Does this schema lead back to itself?"""
        below = self._below(schema)
        return any(self._reaches(sub, lambda found: found is schema, set()) for sub in below)

    def shaped(self, schema: Json) -> bool:
        """Does it say which members there are, so that others are dropped?"""
        return self._shaped(schema, set())

    def admits_null(self, schema: Json, depth: int = 0) -> bool:
        """May a value of this schema be null? Yes where that is not plain."""
        if not isinstance(schema, dict) or depth > 16:
            return schema is not False
        stated = schema.get("type", "null")
        if "null" not in (stated if isinstance(stated, list) else [stated]):
            return False
        listed = schema.get("enum", [None])
        if schema.get("const") is not None or (isinstance(listed, list) and None not in listed):
            return False
        every = [*_listed(schema, "allOf")]
        every += [self._target(schema["$ref"])] if "$ref" in schema else []
        some = [parts for key in ("anyOf", "oneOf") if (parts := _listed(schema, key))]
        return all(self.admits_null(part, depth + 1) for part in every) and all(
            any(self.admits_null(part, depth + 1) for part in parts) for parts in some
        )

    def _read(self, schema: Json, depth: int) -> View:
        if not isinstance(schema, dict) or depth > 16:
            return View()
        view = _own(schema)
        for part in self._parts(schema):
            view = _joined(view, self._read(part, depth + 1))
        return view

    def _parts(self, schema: JsonObject) -> list[Json]:
        """The other schemas that describe the same value."""
        parts = [self._target(schema["$ref"])] if "$ref" in schema else []
        parts += _listed(schema, "allOf")
        for key in ("anyOf", "oneOf"):
            shaped = [part for part in _listed(schema, key) if self.shaped(part)]
            parts += shaped if len(shaped) == 1 else []
        return parts

    def _target(self, ref: Json) -> Json:
        if not isinstance(ref, str) or not ref.startswith("#"):
            return None
        value: Json = self._root
        for token in ref.split("/")[1:]:
            value = value.get(unescaped(token)) if isinstance(value, dict) else None
        return value

    def _reaches(self, schema: Json, wanted: Callable[[JsonObject], bool], seen: set[int]) -> bool:
        if not isinstance(schema, dict) or id(schema) in seen:
            return False
        seen.add(id(schema))
        return wanted(schema) or any(
            self._reaches(sub, wanted, seen) for sub in self._below(schema)
        )

    def _below(self, schema: Json) -> list[Json]:
        if not isinstance(schema, dict):
            return []
        used = {key: value for key, value in schema.items() if key not in ("$defs", "definitions")}
        return [*(sub for _, sub in subschemas(used)), self._target(schema.get("$ref"))]

    def _shaped(self, schema: Json, seen: set[int]) -> bool:
        if not isinstance(schema, dict) or id(schema) in seen:
            return False
        seen.add(id(schema))
        if "source_field" in schema or isinstance(schema.get("properties"), dict):
            return True
        lists = [part for key in ("allOf", "anyOf", "oneOf") for part in _listed(schema, key)]
        parts = [self._target(schema.get("$ref")), schema.get("items"), *lists]
        return any(self._shaped(part, seen) for part in parts)


def _listed(schema: JsonObject, key: str) -> list[Json]:
    value = schema.get(key)
    return value if isinstance(value, list) else []


def _own(schema: JsonObject) -> View:
    properties, items, required = (schema.get(key) for key in ("properties", "items", "required"))
    return View(
        source_field=schema.get("source_field"),
        properties=properties
        if isinstance(properties, dict) and _may_be(schema, "object")
        else None,
        required=frozenset(name for name in required if isinstance(name, str))
        if isinstance(required, list)
        else frozenset(),
        items=items if isinstance(items, dict) and _may_be(schema, "array") else None,
        open=bool(schema.get("additionalProperties") or schema.get("patternProperties")),
    )


def _may_be(schema: JsonObject, kind: str) -> bool:
    stated = schema.get("type", kind)
    return kind == stated or (isinstance(stated, list) and kind in stated)


def _joined(first: View, second: View) -> View:
    """Both apply; where only one can, the nearer."""
    properties = first.properties
    if second.properties is not None:
        own = first.properties or {}
        properties = {**own, **second.properties, **own}
    return replace(
        first,
        source_field=second.source_field if first.source_field is None else first.source_field,
        properties=properties,
        required=first.required | second.required,
        items=second.items if first.items is None else first.items,
        open=first.open or second.open,
    )
