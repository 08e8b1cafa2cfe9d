"""The catalog of a cohort: everybody's, and what servers list to these clients and not to all."""

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
from toolyard.sources.cohort_listings import (
    LOOK_AT_LOGINS,
    MOST_COHORTS,
    Cohort,
    CohortListings,
    cohort_of,
)
from toolyard.sources.gateway import GatewaySource
from toolyard.telemetry import logger
from toolyard.upstreams.connections import Downstream, client_of

log = logger("catalog")


class _Built(NamedTuple):
    """A catalog, and what it was made of."""

    shared: Catalog
    listings: Mapping[str, Listing]
    catalog: Catalog


class CohortCatalogs:
    """`hold` keeps to the lock what was read, as it does for everybody's catalog."""

    def __init__(
        self,
        gateway: GatewaySource,
        listings: CohortListings,
        hold: Callable[[Entries], Entries] | None = None,
    ) -> None:
        self._gateway = gateway
        self._listings = listings
        self._hold = hold
        self._built: dict[Cohort, _Built] = {}

    def at_hand(self, catalog: Catalog, call: Call) -> Catalog | None:
        """The one that was built last, or everybody's: who finds nothing there has to ask."""
        if self._gateway.registries.by_login:
            return None
        if not self._built:
            return catalog
        guise = guise_of(call.revision, call.client)
        built = self._built.get(Cohort("", guise.modern, guise.key))
        return built.catalog if built is not None and built.shared is catalog else catalog

    def begin(self, call: Call, session: Session | None) -> None:
        """Ask what this client needs beside everybody's lists, while those are asked for."""
        client, registries = client_of(call, session), self._gateway.registries
        if client.guise.key:
            self._listings.begin(client, self._gateway.needed, registries.by_login)

    async def __call__(self, catalog: Catalog, call: Call, session: Session | None) -> Catalog:
        return await self.of(catalog, client_of(call, session))

    async def of(self, catalog: Catalog, client: Downstream) -> Catalog:
        registries = self._gateway.registries
        answers = await self._listings.of(client, self._gateway.needed, registries.by_login)
        listings = self._other(answers)
        key = cohort_of(client, by_login=bool(registries.by_login))
        if not listings:
            self._built.pop(key, None)
            return catalog
        built = self._built.get(key)
        if built is None or built.shared is not catalog or built.listings != listings:
            catalog_of_cohort = await asyncio.to_thread(self._build, listings, key)
            built = _Built(catalog, listings, catalog_of_cohort)
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

    def _build(self, listings: Mapping[str, Listing], key: Cohort) -> Catalog:
        entries = self._gateway.read_for(listings)
        entries_approved = entries if self._hold is None else self._hold(entries)
        return assemble([entries_approved], key.caller)

    def _keep(self, key: Cohort, built: _Built) -> None:
        before = self._built.pop(key, None)
        earlier_warnings = {*built.shared.warnings, *(before.catalog.warnings if before else ())}
        for warning in built.catalog.warnings:
            if warning not in earlier_warnings:
                log.warning("for %s: %s", key.caller or key.client, warning)
        if len(self._built) >= MOST_COHORTS:
            del self._built[next(iter(self._built))]
        self._built[key] = built

    async def watch(self) -> None:
        """Tell clients when somebody logs in or out, until cancelled."""
        while True:
            await asyncio.sleep(LOOK_AT_LOGINS)
            by_login = self._gateway.registries.by_login
            if by_login:
                self._listings.look(by_login)

    async def close(self) -> None:
        await self._listings.close()


def _differs(listing: Listing, everybody: Listing | None) -> bool:
    if everybody is None:
        return True
    if any(getattr(listing, kind) != getattr(everybody, kind) for kind in KINDS):
        return True
    return listing.completes != everybody.completes
