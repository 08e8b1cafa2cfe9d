"""A registry file with its `tools` and `schemas` replaced; nothing else in it can change. Pure.

No request may name a command to run: server objects and new variables are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from toolyard.files.places import line_of, places
from toolyard.protocol.call import Json

SECTIONS = {"tools": "[]", "schemas": "{}"}
_VARIABLE = re.compile(r"(?<!\$)\$\{[^}]*\}?")


class RefusedEdit(Exception):
    """An edit that the page may not save, and why."""

    def __init__(self, message: str, section: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.section = section


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the file that can be edited, as it is written there."""

    text: str
    line: int  # of its first character in the file, counted from 1


def sections(text: str) -> dict[str, Section]:
    """The two parts that can be edited."""
    spans = places(text)
    parts = {}
    for name, empty in SECTIONS.items():
        span = spans.get(f"/{name}")
        if span is None:
            parts[name] = Section(empty, line_of(text, spans[""].end))
        else:
            parts[name] = Section(text[span.start : span.end], line_of(text, span.start))
    return parts


def edited(text: str, parts: Mapping[str, str]) -> str:
    """The file with these parts in place of its own; everything else stays as it is.

    A part that has not changed is not written: an empty one that is not there stays away.
    """
    for name, part in parts.items():
        if part != sections(text)[name].text:
            text = _with(text, name, _closed(part))
    return text


def _closed(part: str) -> str:
    """A comment at the end must not swallow what follows in the file."""
    last_line = part.rstrip().rpartition("\n")[2]
    return f"{part.strip()}\n" if "//" in last_line else part.strip()


def _with(text: str, name: str, part: str) -> str:
    spans = places(text)
    span = spans.get(f"/{name}")
    if span is not None:
        return text[: span.start] + part + text[span.end :]
    end = spans[""].end - 1
    comma = "," if any(pointer.count("/") == 1 for pointer in spans) else ""
    before = text[:end].rstrip().removesuffix(",") if comma else text[:end]
    return f'{before}{comma}\n  "{name}": {part}\n{text[end:]}'


def check_edit(before: Json, after: Json) -> None:
    """Raises RefusedEdit where more has changed than the page may change."""
    if _others(before) != _others(after):
        raise RefusedEdit("only tools and schemas can be changed here")
    for tool in after.get("tools") or []:
        if isinstance(tool, dict):
            _check_tool(tool)
    for owner, variable in _variables(after) - _variables(before):
        raise RefusedEdit(
            f"{variable} is new in {owner}: variables are added in the file, never by the page",
            "schemas" if owner == "schemas" else "tools",
        )


def _check_tool(tool: Mapping[str, Json]) -> None:
    if isinstance(tool.get("server"), dict):
        raise RefusedEdit(
            f"tool {tool.get('name')!r} has a server of its own: servers are added in the "
            "file, never by the page",
            "tools",
        )
    if isinstance(tool.get("source"), dict):
        raise RefusedEdit(
            f"the source of tool {tool.get('name')!r} is an object: that belongs to another "
            "format, and would change what the whole file means",
            "tools",
        )


def _others(registry: Json) -> dict[str, Json]:
    return {key: value for key, value in registry.items() if key not in SECTIONS}


def _variables(registry: Json) -> set[tuple[str, str]]:
    """Each variable, with the tool whose entry contains it."""
    variables = {("schemas", variable) for variable in _mentioned(registry.get("schemas"))}
    for tool in registry.get("tools") or []:
        owner = str(tool.get("name")) if isinstance(tool, dict) else ""
        variables |= {(owner, variable) for variable in _mentioned(tool)}
    return variables


def _mentioned(value: Json) -> Iterator[str]:
    todo = [value]
    while todo:
        part = todo.pop()
        if isinstance(part, str):
            yield from _VARIABLE.findall(part)
        elif isinstance(part, dict):
            todo += [*part, *part.values()]
        elif isinstance(part, list):
            todo += part
