"""What the server says of itself, and how much of it each revision may hear."""

from __future__ import annotations

from dataclasses import dataclass, field

from toolyard.protocol.call import JsonObject
from toolyard.protocol.revisions import Revision

UI_EXTENSION = "io.modelcontextprotocol/ui"
FULL_CAPABILITIES: JsonObject = {
    "logging": {},
    "tools": {"listChanged": True},
    "resources": {"subscribe": True, "listChanged": True},
    "prompts": {"listChanged": True},
    "completions": {},
}
MINIMAL_CAPABILITIES: JsonObject = {"logging": {}}


@dataclass(frozen=True, slots=True)
class Identity:
    info: JsonObject  # name, version, title, description, websiteUrl, icons
    instructions: str | None = None
    capabilities: JsonObject = field(default_factory=lambda: FULL_CAPABILITIES)
    # Extensions of ours, told to whoever declares the same one.
    extensions: JsonObject = field(
        default_factory=lambda: {UI_EXTENSION: {"mimeTypes": ["text/html;profile=mcp-app"]}}
    )

    def info_for(self, revision: Revision) -> JsonObject:
        return {k: v for k, v in self.info.items() if k not in revision.later_info_fields}

    def capabilities_for(self, revision: Revision, client_capabilities: JsonObject) -> JsonObject:
        offered = {k: v for k, v in self.capabilities.items() if k in revision.capabilities}
        declared = client_capabilities.get("extensions")
        shared = {
            name: value
            for name, value in self.extensions.items()
            if isinstance(declared, dict) and name in declared
        }
        return {**offered, "extensions": shared} if shared else offered
