"""What is remembered about an upstream, with its last listing, and a folder of it on disk."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeAlias

import orjson

from toolyard.catalog.listing import Listing
from toolyard.files.whole import write_whole
from toolyard.protocol.call import Json, JsonObject
from toolyard.protocol.codec import dumps, exact
from toolyard.protocol.kinds import KINDS
from toolyard.protocol.revisions import HANDSHAKE
from toolyard.telemetry import logger
from toolyard.upstreams.definition import Learnt

log = logger("upstreams")
FORMAT = 1


# What is listed in an era to clients that can do what the key says.
ByClient: TypeAlias = Mapping[tuple[bool, str], Listing]


@dataclass(frozen=True, slots=True)
class UpstreamRecord:
    """What is written down about one upstream."""

    listing: Listing  # to clients that can do nothing special
    learnt: Learnt
    by_client: ByClient = field(default_factory=dict)


def record_folder(registry: str) -> Path:
    """Where listings of upstreams are kept: beside the file, else in the user's cache."""
    folder = Path(registry).resolve().parent
    if os.access(folder, os.W_OK):
        return folder / ".registry" / "upstreams"
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(cache) / "toolyard" / "upstreams"


class RecordKeeper(Protocol):
    """Where what was learnt is kept, by the digest of a definition."""

    def load(self, identity: str, server: str) -> UpstreamRecord | None:
        """What is at hand when we start."""

    async def recall(self, identity: str, server: str) -> UpstreamRecord | None:
        """What has to be fetched; asked for where nothing is known."""

    def save(self, identity: str, memory: UpstreamRecord) -> None: ...

    async def close(self) -> None: ...


class RecordFolder:
    """A folder with a file for each definition. Without a folder nothing is kept."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def load(self, identity: str, server: str) -> UpstreamRecord | None:
        if self._folder is None:
            return None
        try:
            return read_record((self._folder / f"{identity}.json").read_bytes(), server)
        except OSError:
            return None

    async def recall(self, identity: str, server: str) -> UpstreamRecord | None:
        """All of it was at hand."""
        return None

    async def close(self) -> None:
        """Nothing is open."""

    def save(self, identity: str, memory: UpstreamRecord) -> None:
        if self._folder is None:
            return
        path = self._folder / f"{identity}.json"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            write_whole(str(path), written(memory, orjson.OPT_INDENT_2), sync=False)
        except (OSError, TypeError) as error:
            log.warning("the listing of %s was not kept: %s", memory.listing.server, error)


def written(memory: UpstreamRecord, option: int = 0) -> bytes:
    learnt = memory.learnt
    by_client = [
        {"modern": modern, "client": client, **_listed(listing)}
        for (modern, client), listing in memory.by_client.items()
    ]
    return dumps(
        {
            "format": FORMAT,
            "server": memory.listing.server,
            "era": None if learnt.modern is None else "modern" if learnt.modern else "handshake",
            "handshake": learnt.handshake,
            "transport": learnt.transport,
            "newest": learnt.newest.date if learnt.newest is not None else None,
            **_listed(memory.listing),
            "others": by_client,
        },
        option,
    )


def _listed(listing: Listing) -> JsonObject:
    return {
        "revision": listing.revision,
        "capabilities": listing.capabilities,
        "instructions": listing.instructions,
        **{kind: getattr(listing, kind) for kind in KINDS},
    }


def read_record(data: bytes, server: str) -> UpstreamRecord | None:
    try:
        value = exact(data)
    except ValueError:
        return None
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        return None
    return UpstreamRecord(
        _read_listing(value, server), _read_learnt(value), _read_by_client(value, server)
    )


def _read_listing(value: JsonObject, server: str) -> Listing:
    revision, capabilities = value.get("revision"), value.get("capabilities")
    instructions = value.get("instructions")
    return Listing(
        server=server,
        tools=_objects(value.get("tools")),
        resources=_objects(value.get("resources")),
        templates=_objects(value.get("templates")),
        prompts=_objects(value.get("prompts")),
        capabilities=capabilities if isinstance(capabilities, dict) else {},
        revision=revision if isinstance(revision, str) else None,
        instructions=instructions if isinstance(instructions, str) else None,
    )


def _read_learnt(value: JsonObject) -> Learnt:
    era, handshake, transport = value.get("era"), value.get("handshake"), value.get("transport")
    return Learnt(
        era == "modern" if era in ("modern", "handshake") else None,
        True if era == "handshake" else handshake if isinstance(handshake, bool) else None,
        transport if isinstance(transport, str) else None,
        HANDSHAKE.get(str(value.get("newest"))),
    )


def _read_by_client(value: JsonObject, server: str) -> ByClient:
    return {
        (item["modern"], item["client"]): _read_listing(item, server)
        for item in _objects(value.get("others"))
        if isinstance(item.get("modern"), bool) and isinstance(item.get("client"), str)
    }


def _objects(value: Json) -> tuple[JsonObject, ...]:
    return (
        tuple(item for item in value if isinstance(item, dict)) if isinstance(value, list) else ()
    )
