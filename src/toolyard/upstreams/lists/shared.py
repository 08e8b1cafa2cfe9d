"""What is remembered about upstreams, in a store: a new replica lists without asking them.

Beside the folder on disk, which is at hand sooner. Sealed: whoever can write to the store cannot
put words into the mouth of a server.
"""

from __future__ import annotations

import asyncio

from toolyard.store.interface import Store, StoreError
from toolyard.store.seal import Seal, Unopened
from toolyard.upstreams.background import Background
from toolyard.upstreams.lists.disk import RecordFolder, UpstreamRecord, read_record, written

LASTS = 30 * 24 * 3600.0


class SharedRecords:
    def __init__(self, folder: RecordFolder, store: Store, seal: Seal) -> None:
        self._folder = folder
        self._store = store
        self._seal = seal
        self._known: dict[str, UpstreamRecord] = {}
        self._writing = Background()
        store.on_return(self._write_again)

    def load(self, identity: str, server: str) -> UpstreamRecord | None:
        return self._folder.load(identity, server)

    async def recall(self, identity: str, server: str) -> UpstreamRecord | None:
        name = _name(identity)
        try:
            (record,) = await self._store.read(name)
            data = None if record is None else self._seal.open(record.value, name.encode())
        except (StoreError, Unopened):
            return None
        return None if data is None else read_record(data, server)

    def save(self, identity: str, memory: UpstreamRecord) -> None:
        self._folder.save(identity, memory)
        self._known[identity] = memory
        self._writing.start(self._write(identity, memory))

    async def _write(self, identity: str, memory: UpstreamRecord) -> None:
        name = _name(identity)
        try:
            sealed = self._seal.close(written(memory), name.encode())
            await self._store.write(name, sealed, LASTS)
        except (StoreError, TypeError):
            pass  # it is written when the store is back; and others can ask the server too

    def _write_again(self) -> None:
        """It may have come back empty."""
        for identity, memory in self._known.items():
            self._writing.start(self._write(identity, memory))

    async def close(self) -> None:
        await asyncio.gather(self._writing.finish(), self._folder.close())


def _name(identity: str) -> str:
    return f"listing:{identity}"
