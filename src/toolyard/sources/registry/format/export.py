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


def export(native: JsonObject, wanted: str) -> Exported:
    """`native` is a Registry's `raw`, or the masked form of it. Raises KeyError for no format."""
    return FORMATS[wanted](native)


def to_agentgateway(native: JsonObject) -> Exported:
    """Chains are followed down to target and tool: a source there is always an upstream's tool."""
    lost: list[str] = []
    tools = {tool["name"]: tool for tool in native.get("tools", [])}
    exported = []
    for number, tool in enumerate(native.get("tools", [])):
        made = _their_tool(tool, tools, f"/tools/{number}", lost)
        if made is not None:
            exported.append(made)
    targets = [
        _target(server, f"/servers/{number}", lost)
        for number, server in enumerate(native.get("servers", []))
    ]
    document = {"schemaVersion": "1.0", "targets": targets, "tools": exported}
    if native.get("schemas"):
        document["schemas"] = native["schemas"]
    if "project" in native:
        lost.append("/project: there are no scripts")
    return Exported(document, tuple(lost))


_SAME = (
    *("name", "title", "description", "inputSchema", "outputSchema", "outputTransform"),
    *("annotations", "version", "tags"),
)
_INHERITED = ("title", "description", "inputSchema", "outputSchema", "outputTransform")
_ONLY_HERE = (
    *("sourceVersionPin", "expectedSchemaHash", "validationMode", "textExtraction"),
    *("auth", "hidden", "timeoutSecs"),
)


def _their_tool(
    tool: JsonObject, tools: Mapping[str, JsonObject], pointer: str, lost: list[str]
) -> JsonObject | None:
    lost += [f"{pointer}/{key}: not expressed there" for key in _ONLY_HERE if key in tool]
    made = {key: tool[key] for key in _SAME if key in tool}
    if "spec" in tool:
        return {**made, "spec": tool["spec"]}
    chain = [tool]
    while chain[-1].get("source") in tools and len(chain) <= len(tools):
        chain.append(tools[chain[-1]["source"]])
    if "server" not in chain[-1]:
        lost.append(f"{pointer}: its source {chain[-1].get('source')} is not a tool of an upstream")
        return None
    for key in _INHERITED:
        inherited = next((link[key] for link in chain if key in link), None)
        if inherited is not None:
            made[key] = inherited
    return {**made, "source": _their_source(chain)}


def _their_source(chain: list[JsonObject]) -> JsonObject:
    names = [link["originalName"] for link in chain if "originalName" in link]
    source = {"target": chain[-1]["server"], "tool": names[0] if names else chain[-1]["name"]}
    defaults: JsonObject = {}
    for link in reversed(chain):
        defaults.update(link.get("defaults", {}))
    hidden = sorted({field for link in chain for field in link.get("hideFields", [])})
    if defaults:
        source["defaults"] = defaults
    return {**source, "hideFields": hidden} if hidden else source


def _target(server: JsonObject, pointer: str, lost: list[str]) -> JsonObject:
    known = ("name", "stdio", "url", "env", "transport", "description", "$comment")
    lost += [f"{pointer}/{escape(key)}: not expressed there" for key in server if key not in known]
    if "stdio" not in server:
        kind = "sse" if server.get("transport") == "sse" else "mcp"
        return {"name": server["name"], kind: {"host": server["url"]}}
    stdio = server["stdio"]
    if "cwd" in stdio:
        lost.append(f"{pointer}/stdio/cwd: not expressed there")
    made = {"cmd": stdio["command"], "args": stdio.get("args", [])}
    if "env" in server:
        made["env"] = server["env"]
    return {"name": server["name"], "stdio": made}


def to_mcp_servers(native: JsonObject) -> Exported:
    """The servers only: such a file knows no virtual tools."""
    lost = [
        f"/tools/{number}: virtual tools are not expressed there"
        for number, _ in enumerate(native.get("tools", []))
    ]
    servers = {}
    for number, server in enumerate(native.get("servers", [])):
        known = ("name", "stdio", "url", "env", "headers", "transport", "disabled", "$comment")
        pointer = f"/servers/{number}"
        stated = [key for key in server if key not in known and server[key] != "all"]
        lost += [f"{pointer}/{escape(key)}: not expressed there" for key in stated]
        servers[server["name"]] = _mcp_server(server)
    lost += [f"/{key}: not expressed there" for key in ("schemas", "project") if native.get(key)]
    return Exported({"mcpServers": servers}, tuple(lost))


def _mcp_server(server: JsonObject) -> JsonObject:
    made = dict(server.get("stdio", {}))
    for key in ("env", "headers", "disabled"):
        if key in server:
            made[key] = server[key]
    if "url" in server:
        made["url"] = server["url"]
        is_sse = server.get("transport") == "sse" or urlsplit(server["url"]).path.endswith("/sse")
        made["type"] = "sse" if is_sse else "http"
    return made


def _as_it_is(native: JsonObject) -> Exported:
    return Exported(native, ())


FORMATS: Mapping[str, Callable[[JsonObject], Exported]] = {
    "native": _as_it_is,
    "agentgateway": to_agentgateway,
    "mcp-servers": to_mcp_servers,
}
