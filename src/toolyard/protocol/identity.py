"""What the server says about itself, and how much of it each revision is told."""

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
    """The server as its clients see it."""

    info: JsonObject  # name, version, title, description, websiteUrl, icons
    instructions: str | None = None
    capabilities: JsonObject = FULL_CAPABILITIES
    # Our extensions; a client is told of those that it declares too.
    extensions: JsonObject = OWN_EXTENSIONS

    def info_for(self, revision: Revision) -> JsonObject:
        return {k: v for k, v in self.info.items() if k not in revision.later_info_fields}

    def capabilities_for(self, revision: Revision, client_capabilities: JsonObject) -> JsonObject:
        capabilities = {k: v for k, v in self.capabilities.items() if k in revision.capabilities}
        if not revision.list_changed:
            capabilities = {
                name: _without_list_changed(value) for name, value in capabilities.items()
            }
        client_extensions = client_capabilities.get("extensions")
        extensions = {
            name: value
            for name, value in self.extensions.items()
            if isinstance(client_extensions, dict) and name in client_extensions
        }
        return {**capabilities, "extensions": extensions} if extensions else capabilities


def _without_list_changed(capability: JsonObject) -> JsonObject:
    return {k: v for k, v in capability.items() if k != "listChanged"}
