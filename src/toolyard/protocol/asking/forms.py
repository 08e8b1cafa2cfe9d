"""Forms that a client is asked to fill in, for revisions whose forms are plain. Pure.

A plain form has texts, numbers, switches and choices of one. It has no choice of several:
that becomes one switch per choice, and the answer is put together again. Choices have no titles
except in `enumNames`, and only switches have defaults: others go into the description.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from toolyard.errors import Unaskable
from toolyard.protocol.values import Json, JsonObject

_PLAIN = ("string", "number", "integer", "boolean")
_ABOUT = ("title", "description")


class PlainForm(NamedTuple):
    schema: JsonObject
    # For each choice of several: which switch stands for which choice.
    switches: Mapping[str, Mapping[str, str]]

    def answer(self, answer: Json) -> Json:
        """What the client filled in, as an answer to the original form."""
        content = answer.get("content") if isinstance(answer, dict) else None
        if not self.switches or not isinstance(content, dict):
            return answer
        switch_names = {switch for switches in self.switches.values() for switch in switches}
        values = {name: value for name, value in content.items() if name not in switch_names}
        for name, switches in self.switches.items():
            if not switches.keys().isdisjoint(content):
                values[name] = [
                    choice for at, choice in switches.items() if content.get(at) is True
                ]
        return {**answer, "content": values}


def plain_form(schema: JsonObject) -> PlainForm:
    """Raises Unaskable if something would be lost."""
    fields = schema.get("properties")
    if not isinstance(fields, dict):
        return PlainForm(schema, {})
    properties: JsonObject = {}
    switches: dict[str, dict[str, str]] = {}
    for name, field in fields.items():
        if isinstance(field, dict) and field.get("type") == "array":
            by_switch = _switches(name, field)
            switches[name] = {at: choice for at, (choice, _) in by_switch.items()}
            parts = {at: switch for at, (_, switch) in by_switch.items()}
        else:
            parts = {name: _plain(name, field)}
        if name in switches and parts.keys() & (fields.keys() | properties.keys()):
            raise _unaskable(name, "its choices have the names of other fields")
        properties |= parts
    plain = {key: value for key, value in schema.items() if key != "$schema"}
    plain["properties"] = properties
    if _are_texts(schema.get("required")):
        plain["required"] = [at for name in schema["required"] for at in switches.get(name, [name])]
    return PlainForm(plain, switches)


def _plain(name: str, field: Json) -> Json:
    if not isinstance(field, dict):
        return field
    plain = {"type": "string", **field}
    if plain["type"] not in _PLAIN:
        raise _unaskable(name, f"it has no fields of type {plain['type']!r}")
    if "oneOf" in plain:
        titles = _titles(name, plain.pop("oneOf"))
        plain |= {"enum": list(titles), "enumNames": list(titles.values())}
    if "default" in plain and plain["type"] != "boolean":
        note = f"(default: {plain.pop('default')})"
        plain["description"] = f"{plain.get('description', '')} {note}".lstrip()
    return plain


def _switches(name: str, field: JsonObject) -> dict[str, tuple[str, JsonObject]]:
    """The name of each switch -> the choice that it stands for, and what it looks like."""
    items = field.get("items")
    items = items if isinstance(items, dict) else {}
    values: Json = items.get("enum")
    titles = dict(zip(values, values, strict=True)) if _are_texts(values) else None
    titles = _titles(name, items.get("anyOf")) if titles is None else titles
    least, most = field.get("minItems"), field.get("maxItems")
    if least or (isinstance(most, int) and most < len(titles)):
        raise _unaskable(name, "it cannot limit how many are chosen")
    about = ": ".join(str(field[key]) for key in _ABOUT if field.get(key)) or name
    default = field.get("default")
    switches: dict[str, tuple[str, JsonObject]] = {}
    for choice, title in titles.items():
        switch: JsonObject = {"type": "boolean", "title": title, "description": about}
        if isinstance(default, list):
            switch["default"] = choice in default
        switches[f"{name}.{choice}"] = choice, switch
    return switches


def _titles(name: str, options: Json) -> dict[str, str]:
    """The titles in `[{const, title}]`."""
    options = options if isinstance(options, list) else []
    values = [option.get("const") if isinstance(option, dict) else None for option in options]
    if not options or not _are_texts(values):
        raise _unaskable(name, "it only has lists of given choices")
    return {option["const"]: str(option.get("title", option["const"])) for option in options}


def _are_texts(values: Json) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


def _unaskable(name: str, why: str) -> Unaskable:
    return Unaskable(f"the form of this client's revision cannot ask for {name!r}: {why}")
