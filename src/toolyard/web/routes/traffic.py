"""The API's routes for recorded calls: the list, one of them, and forgetting them all."""

from __future__ import annotations

from toolyard.web.recording.traffic import Traffic
from toolyard.web.routes.request import ApiRefusal, Ask
from toolyard.web.views.records import full, line
from toolyard.web.window import Window


class TrafficRoutes:
    """Recorded calls."""

    def __init__(self, window: Window) -> None:
        self._window = window

    async def show(self, ask: Ask) -> None:
        traffic, secrets = self._traffic(), self._window.secrets()
        if not ask.arguments:
            lines = [line(record, secrets) for record in traffic.newest_first()]
            await ask.answer({"latest": traffic.latest, "lines": lines})
            return
        number = ask.arguments[0]
        record = traffic.find(int(number)) if number.isdecimal() else None
        if record is None:
            raise ApiRefusal(404, "this call is no longer kept")
        await ask.answer(full(record, self._window.catalog(), secrets))

    async def forget(self, ask: Ask) -> None:
        self._traffic().clear()
        await ask.answer({})

    def _traffic(self) -> Traffic:
        if self._window.traffic is None:
            raise ApiRefusal(404, "traffic is not recorded (the setting page_traffic is off)")
        return self._window.traffic
