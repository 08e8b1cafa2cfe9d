"""What we have put into which file: enough to take it back, byte for byte. One file each."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from toolyard.clients.ourselves import URLS
from toolyard.files.documents.document import Addition
from toolyard.files.documents.splices import Splice
from toolyard.files.documents.spots import Spot
from toolyard.files.objects import read_object
from toolyard.files.removing import remove
from toolyard.files.whole import write_whole


@dataclass(frozen=True, slots=True)
class LinkRecord:
    """One server of ours in one file of a client."""

    client: str
    name: str
    path: str
    additions: tuple[Addition, ...]
    splices: tuple[Splice, ...]
    # Hashes of the file without and with it.
    before: str
    after: str
    # The file is ours, and these folders, the innermost first.
    made_file: bool = False
    made_folders: tuple[str, ...] = ()
    # So is the container of the entry.
    made_container: bool = False

    @property
    def urls(self) -> tuple[str, ...]:
        """The address of the server, where it is not one that the client starts."""
        entry = self.additions[-1].entry
        return tuple(entry[key] for key in URLS if key in entry)


def hash_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class LinkRecords:
    """The records of one machine's user."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def all(self) -> Iterator[LinkRecord]:
        if os.path.isdir(self.folder):
            for entry in sorted(os.listdir(self.folder)):
                if entry.endswith(".json"):
                    yield _loaded(read_object(os.path.join(self.folder, entry)))

    def at(self, path: str) -> list[LinkRecord]:
        """Everything of ours in one file."""
        real = os.path.realpath(path)
        return [record for record in self.all() if os.path.realpath(record.path) == real]

    def find(self, path: str, name: str) -> LinkRecord | None:
        file = self._file(path, name)
        return _loaded(read_object(file)) if os.path.isfile(file) else None

    def keep(self, record: LinkRecord) -> None:
        """Raises OSError."""
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        write_whole(self._file(record.path, record.name), _dumped(record))

    def forget(self, record: LinkRecord) -> None:
        remove(self._file(record.path, record.name))

    def _file(self, path: str, name: str) -> str:
        key = hash_of(f"{os.path.realpath(path)}\0{name}".encode("utf-8", "surrogateescape"))
        return os.path.join(self.folder, f"{key[:32]}.json")


def _dumped(record: LinkRecord) -> bytes:
    splices = [[s.at, _text(s.old), _text(s.new)] for s in record.splices]
    document = {
        "client": record.client,
        "name": record.name,
        "path": record.path,
        "additions": [
            [list(a.spot.path), a.spot.name, a.spot.key, a.entry] for a in record.additions
        ],
        "splices": splices,
        "before": record.before,
        "after": record.after,
        "madeFile": record.made_file,
        "madeFolders": list(record.made_folders),
        "madeContainer": record.made_container,
    }
    return json.dumps(document, indent=1).encode()


def _loaded(raw: dict[str, Any]) -> LinkRecord:
    return LinkRecord(
        raw["client"],
        raw["name"],
        raw["path"],
        tuple(
            Addition(Spot(tuple(path), name, key), entry)
            for path, name, key, entry in raw["additions"]
        ),
        tuple(Splice(at, _bytes(old), _bytes(new)) for at, old, new in raw["splices"]),
        raw["before"],
        raw["after"],
        raw["madeFile"],
        tuple(raw["madeFolders"]),
        raw["madeContainer"],
    )


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _bytes(text: str) -> bytes:
    return base64.b64decode(text)
