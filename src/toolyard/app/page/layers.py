"""The layers of a tool's definition: registry entries, the script's file, the upstream's word."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

import orjson

from toolyard.app.build import App
from toolyard.catalog.entries import Tool
from toolyard.protocol.call import JsonObject
from toolyard.sources.registry.format.model import Registry, ToolDefinition
from toolyard.web.window import Layer

LONGEST_CHAIN = 100


@dataclass(frozen=True, slots=True)
class Lineage:
    app: App

    def of(self, tool: Tool) -> tuple[Layer, ...]:
        """Nearest to the client first; the last is what the source itself says."""
        if tool.origin.source == "project":
            return tuple(of_script(tool))
        if tool.origin.source == "upstream":
            return tuple(self._of_upstream(tool.origin.owner, tool.origin.place))
        return tuple(self._of_entry(tool))

    def _of_upstream(self, server: str, name: str) -> Iterator[Layer]:
        listing = self.app.federation.known_listing(server)
        definition = listing.tool(name) if listing is not None else None
        if definition is not None:
            yield Layer(server, definition)

    def _of_entry(self, tool: Tool) -> Iterator[Layer]:
        registry = self._registry(tool.origin.owner)
        entry = entry_named(registry, tool.name)
        for _ in range(LONGEST_CHAIN):
            if registry is None or entry is None:
                return
            yield from _as_layer(registry, entry)
            if entry.source is None:
                break
            below = entry_named(registry, entry.source)
            if below is None:
                yield from self._elsewhere(entry.source)
                return
            entry = below
        server, name = tool.extra.get("server"), tool.extra.get("originalName")
        if isinstance(server, str) and isinstance(name, str):
            yield from self._of_upstream(server, name)

    def _elsewhere(self, name: str) -> Iterator[Layer]:
        found = self.app.keeper.current.tools.get(name)
        if found is not None:
            yield from self.of(found)

    def _registry(self, file: str) -> Registry | None:
        files = self.app.federation.registries.files
        return next((one for one in files if one.file == file), None)


def entry_named(registry: Registry | None, name: str) -> ToolDefinition | None:
    tools = registry.tools if registry else ()
    return next((one for one in tools if one.name == name), None)


def _as_layer(registry: Registry, entry: ToolDefinition) -> Iterator[Layer]:
    """As the file has it: variables are not substituted in it."""
    for raw in registry.raw.get("tools") or ():
        if isinstance(raw, dict) and raw.get("name") == entry.name:
            label = f"registry entry {entry.name}"
            yield Layer(label, raw, f"{registry.file}#{entry.pointer}")
            return


def of_script(tool: Tool) -> Iterator[Layer]:
    path = tool.origin.place
    for place in (f"{path}.meta.json", f"{os.path.splitext(path)[0]}.meta.json"):
        definition = _read(place)
        if definition is not None:
            yield Layer("metadata file", definition, place)
            return


def _read(path: str) -> JsonObject | None:
    try:
        with open(path, "rb") as stream:
            value = orjson.loads(stream.read())
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None
