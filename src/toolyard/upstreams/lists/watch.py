"""What many want to hear of one upstream, asked for once over its shared connection.

Handshake era: `resources/subscribe` for each URI. Modern: one `subscriptions/listen` for all.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeAlias

from toolyard.errors import METHOD_NOT_FOUND, ProtocolError
from toolyard.protocol.call import JsonObject
from toolyard.protocol.kinds import SPELLED
from toolyard.telemetry import logger
from toolyard.upstreams.link.link import LinkError, Refusal
from toolyard.upstreams.session import UpstreamSession

log = logger("upstreams")
Changed: TypeAlias = Callable[[], None]

FIRST_WAIT, MOST_WAIT = 1.0, 30.0
ACKNOWLEDGED_WITHIN = 5.0


class ChangeWatch:
    """`changed` is called when any list may have changed."""

    def __init__(self, changed: Changed) -> None:
        self._changed = changed
        self._by_uri: dict[str, list[Changed]] = {}
        self._session: UpstreamSession | None = None
        self._listening: asyncio.Task[None] | None = None
        self._acknowledged = asyncio.Event()
        self._one_at_a_time = asyncio.Lock()
        self._asking = asyncio.Lock()
        self._asked_for: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def wanted(self) -> bool:
        return bool(self._by_uri)

    # -- who wants what ----------------------------------------------------------------

    async def add(self, uri: str, changed: Changed) -> None:
        holders = self._by_uri.setdefault(uri, [])
        holders.append(changed)
        async with self._asking:  # whoever comes second waits until the first is heard
            if uri not in self._asked_for:
                self._asked_for.add(uri)
                await self._ask_for(uri)

    async def remove(self, uri: str, changed: Changed) -> None:
        holders = self._by_uri.get(uri, [])
        holders.remove(changed)
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
            self._spawn(self._listen_anew(session))
        else:
            for uri in self._by_uri:
                self._spawn(_tell(session, "resources/subscribe", uri))
        if again:
            self._missed()

    def _missed(self) -> None:
        """Nobody was listening for a while: anything may have changed."""
        for uri in tuple(self._by_uri):
            self._tell_holders(uri)

    def heard(self, method: str, params: JsonObject) -> None:
        if method.endswith("/list_changed"):
            self._changed()
        elif method == "notifications/resources/updated":
            self._tell_holders(str(params.get("uri")))
        elif method == "notifications/subscriptions/acknowledged":
            self._acknowledged.set()

    def _tell_holders(self, uri: str) -> None:
        for changed in tuple(self._by_uri.get(uri, ())):
            changed()

    # -- the modern listen -------------------------------------------------------------

    async def _listen_anew(self, session: UpstreamSession) -> None:
        """Open a listen for what is wanted now; the older one ends when this one has begun."""
        async with self._one_at_a_time:
            older, self._listening = self._listening, None
            wanted = self._filter(session)
            if wanted:
                self._acknowledged.clear()
                self._listening = self._spawn(self._keep_listening(session, wanted))
                await self._until_acknowledged()
            if older is not None:
                older.cancel()

    def _filter(self, session: UpstreamSession) -> JsonObject:
        wanted: JsonObject = {
            spelled.filter: True
            for spelled in SPELLED.values()
            if session.peer.offers(spelled.family, "listChanged")
        }
        if self._by_uri:
            wanted["resourceSubscriptions"] = sorted(self._by_uri)
        return wanted

    async def _until_acknowledged(self) -> None:
        try:
            async with asyncio.timeout(ACKNOWLEDGED_WITHIN):
                await self._acknowledged.wait()
        except TimeoutError:
            log.debug("an upstream did not acknowledge subscriptions/listen")

    async def _keep_listening(self, session: UpstreamSession, wanted: JsonObject) -> None:
        wait = FIRST_WAIT
        while session.link.lost is None:
            try:
                await session.listen(wanted)
            except (ProtocolError, Refusal) as error:
                log.debug("%s: subscriptions/listen: %s", session.server, error)
                self._acknowledged.set()
                return
            except LinkError as error:
                log.debug("%s: its notifications ended: %s", session.server, error)
            wait = FIRST_WAIT if self._acknowledged.is_set() else min(wait * 2, MOST_WAIT)
            self._acknowledged.clear()
            await asyncio.sleep(wait)
            self._changed()
            self._missed()

    # -- the end -----------------------------------------------------------------------

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def close(self) -> None:
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


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
