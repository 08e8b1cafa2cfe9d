"""What can be wrong with one metadata file by itself: its JSON, its fields, its icons."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

from toolyard.configuration.check import Findings, check
from toolyard.configuration.objects import shape
from toolyard.files.objects import value_in
from toolyard.protocol.call import JsonObject

Problem: TypeAlias = tuple[Literal["warning", "error"], str]
_ELSEWHERE = ("data:", "https://", "http://")


def examine_metadata(path: str, kind: str = "", *, needs_name: bool = False) -> Iterator[Problem]:
    """`kind` is one that has a schema: tool, prompt, resource, server."""
    try:
        with open(path, "rb") as stream:
            data = stream.read()
        content = value_in(data)
    except OSError as error:
        yield "error", f"cannot be read: {error.strerror}"
        return
    except ValueError as error:
        yield "error", f"invalid JSON: {error}"
        return
    if not isinstance(content, dict):
        yield "error", "must hold a JSON object"
        return
    if needs_name and not content.get("name"):
        yield "error", 'missing required "name"'
    if content.get("icons") is not None:
        yield from _icons(content["icons"], os.path.dirname(path))
    if kind:
        yield from _against_schema(content, kind, Findings(path, data))


def _against_schema(content: JsonObject, kind: str, findings: Findings) -> Iterator[Problem]:
    """What is left out, and keys that are probably misspelt; any other key is kept as it is."""
    check(content, shape("project", f"/$defs/{kind}"), findings)
    level: Literal["warning", "error"] = "error" if kind == "server" else "warning"
    for problem in findings.problems:
        if problem.pointer.split("/")[1] != "icons":
            yield level, str(problem).removeprefix(findings.file)
    for note in findings.notes:
        if "did you mean" in note:
            yield "warning", note.removeprefix(findings.file)


def _icons(icons: Any, folder: str) -> Iterator[Problem]:
    if not isinstance(icons, list):
        yield "error", "icons must be an array"
        return
    for number, icon in enumerate(icons):
        source = icon.get("src") if isinstance(icon, dict) else None
        if not isinstance(source, str) or not source:
            yield "error", f'icons[{number}] must be objects with "src" property'
        elif not source.startswith(_ELSEWHERE) and not _is_there(source, folder):
            yield "warning", f"icon {source}: no such file"


def _is_there(source: str, folder: str) -> bool:
    return os.path.isfile(os.path.join(folder, source.removeprefix("file://")))
