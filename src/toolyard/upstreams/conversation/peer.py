"""What an upstream said of itself when it was greeted."""

from __future__ import annotations

from dataclasses import dataclass, field

from toolyard.protocol.call import JsonObject
from toolyard.protocol.revisions import LATEST, Revision


@dataclass(frozen=True, slots=True)
class Peer:
    """What the upstream said of itself."""

    revision: Revision = LATEST
    capabilities: JsonObject = field(default_factory=dict)
    info: JsonObject = field(default_factory=dict)
    instructions: str | None = None
    proposal: Revision | None = None  # the one that our `initialize` named first

    def offers(self, capability: str, detail: str | None = None) -> bool:
        value = self.capabilities.get(capability)
        if detail is None:
            return value is not None
        return isinstance(value, dict) and bool(value.get(detail))

    @property
    def has_levels(self) -> bool:
        """May it be told from which level on to log?"""
        return not self.revision.modern and self.offers("logging")

    @property
    def takes_tasks(self) -> bool:
        """May a call there ask to become a task, as in the core form?"""
        tasks = self.capabilities.get("tasks")
        for word in ("requests", "tools", "call"):
            tasks = tasks.get(word) if isinstance(tasks, dict) else None
        return self.revision.tasks == "core" and tasks is not None
