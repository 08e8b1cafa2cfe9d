"""What the server says of itself, and how much of it each revision may hear."""

from __future__ import annotations

from typing import NamedTuple

from toolyard.protocol.revisions import Revision
from toolyard.protocol.values import JsonObject

UI_EXTENSION = "io.modelcontextprotocol/ui"
FULL_CAPABILITIES: JsonObject = {
    "logging": {},
    "tools": {"listChanged": True},
    "resources": {"subscribe": True, "listChanged": True},
    "prompts": {"listChanged": True},
    "completions": {},
}
OWN_EXTENSIONS: JsonObject = {UI_EXTENSION: {"mimeTypes": ["text/html;profile=mcp-app"]}}
MINIMAL_CAPABILITIES: JsonObject = {"logging": {}}


class Identity(NamedTuple):
    info: JsonObject  # name, version, title, description, websiteUrl, icons
    instructions: str | None = None
    capabilities: JsonObject = FULL_CAPABILITIES
    # Extensions of ours, told to whoever declares the same one.
    extensions: JsonObject = OWN_EXTENSIONS

    def info_for(self, revision: Revision) -> JsonObject:
        return {k: v for k, v in self.info.items() if k not in revision.later_info_fields}

    def capabilities_for(self, revision: Revision, client_capabilities: JsonObject) -> JsonObject:
        offered = {k: v for k, v in self.capabilities.items() if k in revision.capabilities}
        if not revision.list_changed:
            offered = {name: _without_list_changed(value) for name, value in offered.items()}
        declared = client_capabilities.get("extensions")
        shared = {
            name: value
            for name, value in self.extensions.items()
            if isinstance(declared, dict) and name in declared
        }
        return {**offered, "extensions": shared} if shared else offered


def _without_list_changed(capability: JsonObject) -> JsonObject:
    return {k: v for k, v in capability.items() if k != "listChanged"}
