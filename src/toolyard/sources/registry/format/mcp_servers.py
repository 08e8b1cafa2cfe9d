"""`mcpServers` files, and VS Code's `servers` object, in the native form."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping

from toolyard.files.pointers import escape
from toolyard.protocol.call import Json, JsonObject
from toolyard.sources.registry.format.converted import Converted

_STDIO = ("command", "args", "cwd")
_URLS = ("url", "serverUrl", "httpUrl")
_SAME = (
    "env",
    "headers",
    "description",
    "auth",
    "timeoutSecs",
    "expose",
    "prefix",
    "share",
    "copies",
    "validate",
)
_KNOWN = {*_STDIO, *_URLS, *_SAME, "type", "transport", "disabled", "enabled", "timeout"}
_CLIENT_VARIABLE = re.compile(r"\$\{(env|input):([^}]+)\}|\$\{(userHome|workspaceFolder)\}")


def servers_object(raw: JsonObject) -> tuple[str, JsonObject] | None:
    """The object of servers and its pointer, where this is such a file."""
    if isinstance(raw.get("mcpServers"), dict):
        return "/mcpServers", raw["mcpServers"]
    if isinstance(raw.get("servers"), dict):
        return "/servers", raw["servers"]
    inner = raw.get("mcp")  # VS Code's settings.json
    if isinstance(inner, dict) and isinstance(inner.get("servers"), dict):
        return "/mcp/servers", inner["servers"]
    return None


def from_mcp_servers(raw: JsonObject, folder: str) -> Converted:
    place_and_servers = servers_object(raw)
    assert place_and_servers is not None
    base, servers = place_and_servers
    translate = _translator(raw, folder)
    places: dict[str, str] = {}
    native: list[JsonObject] = []
    problems, losses = [], []
    for name, server in servers.items():
        place = f"{base}/{escape(name)}"
        pointer = f"/servers/{len(native)}"
        if not isinstance(server, dict):
            problems.append((pointer, "must be an object"))
            server = {}
        places |= {
            pointer: place,
            f"{pointer}/stdio": place,
            f"{pointer}/timeoutSecs": f"{place}/timeout",
        }
        native.append({"name": name, **translate(_server(server))})
        losses += [f"{place}/{escape(key)}" for key in server if key not in _KNOWN]
    if len(native) > 1:
        losses.append(f"{base}: a server's name before names that collide; state a prefix instead")
    other_sections: JsonObject = {
        key: raw[key] for key in ("schemas", "tools", "project") if key in raw
    }
    return Converted(
        "vscode" if base != "/mcpServers" else "mcp-servers",
        {"schemaVersion": "1.0", "servers": native, **other_sections},
        places,
        tuple(problems),
        tuple(losses),
        prefix_on_collision=True,
    )


def _server(server: JsonObject) -> JsonObject:
    stdio = {key: server[key] for key in _STDIO if key in server}
    url = next((server[key] for key in _URLS if key in server), None)
    transport = server.get("transport", server.get("type"))
    if transport is None and "httpUrl" in server:
        transport = "streamablehttp"
    native: JsonObject = {"expose": "all", **{key: server[key] for key in _SAME if key in server}}
    if stdio:
        native["stdio"] = stdio
    if url is not None:
        native["url"] = url
    if transport is not None and not (stdio and transport == "stdio"):
        native["transport"] = transport
    if server.get("disabled") or server.get("enabled") is False:
        native["disabled"] = server.get("disabled") or True
    if "timeout" in server:
        native["timeoutSecs"] = _seconds(server["timeout"])
    return native


def _seconds(timeout: Json) -> Json:
    """Some clients write seconds, some milliseconds; nobody waits a quarter of an hour."""
    milliseconds = isinstance(timeout, (int, float)) and timeout >= 1000
    return timeout / 1000 if milliseconds else timeout


def _translator(raw: JsonObject, folder: str) -> Callable[[Json], Json]:
    """Client variables (`${env:X}`, `${input:id}`) as ours."""
    inputs = _inputs(raw)
    folders = {"userHome": "${HOME}", "workspaceFolder": _workspace(folder)}

    def replaced(match: re.Match[str]) -> str:
        if match[3]:
            return folders[match[3]]
        if match[1] == "env":
            return f"${{{match[2]}}}"
        default = inputs.get(match[2])
        variable = f"INPUT_{re.sub(r'[^A-Za-z0-9]', '_', match[2]).upper()}"
        return f"${{{variable}}}" if default is None else f"${{{variable}:-{default}}}"

    def translated(value: Json) -> Json:
        if isinstance(value, str):
            return _CLIENT_VARIABLE.sub(replaced, value)
        if isinstance(value, dict):
            return {key: translated(member) for key, member in value.items()}
        return [translated(element) for element in value] if isinstance(value, list) else value

    return translated


def _inputs(raw: JsonObject) -> Mapping[str, str | None]:
    """The defaults of the inputs that VS Code would prompt for."""
    inputs = raw.get("inputs") or (raw.get("mcp") or {}).get("inputs") or []
    return {
        str(entry.get("id")): entry.get("default")
        for entry in (inputs if isinstance(inputs, list) else ())
        if isinstance(entry, dict)
    }


def _workspace(folder: str) -> str:
    """The folder that `.vscode/mcp.json` or `.cursor/mcp.json` belongs to."""
    parent, name = os.path.split(folder)
    return parent if name.startswith(".") else folder
