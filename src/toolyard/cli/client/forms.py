"""The form of an elicitation, filled in field by field.

Knows the JSON Schema that elicitation allows, and how to ask for one line; knows no terminal.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from math import isfinite
from typing import TypeAlias

from toolyard.protocol.asking.answers import field_complaint
from toolyard.protocol.call import Json, JsonObject

# Shows a prompt and returns the line that was typed; None at the end of the input.
Ask: TypeAlias = Callable[[str], Awaitable[str | None]]


class Left(Exception):
    """The person has gone, or does not want to answer."""


async def fill_in(schema: JsonObject, ask: Ask) -> JsonObject:
    """The answers of one form. Raises Left when the input ends."""
    required_names = schema.get("required") or ()
    content: JsonObject = {}
    for name, field in (schema.get("properties") or {}).items():
        value = await _field(name, field, name in required_names, ask)
        if value is not None:
            content[name] = value
    return content


async def _field(name: str, field: JsonObject, required: bool, ask: Ask) -> Json:
    prompt = _prompt(name, field, required)
    while True:
        line = await ask(prompt)
        if line is None:
            raise Left
        text = line.strip()
        if not text and ("default" in field or not required):
            return field.get("default")
        try:
            value = parsed(text, field)
        except ValueError as error:
            prompt = f"  {error}: "
            continue
        wrong = field_complaint(value, field)
        if wrong is None:
            return value
        prompt = f"  {wrong}: "


def _prompt(name: str, field: JsonObject, required: bool) -> str:
    title = field.get("title") or field.get("description") or name
    hints = [*_hints(field)]
    if "default" in field:
        hints.append(f"default {field['default']}")
    elif not required:
        hints.append("optional")
    return f"  {title}{' (' + '; '.join(hints) + ')' if hints else ''}: "


def _hints(field: JsonObject) -> list[str]:
    options = choices(field)
    if options:
        hint = " | ".join(
            f"{value} = {title}" if title != value else value for value, title in options.items()
        )
        return [hint + ", separated by commas"] if field.get("type") == "array" else [hint]
    return ["y/n"] if field.get("type") == "boolean" else []


def choices(field: JsonObject) -> dict[str, str]:
    """The values a field offers, with their titles."""
    part = field.get("items") if field.get("type") == "array" else field
    if not isinstance(part, dict):
        return {}
    alternatives = part.get("oneOf") or part.get("anyOf")
    if isinstance(alternatives, list):
        return {
            str(entry.get("const")): str(entry.get("title", entry.get("const")))
            for entry in alternatives
        }
    values = [str(value) for value in part.get("enum") or ()]
    return dict(zip(values, part.get("enumNames") or values, strict=False))


def parsed(text: str, field: JsonObject) -> Json:
    """One typed line as a value of the field. Raises ValueError with what is expected."""
    kind = field.get("type")
    if kind == "array":
        return [part.strip() for part in text.split(",") if part.strip()]
    return _PARSERS.get(str(kind), _text)(text)


def _text(text: str) -> str:
    if not text:
        raise ValueError("an answer is needed")
    return text


def _switch(text: str) -> bool:
    if text.lower() not in _YES | _NO:
        raise ValueError("y or n")
    return text.lower() in _YES


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError("a whole number") from None


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise ValueError("a number") from None
    if not isfinite(number):
        raise ValueError("a number")
    return number


_YES = {"y", "yes", "true", "1"}
_NO = {"n", "no", "false", "0"}
_PARSERS: dict[str, Callable[[str], Json]] = {
    "boolean": _switch,
    "integer": _integer,
    "number": _number,
}
