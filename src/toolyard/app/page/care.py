"""How servers fare, for the page: the last hour, the journal of each, and trying one again now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolyard.app.federation import Federation
from toolyard.protocol.call import JsonObject

if TYPE_CHECKING:
    from toolyard.app.observing import Pictures


class PageCare:
    def __init__(self, federation: Federation, pictures: Pictures | None) -> None:
        self._federation = federation
        self._pictures = pictures

    async def history(self) -> JsonObject | None:
        return None if self._pictures is None else await self._pictures()

    def journal(self, server: str) -> JsonObject | None:
        health = next((each for each in self._federation.health() if each.server == server), None)
        if health is None:
            return None
        events = [{"at": event.at, "text": event.text} for event in health.journal]
        return {"server": server, "events": events, "stderr": health.stderr}

    async def retry(self, server: str) -> bool:
        return await self._federation.retry(server)
