"""Items from registry files, ours or those of mcp-bash: filled up, or refused as a whole."""

from __future__ import annotations

from toolyard.protocol.call import JsonObject
from toolyard.sources.project.cache.kinds import FileKind
from toolyard.sources.project.discover.metadata import MetadataError, schema_of
from toolyard.sources.project.discover.prompts import arguments_of
from toolyard.sources.project.discover.resources import provider_for
from toolyard.sources.project.items import NEEDS

_PAGE_NEEDS = ("name", "uri", "page")


def usable(kind: FileKind, items: list[JsonObject]) -> list[JsonObject] | None:
    """The items with what we need of them; None where one of them is not what it should be."""
    try:
        return [_filled(kind, item) for item in items]
    except MetadataError:
        return None


def _filled(kind: FileKind, item: JsonObject) -> JsonObject:
    needs = _PAGE_NEEDS if kind == "ui" else NEEDS[kind]
    if not all(isinstance(item.get(field), str) for field in needs):
        raise MetadataError(kind)
    if kind == "tools":
        return {**item, "inputSchema": schema_of(item, kind)}
    if kind == "prompts":
        schema, arguments = arguments_of(item, kind)
        return {**item, "inputSchema": schema, "arguments": arguments}
    if kind == "resources":
        return {"provider": provider_for(item["uri"], frozenset()), **item}
    return item
