"""What can be wrong with one metadata file by itself: its JSON, its name, its icons."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

from toolyard.files.objects import value_in

Problem: TypeAlias = tuple[Literal["warning", "error"], str]
_ELSEWHERE = ("data:", "https://", "http://")


def examine_metadata(path: str, *, needs_name: bool = False) -> Iterator[Problem]:
    try:
        with open(path, "rb") as stream:
            content = value_in(stream.read())
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
