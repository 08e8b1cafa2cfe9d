"""Which view of the tools a call gets, and the meta tools that stand for the tools it hides.

A view narrows nothing: every tool can be called by its own name in each of them. It only decides
what `tools/list` shows. Where that is not everything, `find_tools` is a tool of ours, and a call of
one of the three call tools is turned into a call of the tool that it names before anything else
looks at it: rules, limits, audit, traffic and the tool itself see the real one.

    catalog  ->  narrowed to the caller (rules)  ->  shown in its view (here)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from toolyard.catalog.entries import Origin, Tool
from toolyard.catalog.snapshot import Catalog
from toolyard.context.display import IsPinned, definitions, fullest, pinned, sizes_of
from toolyard.context.meta_tools import CALL_TOOLS, FIND, META_NAMES, call_with, may_be_found
from toolyard.context.reading import Reading, ViewName, reading_of
from toolyard.errors import ToolError, shown
from toolyard.protocol.call import Call, Channel, JsonObject, Result, Target
from toolyard.protocol.codec import dumps

FULL = Reading(view="full")
_SIZES = "sizes of views"
_WHOLE_SIZE = "size of the whole list"
# With a catalog of which every call that names no view at its address is listed all.
WHOLE = "listed whole"
READ_RESULT = "read_result"
OUR_NAMES = META_NAMES | {READ_RESULT}
OURS = Origin("context")
# Is told that so many characters less than there are were sent for this call.
Saved: TypeAlias = Callable[[Call, int], None]


@dataclass(frozen=True, slots=True)
class Misdirected:
    """Answers for a call tool that names no tool to call."""

    name: str

    async def call(self, arguments: JsonObject, call: Call, channel: Channel) -> Result:
        if arguments.get("name") in META_NAMES:
            raise ToolError(f"{arguments['name']} is called directly, not with {self.name}")
        raise ToolError(f"{self.name} needs `name`, the tool to call, and its `arguments`")


def _nobody(_call: Call) -> Reading | None:
    return None


@dataclass(frozen=True, slots=True)
class ToolViews:
    """Who reads which view, and what it lists."""

    find: Target
    # What the operator has chosen for a call; its address comes first.
    configured: Callable[[Call], Reading | None] = _nobody
    is_pinned: IsPinned = pinned
    # A tool of ours that every view lists; None where it has nothing to do.
    reader: Callable[[], Tool | None] = lambda: None
    # Nobody has configured anything of this: the usual case, which should cost nothing. What
    # registry files say of it changes only with the catalog.
    is_off: Callable[[], bool] = lambda: False
    saved: Saved | None = None

    def reading(self, call: Call) -> Reading:
        if call.address is not None:
            reading = _at(tuple(sorted(call.address.items())))
            if reading is not None:
                return reading
        return self.configured(call) or FULL

    def view(self, call: Call, catalog: Catalog) -> ViewName:
        reading = self.reading(call)
        if reading.budget is None:
            return reading.view or "full"
        if _SIZES not in catalog.derived:
            catalog.derived[_SIZES] = sizes_of(catalog, self.is_pinned)
        return fullest(reading.budget, catalog.derived[_SIZES])

    def shown(self, call: Call, catalog: Catalog) -> Catalog:
        """The catalog whose tools are listed: all of them, or ours and those that are pinned."""
        if call.address is None and self.is_off():
            catalog.derived[WHOLE] = True
            return catalog
        return self._in(self.view(call, catalog), catalog)

    def _in(self, view: ViewName, catalog: Catalog) -> Catalog:
        reader = self.reader()
        if view == "full" and reader is None:
            return catalog
        key = f"listed in view {view}"
        if key not in catalog.derived:
            tools = dict(self._tools(catalog, view))
            if reader is not None:
                tools[reader.name] = reader
            facade = Catalog(tools, broken=catalog.broken, created_at=catalog.created_at)
            catalog.derived[key] = facade
        shown: Catalog = catalog.derived[key]
        return shown

    def listed(self, call: Call, catalog: Catalog) -> Catalog:
        """The same, for a client that begins to list."""
        facade = self.shown(call, catalog)
        if self.saved is not None and facade is not catalog:
            self.saved(call, _size(self._in("full", catalog)) - _size(facade))
        return facade

    def _tools(self, catalog: Catalog, view: ViewName) -> Mapping[str, Tool]:
        return {
            definition["name"]: self._meta_tool(definition)
            if definition["name"] in META_NAMES and view != "full"
            else catalog.tools[definition["name"]]
            for definition in definitions(catalog, view, self.is_pinned)
        }

    def _meta_tool(self, definition: JsonObject) -> Tool:
        name = definition["name"]
        target = Misdirected(name) if name in CALL_TOOLS else self.find
        return Tool(name, definition, target, OURS)


def _size(catalog: Catalog) -> int:
    """What listing all of it takes, in bytes."""
    if _WHOLE_SIZE not in catalog.derived:
        catalog.derived[_WHOLE_SIZE] = len(dumps(definitions(catalog, "full")))
    size: int = catalog.derived[_WHOLE_SIZE]
    return size


@lru_cache(maxsize=256)
def _at(address: tuple[tuple[str, str], ...]) -> Reading | None:
    try:
        return reading_of(dict(address))
    except ValueError:
        return None  # refused by the transport


def refuse_detour(via: str, tool: Tool) -> None:
    """Raises ToolError if a tool is called through a call tool that is not for it."""
    if not may_be_found(tool):
        raise unknown(tool.name)
    right = call_with(tool)
    if via != right:
        raise ToolError(f"Tool '{tool.name}' must be called with {right}, not with {via}")


def unknown(name: str) -> ToolError:
    return ToolError(f"There is no tool named '{shown(name)}': {FIND} shows which there are")
