"""What a projection reads from a schema, wherever the schema says it. Evaluates nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from toolyard.files.pointers import unescape as unescaped
from toolyard.protocol.call import Json, JsonObject
from toolyard.virtual.subschemas import subschemas


@dataclass(frozen=True, slots=True)
class View:
    """What a schema says about one value, its references and combinations included."""

    source_field: str | None = None
    properties: JsonObject | None = None
    required: frozenset[str] = frozenset()
    items: JsonObject | None = None
    # Members that are not listed are copied too.
    open: bool = False


class SchemaViews:
    """Reads the schemas of one document, through `$ref`, `allOf` and the `anyOf` of a nullable."""

    def __init__(self, root: JsonObject) -> None:
        self._root = root
        self._projects: dict[int, bool] = {}

    def of(self, schema: Json) -> View:
        return self._read(schema, 0)

    def projects(self, schema: Json) -> bool:
        """Is there a `source_field` at or below this schema?"""
        if id(schema) not in self._projects:
            selects = self._reaches(schema, lambda sub: "source_field" in sub, set())
            self._projects[id(schema)] = selects
        return self._projects[id(schema)]

    def recurs(self, schema: Json) -> bool:
        """Does this schema lead back to itself?"""
        below = self._below(schema)
        return any(self._reaches(sub, lambda part: part is schema, set()) for sub in below)

    def shaped(self, schema: Json) -> bool:
        """Does it say which members there are, so that others are dropped?"""
        return self._shaped(schema, set())

    def admits_null(self, schema: Json, depth: int = 0) -> bool:
        """May a value of this schema be null? Yes, where that is not clear."""
        if not isinstance(schema, dict) or depth > 16:
            return schema is not False
        kinds = schema.get("type", "null")
        if "null" not in (kinds if isinstance(kinds, list) else [kinds]):
            return False
        values = schema.get("enum", [None])
        if schema.get("const") is not None or (isinstance(values, list) and None not in values):
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
            shapes = [part for part in _listed(schema, key) if self.shaped(part)]
            parts += shapes if len(shapes) == 1 else []
        return parts

    def _target(self, ref: Json) -> Json:
        if not isinstance(ref, str) or not ref.startswith("#"):
            return None
        value: Json = self._root
        for token in ref.split("/")[1:]:
            value = value.get(unescaped(token)) if isinstance(value, dict) else None
        return value

    def _reaches(
        self, schema: Json, matches: Callable[[JsonObject], bool], visited: set[int]
    ) -> bool:
        if not isinstance(schema, dict) or id(schema) in visited:
            return False
        visited.add(id(schema))
        return matches(schema) or any(
            self._reaches(sub, matches, visited) for sub in self._below(schema)
        )

    def _below(self, schema: Json) -> list[Json]:
        if not isinstance(schema, dict):
            return []
        used = {key: value for key, value in schema.items() if key not in ("$defs", "definitions")}
        return [*(sub for _, sub in subschemas(used)), self._target(schema.get("$ref"))]

    def _shaped(self, schema: Json, visited: set[int]) -> bool:
        if not isinstance(schema, dict) or id(schema) in visited:
            return False
        visited.add(id(schema))
        if "source_field" in schema or isinstance(schema.get("properties"), dict):
            return True
        lists = [part for key in ("allOf", "anyOf", "oneOf") for part in _listed(schema, key)]
        parts = [self._target(schema.get("$ref")), schema.get("items"), *lists]
        return any(self._shaped(part, visited) for part in parts)


def _listed(schema: JsonObject, key: str) -> list[Json]:
    value = schema.get(key)
    return value if isinstance(value, list) else []


def _own(schema: JsonObject) -> View:
    properties, items, names = (schema.get(key) for key in ("properties", "items", "required"))
    return View(
        source_field=schema.get("source_field"),
        properties=properties
        if isinstance(properties, dict) and _may_be(schema, "object")
        else None,
        required=frozenset(name for name in names if isinstance(name, str))
        if isinstance(names, list)
        else frozenset(),
        items=items if isinstance(items, dict) and _may_be(schema, "array") else None,
        open=bool(schema.get("additionalProperties") or schema.get("patternProperties")),
    )


def _may_be(schema: JsonObject, kind: str) -> bool:
    kinds = schema.get("type", kind)
    return kind == kinds or (isinstance(kinds, list) and kind in kinds)


def _joined(nearer: View, farther: View) -> View:
    """Both apply; where only one can, the nearer does."""
    properties = nearer.properties
    if farther.properties is not None:
        own = nearer.properties or {}
        properties = {**own, **farther.properties, **own}
    return replace(
        nearer,
        source_field=farther.source_field if nearer.source_field is None else nearer.source_field,
        properties=properties,
        required=nearer.required | farther.required,
        items=farther.items if nearer.items is None else nearer.items,
        open=nearer.open or farther.open,
    )
