"""What an upstream last listed: raw definitions. Knows nothing of how it was asked."""

from __future__ import annotations

from dataclasses import dataclass, field

from toolyard.protocol.call import JsonObject
from toolyard.protocol.revisions import ALL


@dataclass(frozen=True, slots=True)
class Listing:
    server: str
    tools: tuple[JsonObject, ...] = ()
    resources: tuple[JsonObject, ...] = ()
    templates: tuple[JsonObject, ...] = ()
    prompts: tuple[JsonObject, ...] = ()
    capabilities: JsonObject = field(default_factory=dict)
    revision: str | None = None
    # What it says of itself; known only while it has been asked in this process.
    info: JsonObject = field(default_factory=dict, compare=False)
    instructions: str | None = field(default=None, compare=False)
    # For how many seconds the server says that this holds; None where it does not.
    lasts: float | None = field(default=None, compare=False)
    # Why there is nothing newer: the server could not be reached, or refused to list.
    error: str | None = None

    @property
    def completes(self) -> bool:
        """Does it complete arguments, or has its revision no word for that?"""
        revision = ALL.get(self.revision or "")
        unsaid = revision is not None and "completions" not in revision.capabilities
        return unsaid or "completions" in self.capabilities

    def tool(self, name: str) -> JsonObject | None:
        return next((tool for tool in self.tools if tool.get("name") == name), None)
