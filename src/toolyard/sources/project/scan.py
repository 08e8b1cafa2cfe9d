"""One scan of a project: the items of every kind, without targets.

Knows which module finds which kind; knows neither the cache nor the catalog.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from toolyard.catalog.entries import Kind
from toolyard.protocol.call import JsonObject
from toolyard.settings import Settings
from toolyard.sources.project.cache import canonical
from toolyard.sources.project.identity import read_identity
from toolyard.sources.project.items import warn_if_many
from toolyard.sources.project.layout import Project
from toolyard.sources.project.metadata import Metadata
from toolyard.sources.project.tools import discover_tools
from toolyard.sources.project.walk import Stamps, Walk

Items = dict[Kind, list[JsonObject]]


@dataclass(frozen=True, slots=True)
class Scan:
    items: Items
    stamps: Stamps
    warnings: tuple[str, ...] = ()
    broken: dict[Kind, str] = field(default_factory=dict)


def scan(project: Project, settings: Settings, metadata: Metadata, only: str = "") -> Scan:
    only = only or settings.registry_refresh_path
    walk = Walk(project.tools, only)
    server = read_identity(project).info["name"]
    found = discover_tools(walk, metadata, server)
    items: Items = {"tools": found.items}
    warnings = list(found.warnings)
    broken: dict[Kind, str] = {}
    for kind, listed in items.items():
        warn_if_many(kind, listed, warnings)
        if len(canonical(listed)) > settings.registry_max_bytes:
            broken[kind] = f"the {kind} registry exceeds {settings.registry_max_bytes} bytes"
    return Scan(items, walk.stamps, tuple(warnings), broken)
