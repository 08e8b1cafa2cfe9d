"""The registry files for the page: shown with their problems, edited, checked, saved."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from toolyard.catalog.snapshot import Catalog
from toolyard.errors import ConfigError, Problem
from toolyard.files.places import line_of, nearest, places
from toolyard.protocol.call import Json, JsonObject
from toolyard.web.editing.sections import SECTIONS, RefusedEdit, check_edit, edited, sections


class RegistryFile(Protocol):
    """One registry file, and the catalog that another text in it would make."""

    @property
    def path(self) -> str: ...

    def read(self) -> str:
        """Raises OSError."""

    def save(self, text: str, seen: str) -> None:
        """Replace the text with that stamp, whole or not at all. Raises Stale, OSError."""

    def parse(self, text: str) -> Json:
        """Raises ValueError."""

    def described(self) -> JsonObject:
        """`format`, `servers` (masked), `lost` and `native`, as it is loaded now."""

    def would_be(self, text: str) -> tuple[Catalog, list[Problem]]:
        """The catalog, and the mistakes in single entries, which disable those.

        Raises ConfigError with every problem of a file that cannot be used at all.
        """


class Stale(Exception):
    """The file has changed since it was read."""


@dataclass(frozen=True, slots=True)
class Draft:
    """What the file would be, and what is wrong with it."""

    text: str
    problems: list[JsonObject]
    catalog: Catalog | None = None

    @property
    def spoils(self) -> bool:
        """Does it bring a mistake that the file does not have yet?"""
        return self.catalog is None or not all(problem.get("standing") for problem in self.problems)


def shown(file: RegistryFile, read_only: bool) -> JsonObject:
    text = file.read()
    description = file.described()
    head = {"path": file.path, "stamp": stamp(text), "readOnly": read_only, **description}
    try:
        parts = sections(text)
        file.parse(text)
    except ValueError as error:
        trouble = {"message": str(error), "section": "", "line": 0, "pointer": ""}
        return {**head, "editable": False, "why": "the file is not JSON", "problems": [trouble]}
    why = _why_not(description["format"], file.parse(text))
    return {
        **head,
        "editable": why is None,
        "why": why,
        "sections": {name: part.text for name, part in parts.items()},
        "problems": draft(file, text).problems,
    }


def _why_not(form: str, value: Json) -> str | None:
    if form != "native":
        return f"the registry is in the format of {form}: view it here, or convert it by command"
    tools = value.get("tools") if isinstance(value, dict) else None
    if any(isinstance(tool, dict) and isinstance(tool.get("server"), dict) for tool in tools or []):
        return "the file has servers inside tools: move them under servers to edit it here"
    return None


def stamp(text: str) -> str:
    """Names a text: who wants to replace it must show that they have read it."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def changed(file: RegistryFile, parts: Mapping[str, str]) -> Draft:
    """The file with these parts. Raises RefusedEdit."""
    before = file.read()
    for name, part in parts.items():
        _check_part(file, name, part)
    after = edited(before, parts)
    check_edit(file.parse(before), file.parse(after))
    return draft(file, after, _had(file, before))


def _had(file: RegistryFile, text: str) -> Counter[tuple[str, str]]:
    return Counter(map(_kind_of, draft(file, text).problems))


def _kind_of(problem: JsonObject) -> tuple[str, str]:
    """Recognises a mistake even after entries before it have come or gone."""
    return re.sub(r"(?<=/)[0-9]+(?=/|$)", "", problem["pointer"], count=1), problem["message"]


def _check_part(file: RegistryFile, name: str, part: str) -> None:
    """A part is one value by itself: it cannot reach into what surrounds it."""
    try:
        places(part)
        value = file.parse(part)
    except ValueError as error:
        raise RefusedEdit(str(error), name) from None
    if not isinstance(value, type(file.parse(SECTIONS[name]))):
        kind = "a list" if name == "tools" else "an object"
        raise RefusedEdit(f"{name} must be {kind}", name)


def draft(file: RegistryFile, text: str, had: Mapping[tuple[str, str], int] | None = None) -> Draft:
    """`had`: the mistakes that are in the file already, which a change need not repair."""
    try:
        catalog, mistakes = file.would_be(text)
    except ConfigError as error:
        return Draft(text, [_placed(text, file.path, problem) for problem in error.problems])
    problems = [_placed(text, file.path, problem) for problem in mistakes]
    standing = Counter(had or {})
    for problem in problems:
        kind = _kind_of(problem)
        problem["standing"] = standing[kind] > 0
        standing[kind] -= 1
    return Draft(text, problems, catalog)


def _placed(text: str, path: str, problem: Problem) -> JsonObject:
    """The problem, with its line counted within its section."""
    report: JsonObject = {"message": problem.message, "pointer": problem.pointer}
    section = problem.pointer.split("/")[1] if "/" in problem.pointer else ""
    here = nearest(places(text), problem.pointer) if problem.file == path else None
    if here is None or section not in SECTIONS:
        elsewhere = "" if problem.file == path else problem.file
        return {**report, "section": "", "line": 0, "file": elsewhere}
    line = line_of(text, here.start) - sections(text)[section].line + 1
    return {**report, "section": section, "line": max(line, 1)}


def effect(before: Catalog, after: Catalog) -> list[JsonObject]:
    """What would change for clients."""
    names = [*after.tools, *(name for name in before.tools if name not in after.tools)]
    changes = (_change(name, before, after) for name in names)
    return [change for change in changes if change is not None]


def _change(name: str, before: Catalog, after: Catalog) -> JsonObject | None:
    old, new = before.tools.get(name), after.tools.get(name)
    was = old.definition if old is not None and old.listed else None
    will = new.definition if new is not None and new.listed else None
    reason = new.unavailable if new is not None else None
    if was == will and (old is not None) == (new is not None):
        return None
    kind = "changed" if was and will else "added" if will else "removed" if was else "disabled"
    return {"name": name, "kind": kind, "before": was, "after": will, "reason": reason}


def find(files: Iterable[RegistryFile], path: Json) -> RegistryFile | None:
    """The file at that path, among those that are served; no other can be named."""
    return next((file for file in files if file.path == path), None)
