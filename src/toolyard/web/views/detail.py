"""One entry in full: what its source says, what clients see, and where each part comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from toolyard.catalog.entries import Tool
from toolyard.catalog.snapshot import Catalog, ListedEntry
from toolyard.context.owners import owner_named, owner_of, source_of
from toolyard.context.sizes import tokens_in
from toolyard.protocol.call import JsonObject
from toolyard.protocol.kinds import KINDS, Kind
from toolyard.web.views.catalog import hidden_arguments, is_projected
from toolyard.web.window import Layer, Window

PARTS = ("title", "description", "inputSchema", "outputSchema", "annotations", "icons", "_meta")


def detail(window: Window, catalog: Catalog, kind: str, name: str) -> JsonObject | None:
    """None where there is no such entry."""
    if kind not in KINDS:
        return None
    entries: Mapping[str, ListedEntry] = getattr(catalog, _kind_named(kind))
    entry = entries.get(name)
    if entry is None:
        return None
    view: JsonObject = {
        "kind": kind,
        "name": name,
        "definition": entry.definition,
        "origin": asdict(entry.origin),
        "owner": owner_named(entry.origin),
        "extra": _harmless(entry.extra),
        "tokens": tokens_in(entry.definition),
        "completes": name in catalog.completions or entry.name in catalog.completions,
    }
    return {**view, **_of_tool(window, catalog, entry)} if isinstance(entry, Tool) else view


def _kind_named(name: str) -> Kind:
    return next(kind for kind in KINDS if kind == name)


def _of_tool(window: Window, catalog: Catalog, tool: Tool) -> JsonObject:
    layers = window.layers(tool)
    return {
        "owner": owner_of(tool, catalog.tools),
        "source": source_of(tool),
        "projected": is_projected(tool),
        "hidden": hidden_arguments(tool),
        "requires": list(tool.requires),
        "unavailable": tool.unavailable,
        "layers": [asdict(layer) for layer in layers],
        "parts": _parts(tool, layers),
        "virtual": [
            other_tool.name
            for other_tool in catalog.tools.values()
            if source_of(other_tool) == tool.name
        ],
    }


def _parts(tool: Tool, layers: Sequence[Layer]) -> JsonObject:
    """For each part of the definition, the nearest layer that declares it."""
    labels = {}
    for part in PARTS:
        if part in tool.definition:
            owner = next((layer.label for layer in layers if part in layer.definition), None)
            labels[part] = owner
    return labels


def _harmless(extra: Mapping[str, object]) -> JsonObject:
    """What else the file says, without `defaults`: they may hold values of variables."""
    return {key: value for key, value in extra.items() if key != "defaults" and value is not None}
