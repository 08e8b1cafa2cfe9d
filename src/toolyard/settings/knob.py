"""One knob: its kind, default and meaning, and how text becomes its value.

Knows nothing of the table that it stands in.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, Generic, NamedTuple, Protocol, TypeVar, overload

T = TypeVar("T")

_TRUE = frozenset({"true", "1", "yes", "on"})
_FALSE = frozenset({"false", "0", "no", "off"})
_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
# The variables of mcp-bash that begin with MCP_ alone.
_WITHOUT_BASH = (
    *("tools_ttl", "resources_ttl", "prompts_ttl", "resources_templates_ttl", "ui_ttl"),
    "resources_roots",
)


class Holder(Protocol):
    """What a knob reads its value from."""

    _values: dict[str, Any]


class ValueKind(NamedTuple, Generic[T]):
    shown: str
    parse: Callable[[object], T]
    # For editors; `parse` takes a value also as the text that a variable would hold.
    schema: Mapping[str, Any]


class Knob(Generic[T]):
    """One row of the table, and the typed attribute of `Settings` that reads it."""

    def __init__(
        self,
        kind: ValueKind[T],
        default: Any,
        meaning: str,
        *,
        follows: str = "",
        secret: bool = False,
    ) -> None:
        self.kind = kind
        self.default: T = default
        self.meaning = meaning
        self.follows = follows
        self.secret = secret
        self.name = self.variable = ""

    def __set_name__(self, owner: type[Holder], name: str) -> None:
        self.name = name
        self.variable = ("MCP_" if name in _WITHOUT_BASH else "MCPBASH_") + name.upper()

    @overload
    def __get__(self, obj: None, owner: type[Holder]) -> Knob[T]: ...
    @overload
    def __get__(self, obj: Holder, owner: type[Holder]) -> T: ...
    def __get__(self, obj: Holder | None, owner: type[Holder]) -> Knob[T] | T:
        if obj is None:
            return self
        value: T = obj._values[self.name]
        return value

    def __set__(self, obj: Holder, value: T) -> None:
        raise AttributeError(f"settings are frozen: {self.name}")

    @property
    def own_variable(self) -> str:
        return f"TOOLYARD_{self.name.upper()}"

    @property
    def file_key(self) -> str:
        first_word, *other_words = self.name.split("_")
        return first_word + "".join(word.capitalize() for word in other_words)


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    raise ValueError("expected text")


def _switch(value: object) -> bool:
    if isinstance(value, bool):
        return value
    word = str(value).lower()
    if word in _TRUE or word in _FALSE:
        return word in _TRUE
    raise ValueError("expected true or false")


def _whole(value: object) -> int:
    number = _number(value)
    if number == int(number):
        return int(number)
    raise ValueError("expected a whole number")


def _number(value: object) -> float:
    try:
        number = float("nan" if isinstance(value, bool) else str(value))
    except ValueError:
        number = -1.0
    if 0 <= number < float("inf"):
        return number
    raise ValueError("expected a number, 0 or more")


def _rate(value: object) -> float:
    number = _number(value)
    if number > 0:
        return number
    raise ValueError("expected a number above 0")


def _words(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(value.replace(",", " ").split())
    return _strings(value)


def _paths(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(part for part in value.split(os.pathsep) if part)
    return _strings(value)


def _strings(value: object) -> tuple[str, ...]:
    if isinstance(value, list | tuple) and all(isinstance(part, str) for part in value):
        return tuple(value)
    raise ValueError("expected a list of texts")


def _level(value: object) -> str:
    word = str(value).lower()
    if word in _TRUE:
        return "debug"
    if word in _FALSE:
        return "info"
    word = {"warn": "warning"}.get(word, word)
    if word in _LEVELS:
        return word
    raise ValueError(f"expected one of {', '.join(_LEVELS)}")


def choice(*allowed: str) -> ValueKind[str]:
    def parse(value: object) -> str:
        if str(value).lower() in allowed:
            return str(value).lower()
        raise ValueError(f"expected one of {', '.join(allowed)}")

    return ValueKind(" or ".join(allowed), parse, {"enum": list(allowed)})


def _object(value: object) -> dict[str, Any]:
    value = _decoded(value)
    if isinstance(value, dict):
        return value
    raise ValueError("expected an object")


def _objects(value: object) -> tuple[dict[str, Any], ...]:
    value = _decoded(value)
    if isinstance(value, list | tuple) and all(isinstance(part, dict) for part in value):
        return tuple(value)
    raise ValueError("expected a list of objects")


def _decoded(value: object) -> object:
    """A variable or a flag holds JSON text, the file the value itself."""
    if not isinstance(value, str):
        return value
    import json  # noqa: PLC0415 - most starts have nothing to decode

    return json.loads(value)


_STRINGS = {"type": "array", "items": {"type": "string"}}
TEXT = ValueKind("text", _text, {"type": "string"})
PATH = ValueKind("path", _text, {"type": "string"})
SWITCH = ValueKind("true or false", _switch, {"type": "boolean"})
WHOLE = ValueKind("whole number", _whole, {"type": "integer", "minimum": 0})
SECONDS = ValueKind("seconds", _number, {"type": "number", "minimum": 0})
RATE = ValueKind("a second", _rate, {"type": "number", "exclusiveMinimum": 0})
WORDS = ValueKind("names, by space or comma", _words, _STRINGS)
PATHS = ValueKind("paths, by colon", _paths, _STRINGS)
LEVEL = ValueKind("log level", _level, {"enum": list(_LEVELS)})
OBJECT = ValueKind("object", _object, {"type": "object"})
OBJECTS = ValueKind("list of objects", _objects, {"type": "array", "items": {"type": "object"}})
