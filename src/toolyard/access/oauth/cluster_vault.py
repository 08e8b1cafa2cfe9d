"""Credentials in a store that all processes share, sealed with the cluster's key.

What was read is believed for some seconds, so that a call costs no trip. Whoever renews a login
holds its lease, reads it anew first, and has written it before others may: of all processes one
uses a refresh token, once.

    get    what is known here; where that is nothing, or old, it is read beside
    look   the same, and waits for it
    put    known here at once, and written beside; while the store is away, as soon as it is back
    alone  look, then whatever is done, then everything is written, then others

A store may come back empty. What is known here is then written again, where nothing is, before
anybody reads.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from time import monotonic
from typing import NamedTuple

import orjson

from toolyard.protocol.call import JsonObject
from toolyard.store.interface import ABSENT, Lease, Store, StoreError
from toolyard.store.seal import Seal, Unopened
from toolyard.telemetry import logger

log = logger("auth")
BELIEVED = 5.0
LASTS = 400 * 24 * 3600.0  # a login that nobody has renewed for so long is forgotten
# Longer than a renewal may take: what a process that was killed held, others have to wait for.
HELD, WITHIN, AGAIN = 45.0, 60.0, 0.05
MOST_KNOWN = 10_000


class _Copy(NamedTuple):
    value: JsonObject | None
    read: float


class ClusterVault:
    def __init__(self, store: Store, seal: Seal) -> None:
        self._store = store
        self._seal = seal
        self._known: dict[str, _Copy] = {}  # those used last come last
        self._unwritten: dict[str, JsonObject | None] = {}
        self._reading: dict[str, asyncio.Task[None]] = {}
        self._writing: asyncio.Task[None] | None = None
        self._in_doubt = False  # it may have come back empty
        store.on_return(self._returned)

    # -- reading -----------------------------------------------------------------------

    def get(self, key: str) -> JsonObject | None:
        if self._is_old(key):
            self._read_beside(key)
        copy = self._known.get(key)
        return None if copy is None else copy.value

    async def look(self, key: str, *, anew: bool = False) -> None:
        """Raises StoreError where nothing is known of it."""
        copy = self._known.get(key)
        # Nothing is not believed: somebody may just have logged in elsewhere.
        if not anew and copy is not None and copy.value is not None and not self._is_old(key):
            return
        try:
            await self.written()
            await self._read(key)
        except StoreError:
            if key not in self._known:
                raise

    def keys(self) -> Iterator[str]:
        return iter([key for key, copy in self._known.items() if copy.value is not None])

    def _is_old(self, key: str) -> bool:
        copy = self._known.get(key)
        return copy is None or (monotonic() - copy.read > BELIEVED and key not in self._unwritten)

    def _read_beside(self, key: str) -> None:
        if key not in self._reading:
            task = self._reading[key] = asyncio.get_running_loop().create_task(self._try(key))
            task.add_done_callback(lambda _: self._reading.pop(key, None))

    async def _try(self, key: str) -> None:
        try:
            await self.look(key)
        except StoreError:
            pass  # whoever needs it is told

    async def _read(self, key: str) -> None:
        began = monotonic()
        (record,) = await self._store.read(_name(key))
        if key not in self._unwritten:  # else what is here is newer
            self._note(key, None if record is None else self._opened(key, record.value), began)

    def _opened(self, key: str, sealed: bytes) -> JsonObject | None:
        try:
            return dict(orjson.loads(self._seal.open(sealed, _name(key).encode())))
        except Unopened:
            log.error("a login in the store was sealed with another cluster key")
            return None

    def _note(self, key: str, value: JsonObject | None, read: float) -> None:
        self._known.pop(key, None)
        self._known[key] = _Copy(value, read)
        while len(self._known) > MOST_KNOWN:
            del self._known[next(iter(self._known))]

    # -- writing -----------------------------------------------------------------------

    def put(self, key: str, value: JsonObject) -> None:
        self._change(key, value)

    def drop(self, key: str) -> None:
        self._change(key, None)

    def _change(self, key: str, value: JsonObject | None) -> None:
        self._note(key, value, monotonic())
        self._unwritten[key] = value
        self._write_beside()

    def _write_beside(self) -> None:
        if self._writing is None:
            self._writing = asyncio.get_running_loop().create_task(self._write())

    async def _write(self) -> None:
        try:
            while self._in_doubt or self._unwritten:
                if self._in_doubt:
                    await self._restore()
                for key, value in tuple(self._unwritten.items()):
                    await self._write_one(key, value)
        except StoreError as error:
            log.warning("logins are not in the store yet: %s", error)
        finally:
            self._writing = None

    async def _write_one(self, key: str, value: JsonObject | None) -> None:
        if value is None:
            await self._store.erase(_name(key))
        else:
            await self._store.write(_name(key), self._sealed(key, value), LASTS)
        if self._unwritten.get(key, ...) is value:
            del self._unwritten[key]

    def _sealed(self, key: str, value: JsonObject) -> bytes:
        return self._seal.close(orjson.dumps(value), _name(key).encode())

    async def written(self) -> None:
        """As far as the store takes it now."""
        if self._unwritten or self._in_doubt:
            self._write_beside()
        if self._writing is not None:
            await asyncio.wait([self._writing])

    def _returned(self) -> None:
        self._in_doubt = True
        self._write_beside()

    async def _restore(self) -> None:
        self._in_doubt = False
        copies = [(key, copy.value) for key, copy in self._known.items()]
        try:
            for key, value in copies:
                if value is not None and key not in self._unwritten:
                    sealed = self._sealed(key, value)
                    await self._store.write(_name(key), sealed, LASTS, version=ABSENT)
        except StoreError:
            self._in_doubt = True
            raise

    # -- one at a time -----------------------------------------------------------------

    @asynccontextmanager
    async def alone(self, key: str) -> AsyncIterator[None]:
        """Raises TimeoutError, and StoreError."""
        lease = await self._lease(_name(key))
        try:
            await self.written()
            await self._read(key)
            yield
        finally:
            await self.written()
            try:
                await self._store.release(lease)
            except StoreError:
                pass  # it ends by itself

    async def _lease(self, name: str) -> Lease:
        holder = os.urandom(8).hex()
        async with asyncio.timeout(WITHIN):
            while (lease := await self._store.take(name, holder, HELD)) is None:
                await asyncio.sleep(AGAIN)
        return lease

    async def close(self) -> None:
        reading = list(self._reading.values())
        for task in reading:
            task.cancel()
        await asyncio.gather(*reading, return_exceptions=True)
        await self.written()


def _name(key: str) -> str:
    """The store need not know whose login it is, and where."""
    return f"login:{{{hashlib.sha256(key.encode()).hexdigest()[:32]}}}"
