"""The API's routes for looking: overview, catalog, one entry, and what changes meanwhile."""

from __future__ import annotations

import asyncio
from time import monotonic

from toolyard.web.live import Live
from toolyard.web.others import OtherCalls
from toolyard.web.routes.request import PRIVATE, SECURITY, ApiRefusal, Ask
from toolyard.web.stream import stream
from toolyard.web.views.catalog import CatalogListing
from toolyard.web.views.detail import detail
from toolyard.web.views.overview import overview
from toolyard.web.window import Window


class LookRoutes:
    """What the page looks at, measured once for each catalog, and the pages that are open."""

    def __init__(self, window: Window) -> None:
        self._window = window
        self._listing: CatalogListing | None = None
        self._start = monotonic()
        self._open: set[Live] = set()

    async def overview(self, ask: Ask) -> None:
        listing = await self._current()
        document = overview(self._window, listing, monotonic() - self._start)
        if self._window.others is not None:
            document["processes"] = await OtherCalls(self._window.others).processes(self._window)
        await ask.answer(document)

    async def catalog(self, ask: Ask) -> None:
        listing = await self._current()
        await ask.response.send(200, listing.body, PRIVATE)

    async def _current(self) -> CatalogListing:
        catalog = self._window.catalog()
        if self._listing is None or self._listing.catalog is not catalog:
            self._listing = await asyncio.to_thread(CatalogListing, catalog)
        return self._listing

    async def clients(self, ask: Ask) -> None:
        """`url` is how the page itself is reached: behind a proxy only the browser knows it."""
        url = ask.request.query.get("url", "")
        if not url.startswith(("http://", "https://")):
            raise ApiRefusal(400, "url must be the server's http(s) address")
        # Only whoever looks at it pays for the table of clients.
        from toolyard.web.views.clients import clients  # noqa: PLC0415

        await ask.answer({"clients": clients(self._window, url)})

    async def entry(self, ask: Ask) -> None:
        query = ask.request.query
        kind, name = query.get("kind", "tools"), query.get("name", "")
        view = detail(self._window, self._window.catalog(), kind, name)
        if view is None:
            raise ApiRefusal(404, f"there is no such entry among the {kind} (any more)")
        await ask.answer(view)

    async def events(self, ask: Ask) -> None:
        live = Live(self._window)
        task = asyncio.ensure_future(live.follow())
        self._open.add(live)
        try:
            await stream(live.events, ask.request, ask.response, SECURITY)
        finally:
            self._open.discard(live)
            task.cancel()

    def close(self) -> None:
        for live in self._open:
            live.events.end()
