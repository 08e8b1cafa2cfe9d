"""Where credentials are kept: encrypted, a file each, readable by nobody else.

Knows nothing about what is inside.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import stat
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from functools import cached_property
from pathlib import Path
from typing import Protocol

import orjson

from toolyard.errors import ConfigError
from toolyard.files.stamp import Stamp, stamp
from toolyard.files.whole import alone_in, create_whole, try_lock, write_whole
from toolyard.protocol.call import JsonObject
from toolyard.store.seal import Seal, Unopened

LOCK_WITHIN, LOCK_AGAIN = 60.0, 0.05
_SUFFIX = ".sealed"


class Vault(Protocol):
    """A small map from text to JSON objects."""

    def get(self, key: str) -> JsonObject | None: ...
    def put(self, key: str, value: JsonObject) -> None: ...
    def drop(self, key: str) -> None: ...
    def keys(self) -> Iterator[str]: ...

    async def look(self, key: str, *, anew: bool = False) -> None:
        """What other processes have written is known from here on; `anew`: at this moment.

        Raises StoreError.
        """

    def alone(self, key: str) -> AbstractAsyncContextManager[None]:
        """One process at a time. Raises TimeoutError, OSError and StoreError."""

    async def written(self) -> None:
        """Other processes know what was put, as far as they can be told now."""

    async def close(self) -> None: ...


class MemoryVault:
    """Kept until the process ends."""

    def __init__(self) -> None:
        self._values: dict[str, bytes] = {}

    def get(self, key: str) -> JsonObject | None:
        text = self._values.get(key)
        return None if text is None else dict(orjson.loads(text))

    def put(self, key: str, value: JsonObject) -> None:
        self._values[key] = orjson.dumps(value)

    def drop(self, key: str) -> None:
        self._values.pop(key, None)

    def keys(self) -> Iterator[str]:
        return iter(tuple(self._values))

    async def look(self, key: str, *, anew: bool = False) -> None:
        """Nobody else writes."""

    async def written(self) -> None:
        """It was when it was put."""

    def alone(self, key: str) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    async def close(self) -> None:
        """Nothing is open."""


class SealedVault:
    """A folder of sealed files beside the key that seals them."""

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder)
        # Path -> (what the file was when it was read, its content): another process may write.
        self._read: dict[Path, tuple[Stamp, JsonObject]] = {}

    def get(self, key: str) -> JsonObject | None:
        path = self._path(key)
        version = stamp(str(path))
        if version is None:
            self._read.pop(path, None)
            return None
        cached = self._read.get(path)
        if cached is None or cached[0] != version:
            content = self._open(path)
            if content is None or content["key"] != key:
                return None
            cached = self._read[path] = (version, content["value"])
        return cached[1]

    def put(self, key: str, value: JsonObject) -> None:
        path = self._path(key)
        plain = orjson.dumps({"key": key, "value": value})
        write_whole(str(path), self._seal.close(plain, path.name.encode()))
        self._read.pop(path, None)

    async def look(self, key: str, *, anew: bool = False) -> None:
        """Files are looked at each time."""

    async def written(self) -> None:
        """It was when it was put."""

    async def close(self) -> None:
        """Nothing is open."""

    @asynccontextmanager
    async def alone(self, key: str) -> AsyncIterator[None]:
        """A lock file beside it: the system lets go of it when its process ends."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = str(self._path(key).with_suffix(".lock"))
        async with asyncio.timeout(LOCK_WITHIN):
            while (lock := try_lock(path)) is None:
                await asyncio.sleep(LOCK_AGAIN)
        try:
            yield
        finally:
            os.close(lock)

    def drop(self, key: str) -> None:
        path = self._path(key)
        self._read.pop(path, None)
        path.unlink(missing_ok=True)

    def keys(self) -> Iterator[str]:
        for path in sorted(self._folder.glob(f"*{_SUFFIX}")):
            content = self._open(path)
            if content is not None:
                yield content["key"]

    def _path(self, key: str) -> Path:
        return self._folder / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}{_SUFFIX}"

    def _open(self, path: Path) -> JsonObject | None:
        """None for what this key did not seal: damaged, or moved from another file."""
        try:
            plain = self._seal.open(path.read_bytes(), path.name.encode())
        except (OSError, Unopened):
            return None
        return dict(orjson.loads(plain))

    @cached_property
    def _seal(self) -> Seal:
        return Seal([self._key()])

    def _key(self) -> bytes:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self._folder / "key"
        key = os.urandom(32)
        try:
            create_whole(str(path), key)
        except FileExistsError:
            return _private_bytes(path) or self._made_anew(path, key)
        return key

    def _made_anew(self, path: Path, key: bytes) -> bytes:
        """A disk was full when the key was to be written: nothing has been sealed with it."""
        with alone_in(str(self._folder)):
            existing = _private_bytes(path)
            if not existing:
                write_whole(str(path), key)
            return existing or key


def _private_bytes(path: Path) -> bytes:
    """The key, if nobody else can have read or written it."""
    status = path.lstat()
    if not stat.S_ISREG(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o077:
        raise ConfigError.at(str(path), "must be a file of yours that only you can read (0600)")
    key = path.read_bytes()
    if len(key) not in (0, 32):
        raise ConfigError.at(str(path), "is not a key; remove its folder to log in again")
    return key
