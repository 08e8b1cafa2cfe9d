"""What changes while the page is open, as events: the catalog, the servers, the calls.

Ticks only while somebody listens; nothing is sent when nothing has happened.
"""

from __future__ import annotations

import asyncio
from itertools import islice, takewhile

from toolyard.protocol.call import Json, JsonObject
from toolyard.web.others import OtherCalls
from toolyard.web.stream import Events
from toolyard.web.views.records import line
from toolyard.web.window import Window

TICK = 0.5
MOST_LINES = 60


class Live:
    """One open page: what it has been told so far, and the events that bring it up to date."""

    def __init__(self, window: Window) -> None:
        self._window = window
        self.events = Events()
        self._health = self._states()
        self._catalog = window.catalog()
        self._latest = window.traffic.latest if window.traffic else 0
        self._running: set[int] = set()
        self._others = OtherCalls(window.others) if window.others is not None else None

    async def follow(self) -> None:
        """Push what happens, until cancelled."""
        leave = self._window.announcer.join(self._announced)
        try:
            self.events.push("hello", {"latest": self._latest})
            if self._others is not None:
                await self._others.lines()  # the page has them already
            while True:
                self._tell_catalog()
                self._tell_health()
                self._tell_traffic()
                if self._others is not None:
                    await self._tell_others(self._others)
                await asyncio.sleep(TICK)
        finally:
            leave()

    def _announced(self, method: str, _params: JsonObject) -> None:
        if method.endswith("list_changed"):
            self._catalog = self._window.catalog()
            self.events.push("catalog", {"changed": method.split("/")[1]})

    def _tell_catalog(self) -> None:
        """Changes that only the page's own user sees are not announced: compare instead."""
        catalog = self._window.catalog()
        if catalog is not self._catalog:
            self._catalog = catalog
            self.events.push("catalog", {"changed": "tools"})

    def _tell_health(self) -> None:
        health = self._states()
        if health != self._health:
            self._health = health
            self.events.push("servers", health)

    def _states(self) -> list[Json]:
        return [[health.server, health.state, health.reason] for health in self._window.health()]

    def _tell_traffic(self) -> None:
        traffic = self._window.traffic
        if traffic is None or (traffic.latest == self._latest and not self._running):
            return
        new = takewhile(lambda record: record.number > self._latest, traffic.newest_first())
        recent = list(islice(new, MOST_LINES))
        records = (traffic.find(number) for number in self._running)
        finished = [record for record in records if record is not None and record.ended]
        self._running = {
            number for number in self._running if number not in {d.number for d in finished}
        }
        self._running |= {record.number for record in recent if not record.ended}
        if not recent and not finished:
            return
        secrets = self._window.secrets()
        lines = [line(record, secrets) for record in (*recent, *finished)]
        lines = [self._others.own(one) for one in lines] if self._others is not None else lines
        self.events.push("traffic", {"count": traffic.latest - self._latest, "lines": lines})
        self._latest = traffic.latest

    async def _tell_others(self, others: OtherCalls) -> None:
        count, lines = await others.news()
        if lines:
            self.events.push("traffic", {"count": count, "lines": lines})
