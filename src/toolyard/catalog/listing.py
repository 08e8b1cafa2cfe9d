"""What an upstream last listed: raw definitions. Knows nothing about how it was asked."""

from __future__ import annotations

from dataclasses import dataclass, field

from toolyard.protocol.call import JsonObject
from toolyard.protocol.revisions import ALL
from toolyard.protocol.tasks.words import declares


@dataclass(frozen=True, slots=True)
class Listing:
    """Everything one server listed to one kind of client, and what it said about itself."""

    server: str
    tools: tuple[JsonObject, ...] = ()
    resources: tuple[JsonObject, ...] = ()
    templates: tuple[JsonObject, ...] = ()
    prompts: tuple[JsonObject, ...] = ()
    capabilities: JsonObject = field(default_factory=dict)
    revision: str | None = None
    # What it says about itself; known only if it was asked in this process.
    info: JsonObject = field(default_factory=dict, compare=False)
    # What it tells models about itself.
    instructions: str | None = field(default=None, compare=False)
    # How many seconds this is valid for, if the server says so.
    lasts: float | None = field(default=None, compare=False)
    # Why there is nothing newer: the server could not be reached, or refused to list.
    error: str | None = None

    @property
    def completes(self) -> bool:
        """Does it complete arguments? True too if its revision has no way to say so."""
        revision = ALL.get(self.revision or "")
        unsaid = revision is not None and "completions" not in revision.capabilities
        return unsaid or "completions" in self.capabilities

    @property
    def makes_tasks(self) -> bool:
        """A server of the extension may make a task of any call, whatever its tools say."""
        return declares(self.capabilities)

    def tool(self, name: str) -> JsonObject | None:
        return next((tool for tool in self.tools if tool.get("name") == name), None)
