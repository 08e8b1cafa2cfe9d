"""What we have put into which file: enough to take it back, byte for byte. One file each."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from toolyard.clients.ourselves import URLS
from toolyard.files.documents.document import Addition
from toolyard.files.documents.splices import Splice
from toolyard.files.documents.spots import Spot
from toolyard.files.objects import read_object
from toolyard.files.removing import remove
from toolyard.files.whole import write_whole


class Predecessors(NamedTuple):
    """The servers that ours has taken the place of, and how their bytes went.

    They may hold secrets, which is why they are written down for nothing but to come back.
    """

    entries: tuple[Addition, ...] = ()
    splices: tuple[Splice, ...] = ()


NO_PREDECESSORS = Predecessors()


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
    predecessors: Predecessors = NO_PREDECESSORS

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
    document = {
        "client": record.client,
        "name": record.name,
        "path": record.path,
        "additions": _dumped_additions(record.additions),
        "splices": _dumped_splices(record.splices),
        "before": record.before,
        "after": record.after,
        "madeFile": record.made_file,
        "madeFolders": list(record.made_folders),
        "madeContainer": record.made_container,
        "replaced": {
            "entries": _dumped_additions(record.predecessors.entries),
            "splices": _dumped_splices(record.predecessors.splices),
        },
    }
    # A date, which TOML and YAML have, comes back as a text where its bytes cannot.
    return json.dumps(document, indent=1, default=str).encode()


def _dumped_additions(additions: tuple[Addition, ...]) -> list[Any]:
    return [[list(a.spot.path), a.spot.name, a.spot.key, a.entry] for a in additions]


def _dumped_splices(splices: tuple[Splice, ...]) -> list[Any]:
    return [[s.at, _text(s.old), _text(s.new)] for s in splices]


def _loaded(raw: dict[str, Any]) -> LinkRecord:
    predecessors = raw.get("replaced", {"entries": [], "splices": []})
    return LinkRecord(
        raw["client"],
        raw["name"],
        raw["path"],
        _additions(raw["additions"]),
        _splices(raw["splices"]),
        raw["before"],
        raw["after"],
        raw["madeFile"],
        tuple(raw["madeFolders"]),
        raw["madeContainer"],
        Predecessors(_additions(predecessors["entries"]), _splices(predecessors["splices"])),
    )


def _additions(raw: list[Any]) -> tuple[Addition, ...]:
    return tuple(Addition(Spot(tuple(path), name, key), entry) for path, name, key, entry in raw)


def _splices(raw: list[Any]) -> tuple[Splice, ...]:
    return tuple(Splice(at, _bytes(old), _bytes(new)) for at, old, new in raw)


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _bytes(text: str) -> bytes:
    return base64.b64decode(text)
