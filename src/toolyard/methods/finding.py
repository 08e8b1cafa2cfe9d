"""find_tools: search what the caller sees. Indexes are made beside the loop, and kept."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from toolyard.catalog.snapshot import Catalog
from toolyard.context import answers
from toolyard.context.finding import Search, ToolIndex
from toolyard.context.meta_tools import DEFAULT_LIMIT
from toolyard.errors import ToolError
from toolyard.methods.offer import Offer
from toolyard.protocol.call import Call, Channel, JsonObject, Result

LONGEST_QUERY = 1_000
_INDEX = "search index"


class ToolIndexes:
    """An index for each catalog that somebody searches; everybody's is made with the catalog."""

    def __init__(self) -> None:
        self._newest: ToolIndex | None = None  # its documents are used again
        self._tasks: dict[int, asyncio.Task[ToolIndex]] = {}
        self.in_use = False

    def prepare(self, catalog: Catalog) -> None:
        """Called in a thread, before the catalog is there for anybody."""
        if self.in_use:
            self._make(catalog)

    async def of(self, catalog: Catalog) -> ToolIndex:
        self.in_use = True
        index: ToolIndex | None = catalog.derived.get(_INDEX)
        if index is not None:
            return index
        task = self._tasks.get(id(catalog))
        if task is None:
            task = asyncio.create_task(asyncio.to_thread(self._make, catalog))
            self._tasks[id(catalog)] = task
            task.add_done_callback(lambda _task: self._tasks.pop(id(catalog), None))
        return await asyncio.shield(task)

    def _make(self, catalog: Catalog) -> ToolIndex:
        index = ToolIndex(catalog, self._newest)
        catalog.derived[_INDEX] = index
        # That of few tools, for a caller who sees little, would not save much.
        if self._newest is None or len(index.tools) >= len(self._newest.tools) // 2:
            self._newest = index
        return index


@dataclass(frozen=True, slots=True)
class FindTools:
    """The target of find_tools."""

    offer: Offer
    indexes: ToolIndexes = field(default_factory=ToolIndexes)

    async def call(self, arguments: JsonObject, call: Call, channel: Channel) -> Result:
        query, names = str(arguments.get("query") or "").strip(), arguments.get("names") or []
        server, limit = arguments.get("server"), arguments.get("limit", DEFAULT_LIMIT)
        if names:
            has_all = frozenset(names).issubset
            catalog = await self.offer.having(lambda it: has_all(it.tools), call, channel)
            return answers.result(answers.named((await self.indexes.of(catalog)).named(names)))
        if not query and server is None:
            raise ToolError("say what the tool should do in `query`, or name tools in `names`")
        if len(query) > LONGEST_QUERY:
            raise ToolError(
                f"the query has {len(query):,} characters and may have {LONGEST_QUERY:,}: "
                "say in a few words what the tool should do"
            )
        index = await self.indexes.of(await self.offer.to(call, channel))
        return answers.result(answers.found(_searched(index, query, server, limit)))


def _searched(index: ToolIndex, query: str, server: str | None, limit: int) -> Search:
    if query:
        return index.search(query, limit, server)
    return index.all_of(server or "", limit)
