"""The old format, a server object inside a tool: each becomes a named server, once."""

from __future__ import annotations

import os
from dataclasses import replace
from urllib.parse import urlsplit

from toolyard.protocol.call import Json, JsonObject
from toolyard.sources.registry.format.converted import Converted
from toolyard.virtual.codec import dumps

_STDIO = ("command", "args", "cwd")


def name_inline_servers(converted: Converted) -> Converted:
    tools = converted.native.get("tools")
    servers = converted.native.get("servers", [])
    if not isinstance(tools, list) or not isinstance(servers, list):
        return converted
    inline = _inline(tools)
    if not inline:
        return converted
    names = _Naming(servers)
    named_tools = [
        {**tool, "server": names.name(inline[number], number)} if number in inline else tool
        for number, tool in enumerate(tools)
    ]
    native = {**converted.native, "servers": names.servers, "tools": named_tools}
    name = "inline" if converted.format == "native" else converted.format
    return replace(
        converted, format=name, native=native, places={**names.places, **converted.places}
    )


def _inline(tools: list[Json]) -> dict[int, JsonObject]:
    return {
        number: tool["server"]
        for number, tool in enumerate(tools)
        if isinstance(tool, dict) and isinstance(tool.get("server"), dict)
    }


class _Naming:
    """The servers list, growing by one for each inline server that is not yet in it."""

    def __init__(self, servers: list[Json]) -> None:
        self.servers = list(servers)
        self.places: dict[str, str] = {}
        self._known: dict[str, str] = {}
        names = (server.get("name") for server in servers if isinstance(server, dict))
        self._taken = {name for name in names if isinstance(name, str)}

    def name(self, server: JsonObject, tool: int) -> str:
        key = dumps(sorted(server.items()))
        if key not in self._known:
            self._known[key] = self._add(server, f"/tools/{tool}/server")
        return self._known[key]

    def _add(self, server: JsonObject, place: str) -> str:
        name = preferred_name = _wanted_name(server)
        number = 2
        while name in self._taken:
            name, number = f"{preferred_name}-{number}", number + 1
        self._taken.add(name)
        pointer = f"/servers/{len(self.servers)}"
        self.places |= {pointer: place, f"{pointer}/stdio": place}
        self.servers.append({"name": name, **as_named(server)})
        return name


def as_named(server: JsonObject) -> JsonObject:
    """The members of a flat server object where a `servers` entry has them."""
    stdio = {key: server[key] for key in _STDIO if key in server}
    members = {key: value for key, value in server.items() if key not in _STDIO and key != "name"}
    return {"stdio": stdio, **members} if stdio else members


def _wanted_name(server: JsonObject) -> str:
    """What people call it: the host, or the package or file that is run."""
    url, command, args = server.get("url"), server.get("command"), server.get("args")
    if isinstance(url, str):
        try:
            return urlsplit(url).hostname or "server"
        except ValueError:
            return "server"
    words = [arg for arg in args if isinstance(arg, str)] if isinstance(args, list) else []
    word_for_it = next((word for word in words if not word.startswith("-")), str(command))
    return os.path.basename(word_for_it) or "server"
