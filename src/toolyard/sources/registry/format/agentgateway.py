"""agentgateway's registries and targets in the native form. Checks nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from toolyard.protocol.call import Json, JsonObject
from toolyard.sources.registry.format.converted import Converted

_TOOL_NAMES = {
    "input_schema": "inputSchema",
    "output_schema": "outputSchema",
    "output_transform": "outputTransform",
    "original_name": "originalName",
    "hide_fields": "hideFields",
    "source_version_pin": "sourceVersionPin",
    "expected_schema_hash": "expectedSchemaHash",
    "validation_mode": "validationMode",
    "text_extraction": "textExtraction",
    "timeout_secs": "timeoutSecs",
}
_SPEC_NAMES = {
    "scatter_gather": "scatterGather",
    "schema_map": "schemaMap",
    "map_each": "mapEach",
    "step_id": "stepId",
    "fail_fast": "failFast",
    "timeout_ms": "timeoutMs",
    "string_value": "stringValue",
    "number_value": "numberValue",
    "bool_value": "boolValue",
    "null_value": "nullValue",
}
# Below these the keys are the author's own, not the format's.
_OWN_KEYS = frozenset({"fields", "mappings", "vars", "nested"})


def looks_like_agentgateway(raw: JsonObject) -> bool:
    tools = raw.get("tools")
    objects = [tool for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []
    if any(map(_is_theirs, objects)) or next(_targets(raw), None) is not None:
        return True
    # Their later versions; ours has had one so far.
    version = raw.get("schema_version", raw.get("schemaVersion", "1.0"))
    later = isinstance(version, str) and not version.startswith("1")
    return later and any(tool.keys() & _SHARED for tool in objects)


# What both formats have; only its spelling tells them apart.
_SHARED = {"spec", "outputTransform"}


def _is_theirs(tool: JsonObject) -> bool:
    return (
        isinstance(tool.get("source"), dict)
        or bool(tool.keys() & _TOOL_NAMES.keys())
        or any(_renamed(tool[key]) != tool[key] for key in tool.keys() & _SHARED)
    )


def from_agentgateway(raw: JsonObject) -> Converted:
    places: dict[str, str] = {}
    tools = raw.get("tools", [])
    native_tools = (
        [_tool(tool, f"/tools/{number}", places) for number, tool in enumerate(tools)]
        if isinstance(tools, list)
        else tools
    )
    servers = raw.get("servers", [])
    native_servers = list(servers) if isinstance(servers, list) else []
    problems, losses = [], []
    for pointer, target in _targets(raw):
        server = _server(target)
        at = f"/servers/{len(native_servers)}"
        places[at] = pointer
        if server is None:
            kinds = ", ".join(sorted(target.keys() - {"name"})) or "nothing"
            problems.append((at, f"a target with {kinds} cannot be reached; stdio, mcp or sse can"))
        native_servers.append(server or {"name": target["name"]})
    losses += [f"/{key}" for key in raw if key not in _KEPT and not _holds_targets(raw[key], key)]
    native: JsonObject = {key: raw[key] for key in ("schemas", "project") if key in raw}
    return Converted(
        "agentgateway",
        {"schemaVersion": "1.0", "servers": native_servers, **native, "tools": native_tools},
        places,
        tuple(problems),
        tuple(losses),
    )


_KEPT = {"schemaVersion", "schema_version", "schemas", "servers", "tools", "project", "$comment"}


def _holds_targets(value: Json, key: str) -> bool:
    return next(_targets({key: value}), None) is not None


def _tool(tool: Json, pointer: str, places: dict[str, str]) -> Json:
    if not isinstance(tool, dict):
        return tool
    native: JsonObject = {_TOOL_NAMES.get(str(key), str(key)): value for key, value in tool.items()}
    spellings = ((_TOOL_NAMES[key], key) for key in tool if key in _TOOL_NAMES)
    places.update((f"{pointer}/{name}", f"{pointer}/{key}") for name, key in spellings)
    for key in ("spec", "outputTransform"):
        if key in native:
            native[key] = _renamed(native[key])
    source = native.get("source")
    if isinstance(source, dict):
        del native["source"]
        native |= _from_source(source, native, pointer, places)
    return native


def _from_source(
    source: JsonObject, tool: JsonObject, pointer: str, places: dict[str, str]
) -> JsonObject:
    at = f"{pointer}/source"
    places |= {f"{pointer}/server": f"{at}/target", f"{pointer}/originalName": f"{at}/tool"}
    fields: JsonObject = {}
    if "target" in source:
        fields["server"] = source["target"]
    if "tool" in source:
        fields["originalName"] = source["tool"]
    for key, snake in (("defaults", "defaults"), ("hideFields", "hide_fields")):
        value = source.get(key, source.get(snake))
        if value is not None and key not in tool:
            fields[key] = value
            places[f"{pointer}/{key}"] = f"{at}/{key if key in source else snake}"
        elif isinstance(value, dict) and isinstance(tool.get(key), dict):
            fields[key] = {**value, **tool[key]}
        elif isinstance(value, list) and isinstance(tool.get(key), list):
            fields[key] = [*value, *tool[key]]
    return fields


def _renamed(value: Json, own: bool = False) -> Json:
    if isinstance(value, list):
        return [_renamed(element) for element in value]
    if not isinstance(value, dict):
        return value
    return {
        (key if own else _SPEC_NAMES.get(key, key)): (
            member if key == "constant" and not own else _renamed(member, key in _OWN_KEYS)
        )
        for key, member in value.items()
    }


def _targets(value: Json, pointer: str = "") -> Iterator[tuple[str, JsonObject]]:
    """Each target of a configuration, however deep its listeners and routes put it."""
    if isinstance(value, list):
        for number, element in enumerate(value):
            yield from _targets(element, f"{pointer}/{number}")
    if not isinstance(value, dict):
        return
    for key, member in value.items():
        if key in ("tools", "schemas"):  # a composition has targets of its own
            continue
        at = f"{pointer}/{key}"
        if key == "targets" and isinstance(member, list):
            objects = (
                (i, element) for i, element in enumerate(member) if isinstance(element, dict)
            )
            yield from ((f"{at}/{i}", element) for i, element in objects if "name" in element)
        else:
            yield from _targets(member, at)


def _server(target: JsonObject) -> JsonObject | None:
    name = target["name"]
    if isinstance(target.get("stdio"), dict):
        stdio = target["stdio"]
        command = stdio.get("cmd", stdio.get("command"))
        server: JsonObject = {"name": name, "stdio": {"command": command}}
        if "args" in stdio:
            server["stdio"]["args"] = stdio["args"]
        return {**server, "env": stdio["env"]} if "env" in stdio else server
    for kind, transport in (("mcp", "streamablehttp"), ("sse", "sse")):
        if kind in target:
            url = _url(target[kind], "/sse" if kind == "sse" else "/mcp")
            return {"name": name, "url": url, "transport": transport} if url else None
    return None


def _url(address: Json, path: str) -> str | None:
    """`{host, port, path}`, where the host may be a URL by itself; or a URL."""
    if isinstance(address, str):
        return address
    if not isinstance(address, dict):
        return None
    host = address.get("url", address.get("host"))
    if not isinstance(host, str):
        return None
    if re.match(r"https?://", host):
        has_path = host.count("/") > 2
        return (
            host if has_path and "path" not in address else host.rstrip("/") + _path(address, path)
        )
    port = address.get("port")
    scheme = "https" if port == 443 else "http"
    place = f"{host}:{port}" if port and port not in (80, 443) else host
    return f"{scheme}://{place}{_path(address, path)}"


def _path(address: JsonObject, default: str) -> str:
    path = str(address.get("path", default))
    return path if path.startswith("/") else f"/{path}"
