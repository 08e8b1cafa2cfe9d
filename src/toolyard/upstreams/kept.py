"""What is remembered of an upstream, and its last listing on disk: a start needs no upstream."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import orjson

from toolyard.catalog.listing import Listing
from toolyard.durable import write_whole
from toolyard.protocol.call import Json, JsonObject
from toolyard.protocol.codec import dumps, exact
from toolyard.telemetry import logger
from toolyard.upstreams.greeting import Era

log = logger("upstreams")
FORMAT = 1


@dataclass(slots=True)
class Learnt:
    """What connecting has taught us about an upstream: it is not asked twice."""

    era: Era | None = None
    transport: str | None = None


@dataclass(frozen=True, slots=True)
class Kept:
    listing: Listing
    learnt: Learnt


def kept_folder(registry: str) -> Path:
    """Where listings of upstreams are kept: beside the file, else in the user's cache."""
    folder = Path(registry).resolve().parent
    if os.access(folder, os.W_OK):
        return folder / ".registry" / "upstreams"
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(cache) / "toolyard" / "upstreams"


class KeptListings:
    """A folder with a file for each definition. Without a folder nothing is kept."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def load(self, identity: str, server: str) -> Kept | None:
        if self._folder is None:
            return None
        try:
            value = exact((self._folder / f"{identity}.json").read_bytes())
        except (OSError, ValueError):
            return None
        return _read(value, server)

    def save(self, identity: str, kept: Kept) -> None:
        if self._folder is None:
            return
        path = self._folder / f"{identity}.json"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            write_whole(str(path), _written(kept), sync=False)
        except (OSError, TypeError) as error:
            log.warning("the listing of %s was not kept: %s", kept.listing.server, error)


def _written(kept: Kept) -> bytes:
    listing = kept.listing
    return dumps(
        {
            "format": FORMAT,
            "server": listing.server,
            "era": kept.learnt.era,
            "transport": kept.learnt.transport,
            "revision": listing.revision,
            "capabilities": listing.capabilities,
            "tools": listing.tools,
            "resources": listing.resources,
            "templates": listing.templates,
            "prompts": listing.prompts,
        },
        orjson.OPT_INDENT_2,
    )


def _read(value: Json, server: str) -> Kept | None:
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        return None
    revision = value.get("revision")
    capabilities = value.get("capabilities")
    listing = Listing(
        server=server,
        tools=_objects(value.get("tools")),
        resources=_objects(value.get("resources")),
        templates=_objects(value.get("templates")),
        prompts=_objects(value.get("prompts")),
        capabilities=capabilities if isinstance(capabilities, dict) else {},
        revision=revision if isinstance(revision, str) else None,
    )
    era, transport = value.get("era"), value.get("transport")
    return Kept(
        listing,
        Learnt(
            era if era in ("modern", "handshake") else None,
            transport if isinstance(transport, str) else None,
        ),
    )


def _objects(value: Json) -> tuple[JsonObject, ...]:
    return (
        tuple(item for item in value if isinstance(item, dict)) if isinstance(value, list) else ()
    )
