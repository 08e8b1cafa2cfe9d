"""Where each part of a tool's definition comes from, for the page and for `registry show`.

A tool of a registry has a chain of entries, and at its end something that does the work: a
script, or a tool of an upstream. The command shows it part by part, the page layer by layer.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from toolyard.app.build import App
from toolyard.catalog.entries import Tool
from toolyard.catalog.snapshot import Catalog
from toolyard.errors import ConfigError
from toolyard.files.objects import read_object
from toolyard.protocol.call import JsonObject
from toolyard.sources.registry.chain.chains import Chains
from toolyard.sources.registry.chain.parts import Anatomy, anatomy, chains_in, plain
from toolyard.sources.registry.format.model import Registry, ToolDefinition
from toolyard.web.window import Layer


@dataclass(frozen=True, slots=True)
class Lineage:
    """The layers and parts of every tool that the app serves."""

    app: App

    def anatomies(self, catalog: Catalog) -> tuple[Anatomy, ...]:
        """Every tool of the files, the hidden ones too, then what else is on offer."""
        files = self.app.federation.registries.files
        chains = [self._chains(registry, catalog) for registry in files]
        of_files = {
            tool.name: anatomy(file.registry, tool, file.listings, file.elsewhere)
            for file in chains
            for tool in file.registry.tools
        }
        plain_tools = [plain(tool) for tool in catalog.tools.values() if tool.name not in of_files]
        return (*of_files.values(), *plain_tools)

    def layers(self, tool: Tool) -> tuple[Layer, ...]:
        """Nearest to the client first; the last is what the source itself says."""
        if tool.origin.source == "project":
            return tuple(_of_script(tool))
        if tool.origin.source == "upstream":
            return tuple(self._of_upstream(tool.origin.owner, tool.origin.place))
        return tuple(self._of_entry(tool))

    def _of_upstream(self, server: str, name: str) -> Iterator[Layer]:
        listing = self.app.federation.known_listing(server)
        definition = listing.tool(name) if listing is not None else None
        if definition is not None:
            yield Layer(server, definition)

    def _of_entry(self, tool: Tool) -> Iterator[Layer]:
        files = self.app.federation.registries.files
        registry = next((file for file in files if file.file == tool.origin.owner), None)
        entries = registry.tools if registry is not None else ()
        entry = next((item for item in entries if item.name == tool.name), None)
        if registry is None or entry is None:
            return
        chain = self._chains(registry, self.app.keeper.current).of(entry)
        for link in chain.links:
            yield from _as_layer(registry, link)
        if chain.existing is not None:
            yield from self.layers(chain.existing)
        elif chain.server is not None:
            yield from self._of_upstream(chain.server.name, chain.original_name)

    def _chains(self, registry: Registry, catalog: Catalog) -> Chains:
        federation = self.app.federation
        names = [server.name for server in federation.registries.servers]
        listings = {name: federation.known_listing(name) for name in names}
        return chains_in(registry, listings, catalog.tools.values(), federation.scripts)


def _as_layer(registry: Registry, entry: ToolDefinition) -> Iterator[Layer]:
    """As it is in the file, with variables not substituted."""
    for raw in registry.raw.get("tools") or ():
        if isinstance(raw, dict) and raw.get("name") == entry.name:
            label = f"registry entry {entry.name}"
            yield Layer(label, raw, f"{registry.file}#{entry.pointer}")
            return


def _of_script(tool: Tool) -> Iterator[Layer]:
    """Its metadata file, if it has one; last what is made of that, or of what it says itself."""
    path = tool.origin.place
    for place in (f"{path}.meta.json", f"{os.path.splitext(path)[0]}.meta.json"):
        definition = _read(place)
        if definition is not None:
            yield Layer("metadata file", definition, place)
            break
    yield Layer("the script", tool.definition, path)


def _read(path: str) -> JsonObject | None:
    try:
        return read_object(path)
    except ConfigError:
        return None
