"""One entry among the `tools` of a registry file, changed field by field. Pure.

Only the fields that are named change; everything else of the entry, and of the file, is left as
it is written there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from toolyard.files.comments import parse
from toolyard.files.places import places
from toolyard.files.revising import appended, revised
from toolyard.protocol.call import Json
from toolyard.web.editing.sections import RefusedEdit


@dataclass(frozen=True, slots=True)
class EntryEdit:
    """Which entry, by its name in the file, or None for a new one; null removes a field."""

    name: str | None
    fields: Mapping[str, Json]

    @classmethod
    def read(cls, value: Json) -> EntryEdit:
        """Raises RefusedEdit."""
        if not isinstance(value, dict) or not isinstance(value.get("fields"), dict):
            raise RefusedEdit("an entry needs fields", "tools")
        name = value.get("name")
        if name is not None and not isinstance(name, str):
            raise RefusedEdit("the name of an entry is text", "tools")
        return cls(name, value["fields"])


def with_entry(tools: str, edit: EntryEdit) -> str:
    """The text of `tools` with that entry changed. Raises RefusedEdit, ValueError."""
    entries = parse(tools.encode("utf-8", "surrogateescape"))
    if not isinstance(entries, list):
        raise RefusedEdit("tools must be a list", "tools")
    if edit.name is None:
        return appended(tools, _applied({}, edit.fields), "  ")
    for number, entry in enumerate(entries):
        if isinstance(entry, dict) and entry.get("name") == edit.name:
            return _replaced(tools, number, _applied(entry, edit.fields))
    raise RefusedEdit(f"the file has no tool {edit.name!r} any more", "tools")


def _applied(entry: Mapping[str, Json], fields: Mapping[str, Json]) -> dict[str, Json]:
    merged = {**entry, **fields}
    return {key: value for key, value in merged.items() if fields.get(key, value) is not None}


def _replaced(tools: str, number: int, entry: Json) -> str:
    span = places(tools)[f"/{number}"]
    line = tools[tools.rfind("\n", 0, span.start) + 1 : span.start]
    indent = line[: len(line) - len(line.lstrip())]
    text = revised(tools[span.start : span.end], entry, indent)
    return tools[: span.start] + text + tools[span.end :]
