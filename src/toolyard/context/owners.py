"""Who does the work behind an entry: the project, or one of the upstreams. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from toolyard.catalog.entries import Origin, Tool
from toolyard.catalog.snapshot import Catalog

PROJECT = "project"
REGISTRY = "registry"


def owner_of(tool: Tool, tools: Mapping[str, Tool]) -> str:
    """The name under which the overview lists it."""
    if tool.origin.source != "registry":
        return owner_named(tool.origin)
    server, source = tool.extra.get("server"), tool.extra.get("source")
    if server:
        return str(server)
    below = tools.get(str(source))
    if below is not None and below.origin.source != "registry":
        return owner_named(below.origin)
    return PROJECT if source else REGISTRY


def owners(catalog: Catalog) -> frozenset[str]:
    """Everybody who has something on offer there."""
    names = {owner_of(tool, catalog.tools) for tool in catalog.tools.values()}
    for entries in (catalog.resources, catalog.templates, catalog.prompts):
        names |= {owner_named(entry.origin) for entry in entries.values()}
    return frozenset(names)


def owner_named(origin: Origin) -> str:
    return PROJECT if origin.source == "project" else origin.owner or origin.source


def source_of(tool: Tool) -> str:
    """The tool that it is made from; empty where it is made from none."""
    chain = tool.extra.get("chain")
    if isinstance(chain, tuple) and len(chain) > 1:
        return str(chain[1])
    return str(tool.extra.get("source") or "")
