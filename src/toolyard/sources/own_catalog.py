"""The catalog of one caller: everybody's, and what OAuth servers list for him alone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import NamedTuple

from toolyard.catalog.entries import Entries
from toolyard.catalog.listing import Listing
from toolyard.catalog.snapshot import Catalog, assemble
from toolyard.protocol.call import Caller
from toolyard.sources.gateway import GatewaySource
from toolyard.sources.own import LOOK_AT_LOGINS, MOST_CALLERS, OwnListings
from toolyard.telemetry import logger

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
        self._built: dict[str, _Built] = {}

    @property
    def empty(self) -> bool:
        return not self._gateway.registries.personal

    async def __call__(self, catalog: Catalog, caller: Caller) -> Catalog:
        servers = self._gateway.registries.personal
        if not servers:
            return catalog
        listings = await self._listings.of(caller, servers)
        if not listings:
            self._built.pop(caller.id, None)
            return catalog
        built = self._built.get(caller.id)
        if built is None or built.shared is not catalog or built.listings != listings:
            own = await asyncio.to_thread(self._build, listings, caller)
            built = _Built(catalog, listings, own)
            self._keep(caller, built)
        return built.catalog

    def _build(self, listings: Mapping[str, Listing], caller: Caller) -> Catalog:
        entries = self._gateway.read_own(listings)
        held = entries if self._hold is None else self._hold(entries)
        return assemble([held], caller.id)

    def _keep(self, caller: Caller, built: _Built) -> None:
        before = self._built.pop(caller.id, None)
        known = {*built.shared.warnings, *(before.catalog.warnings if before else ())}
        for warning in built.catalog.warnings:
            if warning not in known:
                log.warning("for %s: %s", caller.id, warning)
        if len(self._built) >= MOST_CALLERS:
            del self._built[next(iter(self._built))]
        self._built[caller.id] = built

    async def watch(self) -> None:
        """Tell clients when somebody logs in or out, until cancelled."""
        while True:
            await asyncio.sleep(LOOK_AT_LOGINS)
            self._listings.look(self._gateway.registries.personal)

    async def close(self) -> None:
        await self._listings.close()
