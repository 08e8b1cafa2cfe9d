"""Results that were too long to be sent whole, on disk: for their caller alone, and for a while.

A file for each, named by an id that nobody can guess, so that every process of the same user can
read what another has kept. The first line says whose it is and how long it is kept.
"""

from __future__ import annotations

import os
import secrets
import time
from dataclasses import dataclass
from typing import NamedTuple

from toolyard.files.removing import remove
from toolyard.files.whole import write_whole
from toolyard.protocol.call import Caller, JsonObject
from toolyard.protocol.codec import dumps, exact

_ID_BYTES = 16
_SUFFIX = ".result"


class KeptResult(NamedTuple):
    text: str
    limit: int  # bytes that may be sent of it at once
    is_json: bool


@dataclass(frozen=True, slots=True)
class KeptResults:
    folder: str
    most_bytes: int
    seconds: float

    def keep(self, caller: Caller, result: KeptResult) -> str:
        """Its id. Raises OSError. What is oldest makes room for it."""
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        header: JsonObject = {
            "caller": caller.id,
            "until": time.time() + self.seconds,
            "limit": result.limit,
            "json": result.is_json,
        }
        data = dumps(header) + b"\n" + result.text.encode()
        self._make_room(len(data))
        key = secrets.token_urlsafe(_ID_BYTES)
        write_whole(self._path(key), data, sync=False)
        return key

    def find(self, caller: Caller, key: str) -> KeptResult | None:
        """None where there is none, where it is somebody else's, and where it has expired."""
        if not key.replace("-", "").replace("_", "").isalnum() or len(key) > 64:
            return None
        try:
            with open(self._path(key), "rb") as file:
                header, text = exact(file.readline()), file.read()
        except (OSError, ValueError):
            return None
        if header["caller"] != caller.id or header["until"] < time.time():
            return None
        return KeptResult(text.decode(), header["limit"], header["json"])

    def _path(self, key: str) -> str:
        return os.path.join(self.folder, key + _SUFFIX)

    def _make_room(self, size: int) -> None:
        now, total = time.time(), size
        with os.scandir(self.folder) as entries:
            files = [(e.stat().st_mtime, e.stat().st_size, e.path) for e in entries if _ours(e)]
        for written, length, path in sorted(files, reverse=True):
            total += length
            if total > self.most_bytes or written + self.seconds < now:
                remove(path)


def _ours(entry: os.DirEntry[str]) -> bool:
    return entry.name.endswith(_SUFFIX) and entry.is_file(follow_symlinks=False)
