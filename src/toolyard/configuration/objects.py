"""The configuration objects that there are, each with its schema. Schemas are read when needed."""

from __future__ import annotations

import json
import os
from functools import cache
from typing import Any, NamedTuple

from toolyard.configuration.shapes import Compiler, Shape


class Published(NamedTuple):
    """A schema that editors may be given."""

    describes: str
    file: str
    part: str = ""


PUBLISHED = {
    "registry": Published("registry.json, and any other registry file", "registry"),
    "settings": Published("toolyard.json", "settings"),
    "server": Published("server.d/server.meta.json", "project", "/$defs/server"),
    "tool": Published("NAME.meta.json in tools/", "project", "/$defs/tool"),
    "prompt": Published("NAME.meta.json in prompts/", "project", "/$defs/prompt"),
    "resource": Published("NAME.meta.json in resources/", "project", "/$defs/resource"),
    "register": Published("server.d/register.json", "project", "/$defs/register"),
}


_FOLDER = os.path.join(os.path.dirname(__file__), "schemas")


def schema(file: str) -> dict[str, Any]:
    with open(os.path.join(_FOLDER, f"{file}.json"), encoding="utf-8") as stream:
        content: dict[str, Any] = json.load(stream)
    return content


def published(name: str) -> dict[str, Any]:
    """A schema by itself, as an editor wants it."""
    described = PUBLISHED[name]
    whole = schema(described.file)
    if not described.part:
        return whole
    return {"$schema": whole["$schema"], "$ref": f"#{described.part}", "$defs": whole["$defs"]}


@cache
def _compiler(file: str) -> Compiler:
    return Compiler(schema(file))


def shape(file: str, part: str = "") -> Shape:
    """What `part` (a JSON pointer) of a schema file allows."""
    return _compiler(file).at(part)
