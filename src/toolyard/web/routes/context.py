"""The API's route for what a model reads: what each view costs, and a search as it would go."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from toolyard.catalog.snapshot import Catalog
from toolyard.context import answers
from toolyard.context.costs import view_costs
from toolyard.context.display import chosen, definitions
from toolyard.context.finding import Search, ToolIndex
from toolyard.context.meta_tools import DEFAULT_LIMIT, MOST_TOOLS, call_with
from toolyard.context.reading import Reading, reading_of
from toolyard.context.sizes import tokens_in
from toolyard.protocol.call import JsonObject
from toolyard.web.routes.request import ApiRefusal, Ask
from toolyard.web.window import Window

LONGEST_QUERY = 1_000


class ContextRoutes:
    """Made once for each catalog: what the views cost, and the index that is searched."""

    def __init__(self, window: Window) -> None:
        self._window = window
        self._index: tuple[Catalog, ToolIndex] | None = None

    async def show(self, ask: Ask) -> None:
        fields = ask.request.query
        try:
            reading = reading_of(fields) or Reading()
        except ValueError as error:
            raise ApiRefusal(400, str(error)) from None
        query = fields.get("query", "").strip()
        if len(query) > LONGEST_QUERY:
            raise ApiRefusal(400, f"a query may have {LONGEST_QUERY:,} characters")
        catalog = self._window.catalog()
        body = await asyncio.to_thread(self._document, catalog, reading)
        if query:
            index = await asyncio.to_thread(self._index_of, catalog)
            body["search"] = _searched(index.search(query, MOST_TOOLS))
        await ask.answer(body)

    def _document(self, catalog: Catalog, reading: Reading) -> JsonObject:
        is_pinned = self._window.is_pinned
        view = chosen(reading, catalog, is_pinned)
        return {
            "view": view,
            "views": [cost._asdict() for cost in view_costs(catalog, is_pinned)],
            "tools": definitions(catalog, view, is_pinned) if view != "full" else [],
        }

    def _index_of(self, catalog: Catalog) -> ToolIndex:
        if self._index is None or self._index[0] is not catalog:
            older = self._index[1] if self._index is not None else None
            self._index = (catalog, ToolIndex(catalog, older))
        return self._index[1]


def _searched(search: Search) -> JsonObject:
    usual = replace(search, hits=search.hits[:DEFAULT_LIMIT])
    answer = answers.result(answers.found(usual))
    return {
        "tools": [
            {
                "name": hit.tool.name,
                "server": hit.server,
                "score": round(hit.score, 2),
                "callWith": call_with(hit.tool),
                "tokens": tokens_in(hit.tool.definition),
            }
            for hit in search.hits
        ],
        "unmatched": list(search.unmatched),
        "total": search.total,
        "tokens": tokens_in(answer),
    }
