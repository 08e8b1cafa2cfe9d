"""Which format a registry file is in, by its shape; its content in the native one."""

from __future__ import annotations

from toolyard.protocol.call import JsonObject
from toolyard.sources.registry.format.agentgateway import from_agentgateway, looks_like_agentgateway
from toolyard.sources.registry.format.converted import Converted
from toolyard.sources.registry.format.inline import name_inline_servers
from toolyard.sources.registry.format.mcp_servers import from_mcp_servers, servers_object


def to_native(raw: JsonObject, folder: str) -> Converted:
    if servers_object(raw) is not None:
        return from_mcp_servers(raw, folder)
    if looks_like_agentgateway(raw):
        return name_inline_servers(from_agentgateway(raw))
    return name_inline_servers(Converted("native", raw))
