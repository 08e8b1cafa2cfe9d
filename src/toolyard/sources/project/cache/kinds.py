"""Which items are in which file of .registry/: one a kind, and pages apart from resources."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Literal, TypeAlias

from toolyard.protocol.kinds import KINDS, Kind
from toolyard.protocol.values import JsonObject
from toolyard.sources.project.discover.scan import Items
from toolyard.sources.project.layout import Project

FileKind: TypeAlias = Kind | Literal["ui"]
FILES: Mapping[FileKind, str] = {
    "tools": "tools.json",
    "resources": "resources.json",
    "prompts": "prompts.json",
    "templates": "resource-templates.json",
    "ui": "ui-resources.json",
}


def paths_in(project: Project) -> dict[FileKind, str]:
    return {kind: os.path.join(project.registry, name) for kind, name in FILES.items()}


def listed_with(kind: FileKind) -> Kind:
    """The list that the items of a file are in."""
    return "resources" if kind == "ui" else kind


def apart(items: Items) -> dict[FileKind, list[JsonObject]]:
    """The items as the files have them."""
    files: dict[FileKind, list[JsonObject]] = {kind: items[kind] for kind in KINDS}
    files["resources"] = [item for item in items["resources"] if "page" not in item]
    files["ui"] = [item for item in items["resources"] if "page" in item]
    return files


def together(files: dict[FileKind, list[JsonObject]]) -> Items:
    """The items as a scan has them: pages after the other resources."""
    items: Items = {kind: files[kind] for kind in KINDS}
    items["resources"] = [*files["resources"], *files["ui"]]
    return items
