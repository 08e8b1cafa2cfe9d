"""In which process something lives that there is to be one of. Knows not what it is.

Among the workers of a machine a file decides, locked by whoever has the thing: the system lets go
of it when that process ends. Among all that share a store, a lease does, which is extended while
its holder lives; while the store is away everything stays where it is known to be.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
from time import monotonic
from typing import Protocol

from toolyard.store.interface import Lease, Store, StoreError

LASTS, EXTENDED = 3.0, 0.8
BELIEVED = 1.0  # who has a thing elsewhere, by the store
NAMED_WITHIN, AGAIN = 1.0, 0.01
_LONGEST = 64


class NoHome(Exception):
    """Nobody is known to have it, and we cannot take it now."""


class Homes(Protocol):
    async def find(self, thing: str) -> str | None:
        """The process that has it; None: we have it, from now on. Raises NoHome."""

    def gone(self, thing: str) -> None:
        """Who had it cannot be reached: look anew."""

    async def close(self) -> None: ...


class FolderHomes:
    """Among those who share a folder."""

    def __init__(self, folder: str, name: str) -> None:
        self._folder = folder
        self._name = name.encode()
        self._held: dict[str, int] = {}  # the file that is locked
        self._known: dict[str, str] = {}

    async def find(self, thing: str) -> str | None:
        if thing in self._held:
            return None
        known = self._known.get(thing)
        return known if known is not None else await self._look(thing)

    async def _look(self, thing: str) -> str | None:
        until = monotonic() + NAMED_WITHIN
        while monotonic() < until:
            file = os.open(
                os.path.join(self._folder, f"home-{thing}"), os.O_RDWR | os.O_CREAT, 0o600
            )
            if _locked(file):
                os.pwrite(file, self._name, 0)
                self._held[thing] = file
                return None
            name = os.pread(file, _LONGEST, 0)
            os.close(file)
            if name and name != self._name:
                self._known[thing] = name.decode()
                return self._known[thing]
            await asyncio.sleep(AGAIN)  # it has just been locked, and not named yet
        raise NoHome("another worker has it, and does not say which")

    def gone(self, thing: str) -> None:
        self._known.pop(thing, None)

    async def close(self) -> None:
        for file in self._held.values():
            os.close(file)
        self._held.clear()


def _locked(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


class StoreHomes:
    """Among all that share a store."""

    def __init__(self, store: Store, name: str) -> None:
        self._store = store
        self._name = name
        self._held: dict[str, Lease] = {}
        self._known: dict[str, tuple[str, float]] = {}
        self._extending: asyncio.Task[None] | None = None

    async def find(self, thing: str) -> str | None:
        if thing in self._held:
            return None
        name, read = self._known.get(thing, ("", 0.0))
        if name and (monotonic() - read < BELIEVED or not self._store.condition.reachable):
            return name
        try:
            return await self._look(thing)
        except StoreError as error:
            raise NoHome(str(error)) from None

    async def _look(self, thing: str) -> str | None:
        lease = await self._store.take(_lease_of(thing), self._name, LASTS)
        if lease is not None:
            self._held[thing] = lease
            self._known.pop(thing, None)
            if self._extending is None:
                self._extending = asyncio.create_task(self._extend())
            return None
        held = await self._store.held(_lease_of(thing))
        if held is None:
            raise NoHome("it is between two processes at this moment")
        self._known[thing] = (held.holder, monotonic())
        return held.holder

    async def _extend(self) -> None:
        while True:
            await asyncio.sleep(EXTENDED)
            things = list(self._held)
            try:
                leases = await self._store.renew([self._held[thing] for thing in things], LASTS)
            except StoreError:
                continue  # nobody can take it now; when the store is back, it is seen who has it
            for thing, lease in zip(things, leases, strict=True):
                if lease is None:
                    lease = await self._taken_again(thing)
                if lease is None:
                    del self._held[thing]
                else:
                    self._held[thing] = lease

    async def _taken_again(self, thing: str) -> Lease | None:
        """The store may have forgotten it."""
        try:
            return await self._store.take(_lease_of(thing), self._name, LASTS)
        except StoreError:
            return self._held[thing]

    def gone(self, thing: str) -> None:
        self._known.pop(thing, None)

    async def close(self) -> None:
        if self._extending is not None:
            self._extending.cancel()
            await asyncio.gather(self._extending, return_exceptions=True)
        for lease in self._held.values():
            try:
                await self._store.release(lease)
            except StoreError:
                break  # they end by themselves
        self._held.clear()


def _lease_of(thing: str) -> str:
    return f"home:{thing}"
