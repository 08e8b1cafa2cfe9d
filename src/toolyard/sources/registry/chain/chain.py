"""A virtual tool's way down its sources to what does the work, and its names along that way."""

from __future__ import annotations

from dataclasses import dataclass

from toolyard.catalog.entries import Tool
from toolyard.protocol.call import JsonObject
from toolyard.sources.registry.format.model import ToolDefinition
from toolyard.upstreams.definition import ServerDefinition
from toolyard.virtual.renaming import Renaming


@dataclass(frozen=True, slots=True)
class Chain:
    """Nearest first; the last link's server, an entry made elsewhere, or a composition ends it."""

    links: tuple[ToolDefinition, ...]
    server: ServerDefinition | None = None
    existing: Tool | None = None
    # What the underlying tool says of itself; None where it has not said yet.
    definition: JsonObject | None = None
    # Why nothing is there to call.
    broken: str | None = None
    # May its server make a task of any call?
    makes_tasks: bool = False

    @property
    def tool(self) -> ToolDefinition:
        return self.links[0]

    @property
    def original_name(self) -> str:
        """What the upstream calls it."""
        names = (link.original_name for link in self.links)
        return next((name for name in names if name is not None), self.links[-1].name)

    @property
    def input_schema(self) -> JsonObject | None:
        """What the registry declares, nearest first."""
        schemas = (link.input_schema for link in self.links)
        return next((schema for schema in schemas if schema is not None), None)

    @property
    def defaults(self) -> JsonObject:
        """By the names of what does the work."""
        values: JsonObject = {}
        for number, link in reversed(list(enumerate(self.links))):
            values.update(
                {self.underlying_name(k, number + 1): v for k, v in link.defaults.items()}
            )
        return values

    @property
    def renamings(self) -> tuple[Renaming, ...]:
        """From the caller's names down to those of what does the work."""
        return tuple(link.renaming for link in self.links if link.renaming.arguments)

    def withheld(self, number: int = 0, base: frozenset[str] = frozenset()) -> frozenset[str]:
        """What callers of that link may not send; `base`: what the tool underneath refuses."""
        names = base
        for link in reversed(self.links[number:]):
            names = link.renaming.withheld({*names, *link.defaults, *link.hide_fields})
        return names

    def hidden_below(self, number: int) -> frozenset[str]:
        """What that link and those below hide without a value, by the names of its source."""
        names: frozenset[str] = frozenset()
        for link in reversed(self.links[number + 1 :]):
            names = link.renaming.withheld({*names, *link.hide_fields})
        return names.union(self.links[number].hide_fields)

    def underlying_name(self, name: str, number: int) -> str:
        """What does the work calls this so; callers of that link call it `name`."""
        for link in self.links[number:]:
            name = link.renaming.source_names.get(name, name)
        return name

    def name_above(self, name: str, number: int, above: int) -> str:
        """The source of the link `above` calls this so; the source of that link, `name`."""
        for link in reversed(self.links[above + 1 : number + 1]):
            name = link.renaming.own_names.get(name, name)
        return name
