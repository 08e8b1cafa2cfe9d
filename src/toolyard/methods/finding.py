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
_MOST_INDEXES = 64


class ToolIndexes:
    """An index for each catalog that somebody searches; everybody's is made with the catalog."""

    def __init__(self) -> None:
        self._indexes: dict[int, tuple[Catalog, ToolIndex]] = {}
        self._newest: ToolIndex | None = None  # its documents are used again
        self._making: dict[int, asyncio.Task[ToolIndex]] = {}
        self.in_use = False

    def prepare(self, catalog: Catalog) -> None:
        """Called in a thread, before the catalog is there for anybody."""
        if self.in_use:
            self._keep(catalog, ToolIndex(catalog, self._newest))

    async def of(self, catalog: Catalog) -> ToolIndex:
        self.in_use = True
        cached = self._indexes.get(id(catalog))
        if cached is not None and cached[0] is catalog:
            return cached[1]
        task = self._making.get(id(catalog))
        if task is None:
            task = self._making[id(catalog)] = asyncio.create_task(self._make(catalog))
        return await asyncio.shield(task)

    async def _make(self, catalog: Catalog) -> ToolIndex:
        try:
            index = await asyncio.to_thread(ToolIndex, catalog, self._newest)
        finally:
            del self._making[id(catalog)]
        self._keep(catalog, index)
        return index

    def _keep(self, catalog: Catalog, index: ToolIndex) -> None:
        while len(self._indexes) >= _MOST_INDEXES:
            del self._indexes[next(iter(self._indexes))]
        self._indexes[id(catalog)] = (catalog, index)
        if self._newest is None or len(index.tools) >= len(self._newest.tools) // 2:
            self._newest = index


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
