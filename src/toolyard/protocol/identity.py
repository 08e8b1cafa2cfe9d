"""What the server says about itself, and how much of it each revision is told."""

# Annotations are no text here: a NamedTuple compiles such text, and every start waits for it.
from typing import NamedTuple

from toolyard.protocol.client import TASKS_EXTENSION
from toolyard.protocol.revisions import Revision
from toolyard.protocol.values import Json, JsonObject

UI_EXTENSION = "io.modelcontextprotocol/ui"
FULL_CAPABILITIES: JsonObject = {
    "logging": {},
    "tools": {"listChanged": True},
    "resources": {"subscribe": True, "listChanged": True},
    "prompts": {"listChanged": True},
    "completions": {},
    "tasks": {"cancel": {}, "requests": {"tools": {"call": {}}}},
}
OWN_EXTENSIONS: JsonObject = {
    UI_EXTENSION: {"mimeTypes": ["text/html;profile=mcp-app"]},
    TASKS_EXTENSION: {},
}
MINIMAL_CAPABILITIES: JsonObject = {"logging": {}}


class Identity(NamedTuple):
    """The server as its clients see it."""

    info: JsonObject  # name, version, title, description, websiteUrl, icons
    instructions: str | None = None
    capabilities: JsonObject = FULL_CAPABILITIES
    # Our extensions. A client is told of those that it declares too; of tasks in any case, as
    # it may declare them with each request anew, and never in a revision that lacks them.
    extensions: JsonObject = OWN_EXTENSIONS

    def able_to(self, capabilities: JsonObject) -> "Identity":
        """With what stands behind us; tasks are a capability in one revision, else an extension."""
        extensions = self.extensions
        if "tasks" not in capabilities:
            extensions = {k: v for k, v in extensions.items() if k != TASKS_EXTENSION}
        return self._replace(capabilities=capabilities, extensions=extensions)

    def listing_tasks(self) -> "Identity":
        """For a caller that a credential tells from others: it may list its tasks."""
        tasks = {"list": {}, **self.capabilities.get("tasks", {})}
        return self._replace(capabilities={**self.capabilities, "tasks": tasks})

    def info_for(self, revision: Revision) -> JsonObject:
        return {k: v for k, v in self.info.items() if k not in revision.later_info_fields}

    def capabilities_for(self, revision: Revision, client_capabilities: JsonObject) -> JsonObject:
        capabilities = {k: v for k, v in self.capabilities.items() if k in revision.capabilities}
        if not revision.list_changed:
            capabilities = {
                name: _without_list_changed(value) for name, value in capabilities.items()
            }
        extensions = self._extensions_for(revision, client_capabilities.get("extensions"))
        return {**capabilities, "extensions": extensions} if extensions else capabilities

    def _extensions_for(self, revision: Revision, client_extensions: Json) -> JsonObject:
        names = client_extensions if isinstance(client_extensions, dict) else {}
        return {
            name: value
            for name, value in self.extensions.items()
            if (revision.tasks == "extension" if name == TASKS_EXTENSION else name in names)
        }


def _without_list_changed(capability: JsonObject) -> JsonObject:
    return {k: v for k, v in capability.items() if k != "listChanged"}
