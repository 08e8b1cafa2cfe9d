"""A registry in the formats of others, and what of it they cannot express."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

from toolyard.files.pointers import escape
from toolyard.protocol.call import JsonObject


class Exported(NamedTuple):
    document: JsonObject
    lost: tuple[str, ...]  # pointers into the native form, each with its reason


def export(native: JsonObject, format_name: str) -> Exported:
    """`native` is a Registry's `raw`, or the masked form of it. Raises KeyError."""
    return FORMATS[format_name](native)


def to_agentgateway(native: JsonObject) -> Exported:
    """Chains are followed down to target and tool: a source there is always an upstream's tool."""
    losses: list[str] = []
    tools = {tool["name"]: tool for tool in native.get("tools", [])}
    their_tools = []
    for number, tool in enumerate(native.get("tools", [])):
        their_tool = _their_tool(tool, tools, f"/tools/{number}", losses)
        if their_tool is not None:
            their_tools.append(their_tool)
    targets = [
        _target(server, f"/servers/{number}", losses)
        for number, server in enumerate(native.get("servers", []))
    ]
    document = {"schemaVersion": "1.0", "targets": targets, "tools": their_tools}
    if native.get("schemas"):
        document["schemas"] = native["schemas"]
    if "project" in native:
        losses.append("/project: there are no scripts")
    return Exported(document, tuple(losses))


_SAME = (
    *("name", "title", "description", "inputSchema", "outputSchema", "outputTransform"),
    *("annotations", "version", "tags"),
)
_INHERITED = ("title", "description", "inputSchema", "outputSchema", "outputTransform")
_ONLY_HERE = (
    *("sourceVersionPin", "expectedSchemaHash", "validationMode", "textExtraction"),
    *("auth", "hidden", "timeoutSecs", "arguments", "pinned", "keywords", "resultLimit"),
)


def _their_tool(
    tool: JsonObject, tools: Mapping[str, JsonObject], pointer: str, losses: list[str]
) -> JsonObject | None:
    losses += [f"{pointer}/{key}: not expressed there" for key in _ONLY_HERE if key in tool]
    their_tool = {key: tool[key] for key in _SAME if key in tool}
    if "spec" in tool:
        return {**their_tool, "spec": tool["spec"]}
    chain = [tool]
    while chain[-1].get("source") in tools and len(chain) <= len(tools):
        chain.append(tools[chain[-1]["source"]])
    if "server" not in chain[-1]:
        losses.append(
            f"{pointer}: its source {chain[-1].get('source')} is not a tool of an upstream"
        )
        return None
    for key in _INHERITED:
        value = next((link[key] for link in chain if key in link), None)
        if value is not None:
            their_tool[key] = value
    return {**their_tool, "source": _their_source(chain)}


def _their_source(chain: list[JsonObject]) -> JsonObject:
    names = [link["originalName"] for link in chain if "originalName" in link]
    source = {"target": chain[-1]["server"], "tool": names[0] if names else chain[-1]["name"]}
    defaults: JsonObject = {}
    for link in reversed(chain):
        defaults.update(link.get("defaults", {}))
    hidden_fields = sorted({field for link in chain for field in link.get("hideFields", [])})
    if defaults:
        source["defaults"] = defaults
    return {**source, "hideFields": hidden_fields} if hidden_fields else source


def _target(server: JsonObject, pointer: str, losses: list[str]) -> JsonObject:
    expressible = ("name", "stdio", "url", "env", "transport", "description", "$comment")
    losses += [
        f"{pointer}/{escape(key)}: not expressed there" for key in server if key not in expressible
    ]
    if "stdio" not in server:
        kind = "sse" if server.get("transport") == "sse" else "mcp"
        return {"name": server["name"], kind: {"host": server["url"]}}
    stdio = server["stdio"]
    if "cwd" in stdio:
        losses.append(f"{pointer}/stdio/cwd: not expressed there")
    their_stdio = {"cmd": stdio["command"], "args": stdio.get("args", [])}
    if "env" in server:
        their_stdio["env"] = server["env"]
    return {"name": server["name"], "stdio": their_stdio}


def to_mcp_servers(native: JsonObject) -> Exported:
    """The servers only: such a file has no virtual tools."""
    losses = [
        f"/tools/{number}: virtual tools are not expressed there"
        for number, _ in enumerate(native.get("tools", []))
    ]
    servers = {}
    for number, server in enumerate(native.get("servers", [])):
        expressible = (
            "name",
            "stdio",
            "url",
            "env",
            "headers",
            "transport",
            "disabled",
            "$comment",
        )
        pointer = f"/servers/{number}"
        keys = [key for key in server if key not in expressible and server[key] != "all"]
        losses += [f"{pointer}/{escape(key)}: not expressed there" for key in keys]
        servers[server["name"]] = _mcp_server(server)
    losses += [f"/{key}: not expressed there" for key in ("schemas", "project") if native.get(key)]
    return Exported({"mcpServers": servers}, tuple(losses))


def _mcp_server(server: JsonObject) -> JsonObject:
    their_server = dict(server.get("stdio", {}))
    for key in ("env", "headers", "disabled"):
        if key in server:
            their_server[key] = server[key]
    if "url" in server:
        their_server["url"] = server["url"]
        is_sse = server.get("transport") == "sse" or urlsplit(server["url"]).path.endswith("/sse")
        their_server["type"] = "sse" if is_sse else "http"
    return their_server


def _as_it_is(native: JsonObject) -> Exported:
    return Exported(native, ())


FORMATS: Mapping[str, Callable[[JsonObject], Exported]] = {
    "native": _as_it_is,
    "agentgateway": to_agentgateway,
    "mcp-servers": to_mcp_servers,
}
