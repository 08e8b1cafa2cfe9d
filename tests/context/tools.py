"""Tools and catalogs for tests about views and search."""

from __future__ import annotations

from typing import Any

from toolyard.catalog.entries import Origin, Tool
from toolyard.catalog.snapshot import Catalog
from toolyard.protocol.call import Call, Channel, JsonObject, Result


class Echoes:
    """A Target that gives its arguments back."""

    async def call(self, arguments: JsonObject, call: Call, channel: Channel) -> Result:
        return {"content": [], "structuredContent": arguments}


def tool(name: str, description: str = "", server: str = "u", **more: Any) -> Tool:
    apart = ("keywords", "listedInEveryView")
    extra: dict[str, Any] = {key: more.pop(key) for key in apart if key in more}
    schema = more.pop("inputSchema", {"type": "object", "properties": {}})
    definition = {"name": name, "description": description, "inputSchema": schema, **more}
    origin = Origin("upstream", server, name)
    return Tool(name, definition, Echoes(), origin, extra={"server": server, **extra})


def catalog(*tools: Tool) -> Catalog:
    return Catalog(tools={tool.name: tool for tool in tools})
