"""The catalog of some clients: everybody's, and what servers list to them and not to all."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import NamedTuple

from toolyard.catalog.entries import Entries
from toolyard.catalog.listing import Listing
from toolyard.catalog.snapshot import Catalog, assemble
from toolyard.protocol.call import Call, Session
from toolyard.protocol.guise import guise_of
from toolyard.protocol.kinds import KINDS
from toolyard.sources.gateway import GatewaySource
from toolyard.sources.own import LOOK_AT_LOGINS, MOST_CLIENTS, Asking, OwnListings, asking_of
from toolyard.telemetry import logger
from toolyard.upstreams.connections import Client, client_of

log = logger("catalog")


class _Built(NamedTuple):
    """A catalog, and what it was made of."""

    shared: Catalog
    listings: Mapping[str, Listing]
    catalog: Catalog


class OwnCatalogs:
    """`hold` keeps to the lock what was read, as it does for everybody's catalog."""

    def __init__(
        self,
        gateway: GatewaySource,
        listings: OwnListings,
        hold: Callable[[Entries], Entries] | None = None,
    ) -> None:
        self._gateway = gateway
        self._listings = listings
        self._hold = hold
        self._built: dict[Asking, _Built] = {}

    def at_hand(self, catalog: Catalog, call: Call) -> Catalog | None:
        """The one that was built last, or everybody's: who finds nothing there has to ask."""
        if self._gateway.registries.personal:
            return None
        if not self._built:
            return catalog
        guise = guise_of(call.revision, call.client)
        built = self._built.get(Asking("", guise.modern, guise.key))
        return built.catalog if built is not None and built.shared is catalog else catalog

    def begin(self, call: Call, session: Session | None) -> None:
        """Ask what this client needs beside everybody's lists, while those are asked for."""
        client, registries = client_of(call, session), self._gateway.registries
        if client.guise.key:
            self._listings.begin(client, self._gateway.needed, registries.personal)

    async def __call__(self, catalog: Catalog, call: Call, session: Session | None) -> Catalog:
        return await self.of(catalog, client_of(call, session))

    async def of(self, catalog: Catalog, client: Client) -> Catalog:
        registries = self._gateway.registries
        listed = await self._listings.of(client, self._gateway.needed, registries.personal)
        listings = self._other(listed)
        key = asking_of(client, own=bool(registries.personal))
        if not listings:
            self._built.pop(key, None)
            return catalog
        built = self._built.get(key)
        if built is None or built.shared is not catalog or built.listings != listings:
            own = await asyncio.to_thread(self._build, listings, key)
            built = _Built(catalog, listings, own)
            self._keep(key, built)
        return built.catalog

    def _other(self, listings: Mapping[str, Listing]) -> Mapping[str, Listing]:
        """Those that say something else than what is listed to everybody."""
        everybody = self._gateway.listed()
        return {
            name: listing
            for name, listing in listings.items()
            if _differs(listing, everybody.get(name))
        }

    def _build(self, listings: Mapping[str, Listing], key: Asking) -> Catalog:
        entries = self._gateway.read_own(listings)
        held = entries if self._hold is None else self._hold(entries)
        return assemble([held], key.caller)

    def _keep(self, key: Asking, built: _Built) -> None:
        before = self._built.pop(key, None)
        known = {*built.shared.warnings, *(before.catalog.warnings if before else ())}
        for warning in built.catalog.warnings:
            if warning not in known:
                log.warning("for %s: %s", key.caller or key.client, warning)
        if len(self._built) >= MOST_CLIENTS:
            del self._built[next(iter(self._built))]
        self._built[key] = built

    async def watch(self) -> None:
        """Tell clients when somebody logs in or out, until cancelled."""
        while True:
            await asyncio.sleep(LOOK_AT_LOGINS)
            personal = self._gateway.registries.personal
            if personal:
                self._listings.look(personal)

    async def close(self) -> None:
        await self._listings.close()


def _differs(listing: Listing, other: Listing | None) -> bool:
    if other is None:
        return True
    if any(getattr(listing, kind) != getattr(other, kind) for kind in KINDS):
        return True
    return listing.completes != other.completes
