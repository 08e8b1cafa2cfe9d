"""Tells listeners when something on offer changes. Knows no sessions and no wire."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from toolyard.protocol.call import JsonObject
from toolyard.protocol.guise import Guise
from toolyard.protocol.kinds import LIST_CHANGED, RESOURCE_UPDATED, Kind

# Called with the method and the params of the notification.
Listener: TypeAlias = Callable[[str, JsonObject], None]


class Announcer:
    """Everybody who wants to hear of changes, warnings, or what scripts report."""

    def __init__(self) -> None:
        self._listeners: dict[object, tuple[Listener, Guise | None]] = {}
        self._warning_listeners: dict[object, Callable[[str], None]] = {}
        self._report_listeners: list[Listener] = []

    def join(self, listener: Listener, guise: Guise | None = None) -> Callable[[], None]:
        """Hear every announcement from now on; call what is returned to leave.

        `guise`: without those that are only for other kinds of clients.
        """
        ticket = object()
        self._listeners[ticket] = (listener, guise)
        return lambda: self._leave(ticket)

    def _leave(self, ticket: object) -> None:
        self._listeners.pop(ticket, None)

    def hear_warnings(self, listener: Callable[[str], None]) -> Callable[[], None]:
        """Hear of mistakes in what is on offer; call what is returned to leave."""
        ticket = object()
        self._warning_listeners[ticket] = listener
        return lambda: self._stop_warning(ticket)

    def _stop_warning(self, ticket: object) -> None:
        self._warning_listeners.pop(ticket, None)

    def hear_reports(self, listener: Listener) -> None:
        """Hear what scripts say has changed."""
        self._report_listeners.append(listener)

    def report(self, method: str, params: JsonObject) -> None:
        """A script says that something has changed; whoever hears it finds out whether it has."""
        for listener in self._report_listeners:
            listener(method, params)

    def warned(self, warning: str) -> None:
        for listener in tuple(self._warning_listeners.values()):
            listener(warning)

    def changed(self, kinds: Iterable[Kind], to: Guise | None = None) -> None:
        """Announce that lists have changed, `to` clients of one kind or to all."""
        for method in sorted({LIST_CHANGED[kind] for kind in kinds}):
            self._tell(method, {}, to)

    def updated(self, uri: str) -> None:
        self._tell(RESOURCE_UPDATED, {"uri": uri})

    def _tell(self, method: str, params: JsonObject, to: Guise | None = None) -> None:
        for listener, guise in tuple(self._listeners.values()):
            if to is None or guise is None or guise == to:
                listener(method, params)
