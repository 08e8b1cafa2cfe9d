"""What many want to hear from one upstream, asked for once on each connection.

Handshake era: `resources/subscribe` for each URI. Modern: one `subscriptions/listen` for all.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeAlias

from toolyard.errors import METHOD_NOT_FOUND, ProtocolError
from toolyard.protocol.call import JsonObject
from toolyard.protocol.kinds import SPELLED
from toolyard.telemetry import logger
from toolyard.upstreams.background import Background
from toolyard.upstreams.link.link import LinkError, Refusal
from toolyard.upstreams.session import UpstreamSession

log = logger("upstreams")
OnChange: TypeAlias = Callable[[], None]

FIRST_WAIT, MOST_WAIT = 1.0, 30.0
ACKNOWLEDGED_WITHIN = 5.0


class ChangeWatch:
    """What is wanted on one connection. `on_change` is called when any list may have changed."""

    def __init__(self, on_change: OnChange) -> None:
        self._on_change = on_change
        self._by_uri: dict[str, list[OnChange]] = {}
        self._session: UpstreamSession | None = None
        self._listening: asyncio.Task[None] | None = None
        self._acknowledged = asyncio.Event()
        self._one_at_a_time = asyncio.Lock()
        self._asking = asyncio.Lock()
        self._asked_for: set[str] = set()
        self._background = Background()

    @property
    def wanted(self) -> bool:
        return bool(self._by_uri)

    # -- who wants what ----------------------------------------------------------------

    async def add(self, uri: str, on_change: OnChange) -> None:
        holders = self._by_uri.setdefault(uri, [])
        holders.append(on_change)
        async with self._asking:  # whoever comes second waits until the first is heard
            if uri not in self._asked_for:
                self._asked_for.add(uri)
                await self._ask_for(uri)

    async def remove(self, uri: str, on_change: OnChange) -> None:
        holders = self._by_uri.get(uri, [])
        holders.remove(on_change)
        if not holders:
            self._by_uri.pop(uri, None)
            self._asked_for.discard(uri)
            await self._drop(uri)

    async def _ask_for(self, uri: str) -> None:
        session = self._session
        if session is None:
            return
        if session.modern:
            await self._listen_anew(session)
        else:
            await _tell(session, "resources/subscribe", uri)

    async def _drop(self, uri: str) -> None:
        session = self._session
        if session is None or session.link.lost is not None:
            return
        if session.modern:
            await self._listen_anew(session)
        else:
            await _tell(session, "resources/unsubscribe", uri)

    # -- the connection ----------------------------------------------------------------

    def attach(self, session: UpstreamSession) -> None:
        """There is a new connection: ask on it for everything that is wanted."""
        again, self._session = self._session is not None, session
        if session.modern:
            self._background.start(self._listen_anew(session))
        else:
            for uri in self._by_uri:
                self._background.start(_tell(session, "resources/subscribe", uri))
        if again:
            self._missed()

    def _missed(self) -> None:
        """Nobody was listening for a while: anything may have changed."""
        for uri in tuple(self._by_uri):
            self._tell_holders(uri)

    def heard(self, method: str, params: JsonObject) -> None:
        if method.endswith("/list_changed"):
            self._on_change()
        elif method == "notifications/resources/updated":
            self._tell_holders(str(params.get("uri")))
        elif method == "notifications/subscriptions/acknowledged":
            self._acknowledged.set()

    def _tell_holders(self, uri: str) -> None:
        for on_change in tuple(self._by_uri.get(uri, ())):
            on_change()

    # -- the modern listen -------------------------------------------------------------

    async def _listen_anew(self, session: UpstreamSession) -> None:
        """Open a listen for what is wanted now; the older one ends when this one has begun."""
        async with self._one_at_a_time:
            older, self._listening = self._listening, None
            filters = self._filter(session)
            if filters:
                self._acknowledged.clear()
                self._listening = self._background.start(self._keep_listening(session, filters))
                await self._until_acknowledged()
            if older is not None:
                older.cancel()

    def _filter(self, session: UpstreamSession) -> JsonObject:
        filters: JsonObject = {
            spelling.filter: True
            for spelling in SPELLED.values()
            if session.peer.offers(spelling.family, "listChanged")
        }
        if self._by_uri:
            filters["resourceSubscriptions"] = sorted(self._by_uri)
        return filters

    async def _until_acknowledged(self) -> None:
        try:
            async with asyncio.timeout(ACKNOWLEDGED_WITHIN):
                await self._acknowledged.wait()
        except TimeoutError:
            log.debug("an upstream did not acknowledge subscriptions/listen")

    async def _keep_listening(self, session: UpstreamSession, filters: JsonObject) -> None:
        wait = FIRST_WAIT
        while session.link.lost is None:
            try:
                await session.listen(filters)
            except (ProtocolError, Refusal) as error:
                log.debug("%s: subscriptions/listen: %s", session.server, error)
                self._acknowledged.set()
                return
            except LinkError as error:
                log.debug("%s: its notifications ended: %s", session.server, error)
            wait = FIRST_WAIT if self._acknowledged.is_set() else min(wait * 2, MOST_WAIT)
            self._acknowledged.clear()
            await asyncio.sleep(wait)
            self._on_change()
            self._missed()

    async def close(self) -> None:
        await self._background.cancel()


async def _tell(session: UpstreamSession, method: str, uri: str) -> None:
    if not session.peer.offers("resources", "subscribe"):
        return
    try:
        await session.request(method, {"uri": uri})
    except ProtocolError as error:
        if error.code != METHOD_NOT_FOUND:
            log.warning("%s: %s %s: %s", session.server, method, uri, error)
    except LinkError as error:
        log.debug("%s: %s %s: %s", session.server, method, uri, error)
