"""A JSON Schema of ours, compiled to plain tests of values. Pure.

The schema files are the only description of what people may configure: editors are given them,
the tables in the docs are made of them, and what is compiled here checks with them. A library
would do the same, but to import one takes longer than all of a start, and its sentences speak of
schemas. So the few keywords that our own schemas use are compiled here, and a test holds the
outcome to that of jsonschema-rs (docs/decisions/0005-configuration.md).

A schema with an `errorMessage` (a keyword that editors know too) and without `properties` is looked
at as a whole: whatever is wrong in it, that is the sentence. Any other object or list is looked at
member by member, so that each mistake has its own place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

Schema = Mapping[str, Any]
Test = Callable[[Any], bool]


class Shape(NamedTuple):
    """What one value may be."""

    fits: Test  # of the value itself where it has members or elements, otherwise of all of it
    message: str
    members: Mapping[str, Shape] = {}
    rest: Shape | None = None  # members that are not named
    closed: bool = False  # there may be none of those
    required: tuple[str, ...] = ()
    missing: str = ""  # the sentence for a required member that is not there
    elements: Shape | None = None
    deep: bool = False  # has members or elements to look at


class Compiler:
    """Compiles the parts of one schema; a part that others refer to, once."""

    def __init__(self, root: Schema) -> None:
        self._root = root
        self._shapes: dict[str, Shape] = {}

    def at(self, pointer: str) -> Shape:
        """The shape of one part: `/$defs/server`."""
        shape = self._shapes.get(pointer)
        if shape is None:
            shape = self._shapes[pointer] = self._shape(self._part(pointer))
        return shape

    def _part(self, pointer: str) -> Schema:
        part: Any = self._root
        for key in pointer.split("/")[1:]:
            part = part[key]
        return part if isinstance(part, dict) else {}

    def _shape(self, schema: Schema) -> Shape:
        if "$ref" in schema and "errorMessage" not in schema:
            return self.at(schema["$ref"].removeprefix("#"))
        message = schema.get("errorMessage") or f"must be {_phrase(schema)}"
        whole = "errorMessage" in schema and "properties" not in schema
        if whole or not schema.keys() & _INSIDE:
            return Shape(self._test(schema), message)
        rest = schema.get("additionalProperties", True)
        items = schema.get("items")
        own = (make(schema[key]) for key, make in _PLAIN.items() if key in schema)
        return Shape(
            _all(tuple(own)),
            message,
            {key: self._shape(part) for key, part in schema.get("properties", {}).items()},
            self._shape(rest) if isinstance(rest, dict) else None,
            closed=rest is False,
            required=tuple(schema.get("required", ())),
            missing=schema.get("missingMessage", ""),
            elements=None if items is None else self._shape(items),
            deep=True,
        )

    def _test(self, schema: Schema | bool) -> Test:
        if isinstance(schema, bool):
            return lambda value: schema
        return _all(tuple(self._tests(schema)))

    def _tests(self, schema: Schema) -> Iterator[Test]:
        if "$ref" in schema:
            yield self._test(self._part(schema["$ref"].removeprefix("#")))
        for keyword, make in _PLAIN.items():
            if keyword in schema:
                yield make(schema[keyword])
        if "required" in schema:
            yield _has(schema["required"])
        if "anyOf" in schema:
            choices = [self._test(choice) for choice in schema["anyOf"]]
            yield lambda value: any(test(value) for test in choices)
        if "items" in schema:
            yield _each(self._test(schema["items"]))
        if "properties" in schema or "additionalProperties" in schema:
            yield self._members(schema)

    def _members(self, schema: Schema) -> Test:
        tests = {key: self._test(part) for key, part in schema.get("properties", {}).items()}
        rest = self._test(schema.get("additionalProperties", True))
        return lambda value: (
            not isinstance(value, dict)
            or all(tests.get(key, rest)(member) for key, member in value.items())
        )


def _kinds(schema: Schema) -> tuple[str, ...]:
    kinds = schema.get("type", ())
    return (kinds,) if isinstance(kinds, str) else tuple(kinds)


_INSIDE = frozenset({"properties", "additionalProperties", "items"})
_CLASSES: Mapping[str, tuple[type, ...]] = {
    "null": (type(None),),
    "boolean": (bool,),
    "string": (str,),
    "object": (dict,),
    "array": (list,),
    "number": (int, float),
    "integer": (int,),
}
_PHRASES = {
    "boolean": "true or false",
    "string": "a string",
    "object": "an object",
    "array": "a list",
    "number": "a number",
    "integer": "a whole number",
}


def _phrase(schema: Schema) -> str:
    """`null` stands for what is left out: nobody has to be told."""
    if "enum" in schema:
        values = ", ".join(f'"{value}"' for value in schema["enum"] if value is not None)
        return f"one of {values}"
    return " or ".join(_PHRASES[kind] for kind in _kinds(schema) if kind != "null") or "anything"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_of(kinds: tuple[str, ...]) -> Test:
    classes = tuple(one for kind in kinds for one in _CLASSES[kind])
    if int not in classes or bool in classes:
        return lambda value: isinstance(value, classes)
    if "integer" in kinds:  # 2.0 is one too
        return lambda value: (
            (isinstance(value, classes) and not isinstance(value, bool))
            or (isinstance(value, float) and value.is_integer())
        )
    return lambda value: isinstance(value, classes) and not isinstance(value, bool)


def _all(tests: tuple[Test, ...]) -> Test:
    if len(tests) == 1:
        return tests[0]
    if len(tests) == 2:
        first, second = tests
        return lambda value: first(value) and second(value)
    return lambda value: all(test(value) for test in tests)


def _enum(values: list[Any]) -> Test:
    texts = frozenset(value for value in values if isinstance(value, str))
    nothing = None in values
    return lambda value: value in texts if isinstance(value, str) else nothing and value is None


def _const(constant: Any) -> Test:
    return lambda value: (
        isinstance(value, bool) == isinstance(constant, bool) and (value == constant)
    )


def _pattern(pattern: str) -> Test:
    # At the end of a line a `$` of Python matches as well.
    strict = pattern[:-1] + r"\Z" if pattern.endswith("$") else pattern
    # Compiled, and kept by `re`, when there is a text to look at: most starts have none.
    return lambda value: not isinstance(value, str) or re.search(strict, value) is not None


def _has(keys: list[str]) -> Test:
    return lambda value: not isinstance(value, dict) or all(key in value for key in keys)


def _each(test: Test) -> Test:
    return lambda value: not isinstance(value, list) or all(test(element) for element in value)


# Of the value itself.
_PLAIN: Mapping[str, Callable[[Any], Test]] = {
    "type": lambda kinds: _is_of((kinds,) if isinstance(kinds, str) else tuple(kinds)),
    "enum": _enum,
    "const": _const,
    "minLength": lambda least: lambda value: not isinstance(value, str) or len(value) >= least,
    "pattern": _pattern,
    "minimum": lambda least: lambda value: not _is_number(value) or value >= least,
    "exclusiveMinimum": lambda bound: lambda value: not _is_number(value) or value > bound,
}
# What these files may say; the others of JSON Schema are not compiled. `oneOf` stands for editors:
# which members go together is checked by code, in sentences that name them.
KEYWORDS = frozenset(
    {
        *_PLAIN,
        "required",
        "$ref",
        "anyOf",
        "items",
        "properties",
        "additionalProperties",
        "errorMessage",
    }
    | {"missingMessage", "oneOf", "$schema", "$id", "$defs", "$comment"}
    | {"title", "description", "markdownDescription", "default"}
)
