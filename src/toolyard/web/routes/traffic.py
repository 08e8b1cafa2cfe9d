"""The API's routes for recorded calls: the list, one of them, and forgetting them all."""

from __future__ import annotations

from toolyard.protocol.call import JsonObject
from toolyard.web.others import OtherCalls
from toolyard.web.recording.traffic import Traffic
from toolyard.web.routes.request import ApiRefusal, Ask
from toolyard.web.views.records import full, line
from toolyard.web.window import Window


class TrafficRoutes:
    """Recorded calls."""

    def __init__(self, window: Window) -> None:
        self._window = window
        self._others = OtherCalls(window.others) if window.others is not None else None

    async def show(self, ask: Ask) -> None:
        traffic, secrets = self._traffic(), self._window.secrets()
        if not ask.arguments:
            lines = [line(record, secrets) for record in traffic.newest_first()]
            await ask.answer({"latest": traffic.latest, "lines": await self._with_others(lines)})
            return
        number = int(ask.arguments[0]) if ask.arguments[0].isdecimal() else 0
        record = traffic.find(number)
        if record is not None:
            await ask.answer(full(record, self._window.catalog(), secrets))
            return
        document = await self._others.find(number) if self._others is not None else None
        if document is None:
            raise ApiRefusal(404, "this call is no longer kept")
        await ask.answer(document)

    async def _with_others(self, lines: list[JsonObject]) -> list[JsonObject]:
        if self._others is None:
            return lines
        own = [self._others.own(one) for one in lines]
        return sorted([*own, *await self._others.lines()], key=lambda one: -one["at"])

    async def forget(self, ask: Ask) -> None:
        self._traffic().clear()
        if self._others is not None:
            await self._others.forget()
        await ask.answer({})

    def _traffic(self) -> Traffic:
        if self._window.traffic is None:
            raise ApiRefusal(404, "traffic is not recorded (the setting page_traffic is off)")
        return self._window.traffic
