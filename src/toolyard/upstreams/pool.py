"""All upstreams: started on first use, shared by every name with the same definition."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import replace

from toolyard.catalog.listing import Listing
from toolyard.protocol.call import Call, Channel, JsonObject
from toolyard.telemetry import logger
from toolyard.upstreams.connections import Downstream
from toolyard.upstreams.definition import ServerDefinition
from toolyard.upstreams.health import Health
from toolyard.upstreams.link.link import Down, LinkError
from toolyard.upstreams.setup import Setup
from toolyard.upstreams.target import PoolTargets
from toolyard.upstreams.upstream import ANYBODY, Upstream

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

    async def subscribe(
        self, uri: str, call: Call, channel: Channel, changed: Callable[[], None]
    ) -> Callable[[], None]:
        raise Down("is not defined any more")

    def told(self, error: LinkError) -> str:
        return str(error)


GONE = Gone()


class Pool:
    def __init__(self, definitions: Iterable[ServerDefinition], setup: Setup | None = None) -> None:
        self._setup = setup or Setup()
        self._by_identity: dict[str, Upstream] = {}
        self._by_name: dict[str, tuple[ServerDefinition, Upstream]] = {}
        self._callbacks: list[Callable[[str], None]] = []
        # Not defined any more, and not closed yet because a call may still use it.
        self._retired: set[Upstream] = set()
        self._closing: set[asyncio.Task[None]] = set()
        self._sweeper: asyncio.TimerHandle | None = None
        self._closed = False
        self.targets = self.update(definitions)

    def update(self, definitions: Iterable[ServerDefinition]) -> PoolTargets:
        """The registry has changed: what is defined as before goes on undisturbed.

        The targets that it gives are those of these definitions, and stay so.
        """
        known, by_identity, by_name = dict(self._by_identity), dict[str, Upstream](), {}
        for definition in definitions:
            key = _key(definition)
            upstream = by_identity.get(key) or known.pop(key, None) or self._new(definition)
            by_identity[key] = upstream
            upstream.keep_to_itself(definition.secrets)
            by_name[definition.name] = (definition, upstream)
        # Replaced and never edited: catalogs are made from it in a thread.
        self._by_identity, self._by_name = by_identity, by_name
        for gone in known.values():
            self._retired.add(gone)
            task = asyncio.get_running_loop().create_task(self._retire(gone))
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)
        peers = {name: upstream for name, (_, upstream) in by_name.items()}
        self.targets = PoolTargets(lambda server: peers.get(server, GONE))
        return self.targets

    async def _retire(self, gone: Upstream) -> None:
        """Stop what is not defined any more, once the calls that still use it are done."""
        await asyncio.sleep(self._setup.retire_after)
        while gone.busy and not self._closed:
            await asyncio.sleep(RETIRED_LOOK)
        await gone.close()
        self._retired.discard(gone)

    def _new(self, definition: ServerDefinition) -> Upstream:
        return Upstream(
            definition, self._setup, lambda: self._announce(_key(definition)), self._sweep_later
        )

    # -- what the catalog needs --------------------------------------------------------

    def servers(self) -> tuple[str, ...]:
        return tuple(self._by_name)

    def definition(self, server: str) -> ServerDefinition | None:
        found = self._by_name.get(server)
        return None if found is None else found[0]

    async def listing(
        self, server: str, client: Downstream = ANYBODY, *, anew: bool = False
    ) -> Listing:
        """What the server lists; with `error` set, what it last listed. Never raises for it.

        `anew`: whatever is known was listed to somebody else.
        """
        try:
            listed = await self._named(server).listing(client, anew=anew)
        except Down as gone:
            return Listing(server, error=str(gone))
        return replace(listed, server=server)

    async def live(self, server: str, client: Downstream = ANYBODY) -> Listing:
        """What the server lists on a connection that is open: another start may list otherwise."""
        try:
            await self._named(server).open(client)
        except LinkError as error:
            return Listing(server, error=str(error))
        return await self.listing(server, client)

    def known_listing(self, server: str, client: Downstream = ANYBODY) -> Listing | None:
        """What it last listed, from memory or disk: starts nothing, waits for nothing."""
        found = self._by_name.get(server)
        listed = found[1].known_listing(client) if found is not None else None
        return None if listed is None else replace(listed, server=server)

    def lists_apart(self, server: str, client: Downstream) -> bool:
        """May it list something else to this client than to everybody?"""
        found = self._by_name.get(server)
        return found is not None and found[1].lists_apart(client)

    def doubted(self, server: str, client: Downstream) -> bool:
        """Has something happened since it listed, that may have changed the list?"""
        found = self._by_name.get(server)
        return found is not None and found[1].doubted(client)

    def is_up(self, server: str, client: Downstream) -> bool:
        """Is there a connection over which it can be asked what it lists to this client?"""
        found = self._by_name.get(server)
        return found is not None and found[1].is_up(client)

    def expire(self) -> None:
        """Somebody lists: what is older than its server said is announced as changed."""
        for upstream in self._by_identity.values():
            upstream.expire()

    def on_change(self, callback: Callable[[str], None]) -> None:
        """`callback(server)` when its listing may have changed, or it went up or down."""
        self._callbacks.append(callback)

    def _announce(self, key: str) -> None:
        names = [name for name, (one, _) in self._by_name.items() if _key(one) == key]
        for name in names:
            for callback in self._callbacks:
                callback(name)

    def _named(self, server: str) -> Upstream:
        found = self._by_name.get(server)
        if found is None:
            raise Down("is not defined any more")
        return found[1]

    def roots_changed(self, session_key: str) -> None:
        """A client session has other roots now: tell the upstreams that know them."""
        for upstream in self._by_identity.values():
            upstream.roots_changed(session_key)

    # -- how they are doing ------------------------------------------------------------

    def health(self) -> tuple[Health, ...]:
        return tuple(
            replace(upstream.health(), server=name) for name, (_, upstream) in self._by_name.items()
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
        for task in self._closing:
            task.cancel()
        await asyncio.gather(*self._closing, return_exceptions=True)
        ends = [upstream.close() for upstream in (*self._by_identity.values(), *self._retired)]
        await asyncio.gather(*ends)
        await self._setup.http.close()


def _key(definition: ServerDefinition) -> str:
    """A disabled definition, or one with another time limit, behaves differently."""
    return f"{definition.identity}:{definition.disabled}:{definition.timeout}"
