"""All upstreams: started on first use, shared by every name with the same definition."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import replace

from toolyard.catalog.listing import Listing
from toolyard.protocol.call import Call, Channel, JsonObject
from toolyard.telemetry import logger
from toolyard.upstreams.background import Background
from toolyard.upstreams.connections import ANYBODY, Downstream
from toolyard.upstreams.definition import ServerDefinition
from toolyard.upstreams.health import Health
from toolyard.upstreams.link.link import Down, LinkError
from toolyard.upstreams.setup import Setup
from toolyard.upstreams.target import PoolTargets
from toolyard.upstreams.upstream import Upstream

log = logger("upstreams")
SWEEPS_PER_IDLE_STOP = 4
# How often a server that is not defined any more is looked at for calls.
RETIRED_LOOK = 0.2


class Gone:
    """Stands in for a server that the registry does not define any more."""

    async def perform(
        self, method: str, params: JsonObject, call: Call, channel: Channel
    ) -> JsonObject:
        raise Down("is not defined any more")

    async def resume(self, task: JsonObject, call: Call, channel: Channel) -> JsonObject:
        raise Down("is not defined any more")

    async def subscribe(
        self, uri: str, call: Call, channel: Channel, changed: Callable[[], None]
    ) -> Callable[[], None]:
        raise Down("is not defined any more")

    def public_text(self, error: LinkError) -> str:
        return str(error)


GONE = Gone()


class Pool:
    """The upstreams of the definitions there are now, and those that are being retired."""

    def __init__(self, definitions: Iterable[ServerDefinition], setup: Setup | None = None) -> None:
        self._setup = setup or Setup()
        self._by_identity: dict[str, Upstream] = {}
        self._by_name: dict[str, tuple[ServerDefinition, Upstream]] = {}
        self._callbacks: list[Callable[[str], None]] = []
        # Not defined any more, and not closed yet because a call may still use it.
        self._retired: set[Upstream] = set()
        self._retirements = Background()
        self._sweeper: asyncio.TimerHandle | None = None
        self._closed = False
        self.targets = self.update(definitions)

    def update(self, definitions: Iterable[ServerDefinition]) -> PoolTargets:
        """The registry has changed: what is defined as before goes on undisturbed.

        The targets that it returns belong to these definitions, and go on doing so.
        """
        former, by_identity, by_name = dict(self._by_identity), dict[str, Upstream](), {}
        for definition in definitions:
            key = _key(definition)
            upstream = by_identity.get(key) or former.pop(key, None) or self._new(definition)
            by_identity[key] = upstream
            upstream.keep_to_itself(definition.secrets)
            by_name[definition.name] = (definition, upstream)
        # Replaced and never edited: catalogs are made from it in a thread.
        self._by_identity, self._by_name = by_identity, by_name
        for leftover in former.values():
            self._retired.add(leftover)
            self._retirements.start(self._retire(leftover))
        peers = {name: upstream for name, (_, upstream) in by_name.items()}
        self.targets = PoolTargets(lambda server: peers.get(server, GONE))
        return self.targets

    async def _retire(self, upstream: Upstream) -> None:
        """Stop what is not defined any more, once the calls that still use it are done."""
        await asyncio.sleep(self._setup.retire_after)
        while upstream.busy and not self._closed:
            await asyncio.sleep(RETIRED_LOOK)
        await upstream.close()
        self._retired.discard(upstream)

    def _new(self, definition: ServerDefinition) -> Upstream:
        return Upstream(
            definition, self._setup, lambda: self._announce(_key(definition)), self._sweep_later
        )

    # -- what the catalog needs --------------------------------------------------------

    def servers(self) -> tuple[str, ...]:
        return tuple(self._by_name)

    def running(self, identity: str) -> Upstream | None:
        """The upstream of a definition, for another process of ours."""
        for definition, upstream in self._by_name.values():
            if definition.identity == identity:
                return upstream
        return None

    def definition(self, server: str) -> ServerDefinition | None:
        entry = self._by_name.get(server)
        return None if entry is None else entry[0]

    async def listing(
        self, server: str, client: Downstream = ANYBODY, *, anew: bool = False
    ) -> Listing:
        """What the server lists; with `error` set, what it last listed. Never raises.

        `anew`: whatever is known was listed to somebody else.
        """
        try:
            listing = await self._named(server).listings.get(client, anew=anew)
        except Down as error:
            return Listing(server, error=str(error))
        return replace(listing, server=server)

    async def live(self, server: str, client: Downstream = ANYBODY) -> Listing:
        """What it lists on a connection that is open: after a restart it may list other things."""
        try:
            await self._named(server).listings.open(client)
        except LinkError as error:
            return Listing(server, error=str(error))
        return await self.listing(server, client)

    def known_listing(self, server: str, client: Downstream = ANYBODY) -> Listing | None:
        """What it last listed, from memory or disk: starts nothing, waits for nothing."""
        entry = self._by_name.get(server)
        listing = entry[1].listings.known(client) if entry is not None else None
        return None if listing is None else replace(listing, server=server)

    def lists_apart(self, server: str, client: Downstream) -> bool:
        """May it list something else to this client than to everybody?"""
        entry = self._by_name.get(server)
        return entry is not None and entry[1].listings.lists_apart(client)

    def doubted(self, server: str, client: Downstream) -> bool:
        """Has something happened since it listed, that may have changed the list?"""
        entry = self._by_name.get(server)
        return entry is not None and entry[1].listings.in_doubt(client)

    def is_up(self, server: str, client: Downstream) -> bool:
        """Is there a connection over which it can be asked what it lists to this client?"""
        entry = self._by_name.get(server)
        return entry is not None and entry[1].listings.is_up(client)

    def expire(self) -> None:
        """A client lists: whatever is older than its server allows is announced as changed."""
        for upstream in self._by_identity.values():
            upstream.expire()

    def on_change(self, callback: Callable[[str], None]) -> None:
        """`callback(server)` when its listing may have changed, or it went up or down."""
        self._callbacks.append(callback)

    def _announce(self, key: str) -> None:
        names = [name for name, (definition, _) in self._by_name.items() if _key(definition) == key]
        for name in names:
            for callback in self._callbacks:
                callback(name)

    def _named(self, server: str) -> Upstream:
        entry = self._by_name.get(server)
        if entry is None:
            raise Down("is not defined any more")
        return entry[1]

    async def retry(self, server: str) -> bool:
        """Have it tried again at once; False where there is no such server."""
        entry = self._by_name.get(server)
        if entry is None:
            return False
        await entry[1].retry()
        return True

    def roots_changed(self, session_key: str) -> None:
        """A client session has other roots now: tell the upstreams that know them."""
        for upstream in self._by_identity.values():
            upstream.roots_changed(session_key)

    # -- how they are doing ------------------------------------------------------------

    def health(self) -> tuple[Health, ...]:
        return tuple(
            replace(upstream.health(), server=name, description=definition.description)
            for name, (definition, upstream) in self._by_name.items()
        )

    # -- the end -----------------------------------------------------------------------

    def _sweep_later(self) -> None:
        if self._sweeper is None and not self._closed:
            interval = self._setup.idle_stop / SWEEPS_PER_IDLE_STOP
            self._sweeper = asyncio.get_running_loop().call_later(interval, self._sweep)

    def _sweep(self) -> None:
        self._sweeper = None
        for upstream in self._by_identity.values():
            upstream.sweep()
        self._sweep_later()

    async def close(self) -> None:
        """Stop every connection; returns when no process is left."""
        self._closed = True
        if self._sweeper is not None:
            self._sweeper.cancel()
        await self._retirements.cancel()
        ends = [upstream.close() for upstream in (*self._by_identity.values(), *self._retired)]
        await asyncio.gather(*ends)
        if self._setup.copies is not None:
            await self._setup.copies.close()
        await self._setup.listing_cache.close()
        await self._setup.http.close()


def _key(definition: ServerDefinition) -> str:
    """A disabled definition, or one with another time limit, behaves differently."""
    return f"{definition.identity}:{definition.disabled}:{definition.timeout}:{definition.copies}"
