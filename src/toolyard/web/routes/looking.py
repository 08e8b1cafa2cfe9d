"""The API's part for looking: overview, catalog, one entry, and what changes meanwhile."""

from __future__ import annotations

import asyncio
from time import monotonic

from toolyard.web.live import Live
from toolyard.web.routes.request import PRIVATE, SECURITY, ApiRefusal, Ask
from toolyard.web.stream import stream
from toolyard.web.views.catalog import CatalogListing
from toolyard.web.views.detail import detail
from toolyard.web.views.overview import overview
from toolyard.web.window import Window


class LookRoutes:
    def __init__(self, window: Window) -> None:
        self._window = window
        self._listed: CatalogListing | None = None
        self._started = monotonic()
        self._open: set[Live] = set()

    async def overview(self, ask: Ask) -> None:
        listed = await self._current()
        await ask.answer(overview(self._window, listed, monotonic() - self._started))

    async def catalog(self, ask: Ask) -> None:
        listed = await self._current()
        await ask.response.send(200, listed.body, PRIVATE)

    async def _current(self) -> CatalogListing:
        catalog = self._window.catalog()
        if self._listed is None or self._listed.catalog is not catalog:
            self._listed = await asyncio.to_thread(CatalogListing, catalog)
        return self._listed

    async def entry(self, ask: Ask) -> None:
        query = ask.request.query
        kind, name = query.get("kind", "tools"), query.get("name", "")
        found = detail(self._window, self._window.catalog(), kind, name)
        if found is None:
            raise ApiRefusal(404, f"there is no such entry among the {kind} (any more)")
        await ask.answer(found)

    async def events(self, ask: Ask) -> None:
        live = Live(self._window)
        following = asyncio.ensure_future(live.follow())
        self._open.add(live)
        try:
            await stream(live.events, ask.request, ask.response, SECURITY)
        finally:
            self._open.discard(live)
            following.cancel()

    def close(self) -> None:
        for live in self._open:
            live.events.end()
