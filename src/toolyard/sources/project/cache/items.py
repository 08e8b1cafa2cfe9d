"""Items from registry files, ours or those of mcp-bash: filled up, or refused as a whole."""

from __future__ import annotations

from collections.abc import Mapping

from toolyard.protocol.call import JsonObject
from toolyard.sources.project.cache.kinds import FileKind
from toolyard.sources.project.discover.metadata import MetadataError, schema_of
from toolyard.sources.project.discover.prompts import arguments_of
from toolyard.sources.project.discover.resources import provider_for

_NEEDS: Mapping[FileKind, tuple[str, ...]] = {
    "tools": ("name", "path"),
    "resources": ("name", "uri"),
    "prompts": ("name", "path"),
    "templates": ("name", "uriTemplate"),
    "ui": ("name", "uri", "page"),
}


def usable(kind: FileKind, items: list[JsonObject]) -> list[JsonObject] | None:
    """The items with what we need of them; None where one of them is not what it should be."""
    try:
        return [_filled(kind, item) for item in items]
    except MetadataError:
        return None


def _filled(kind: FileKind, item: JsonObject) -> JsonObject:
    if not all(isinstance(item.get(field), str) for field in _NEEDS[kind]):
        raise MetadataError(kind)
    if kind == "tools":
        return {**item, "inputSchema": schema_of(item, kind)}
    if kind == "prompts":
        schema, arguments = arguments_of(item, kind)
        return {**item, "inputSchema": schema, "arguments": arguments}
    if kind == "resources":
        return {"provider": provider_for(item["uri"], frozenset()), **item}
    return item
