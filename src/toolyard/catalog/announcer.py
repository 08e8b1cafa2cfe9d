"""Who is told when something on offer changes. Knows no sessions and no wire."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from toolyard.protocol.call import JsonObject
from toolyard.protocol.guise import Guise
from toolyard.protocol.kinds import LIST_CHANGED, RESOURCE_UPDATED, Kind

# Called with the method and the params of the notification.
Listener: TypeAlias = Callable[[str, JsonObject], None]


class Announcer:
    def __init__(self) -> None:
        self._listeners: dict[object, tuple[Listener, Guise | None]] = {}
        self._warned: dict[object, Callable[[str], None]] = {}
        self._reported: list[Listener] = []

    def join(self, listener: Listener, guise: Guise | None = None) -> Callable[[], None]:
        """Hear every announcement from now on; call what is returned to leave.

        `guise`: but not those that are for other kinds of clients.
        """
        ticket = object()
        self._listeners[ticket] = (listener, guise)
        return lambda: self._leave(ticket)

    def _leave(self, ticket: object) -> None:
        self._listeners.pop(ticket, None)

    def hear_warnings(self, listener: Callable[[str], None]) -> Callable[[], None]:
        """Hear what is found to be wrong with what is on offer; call the result to leave."""
        ticket = object()
        self._warned[ticket] = listener
        return lambda: self._stop_warning(ticket)

    def _stop_warning(self, ticket: object) -> None:
        self._warned.pop(ticket, None)

    def hear_reports(self, listener: Listener) -> None:
        """Hear what scripts say has changed."""
        self._reported.append(listener)

    def report(self, method: str, params: JsonObject) -> None:
        """A script says so; whether it has is for whoever hears it to find out."""
        for listener in self._reported:
            listener(method, params)

    def warned(self, warning: str) -> None:
        for listener in tuple(self._warned.values()):
            listener(warning)

    def changed(self, kinds: Iterable[Kind], to: Guise | None = None) -> None:
        """`to` clients of one kind, or to all."""
        for method in sorted({LIST_CHANGED[kind] for kind in kinds}):
            self._tell(method, {}, to)

    def updated(self, uri: str) -> None:
        self._tell(RESOURCE_UPDATED, {"uri": uri})

    def _tell(self, method: str, params: JsonObject, to: Guise | None = None) -> None:
        for listener, guise in tuple(self._listeners.values()):
            if to is None or guise is None or guise == to:
                listener(method, params)
