"""Who does the work behind a tool: the project, or one of the upstreams."""

from __future__ import annotations

from toolyard.catalog.entries import Origin, Tool

PROJECT = "project"


def owner_of(tool: Tool) -> str:
    """The name under which the overview lists it."""
    if tool.origin.source == "registry":
        server = tool.extra.get("server")
        return str(server) if server else PROJECT
    return owner_named(tool.origin)


def owner_named(origin: Origin) -> str:
    return PROJECT if origin.source == "project" else origin.owner or origin.source
