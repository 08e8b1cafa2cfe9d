"""Another running gateway behind the page, ours or an agentgateway, with its own registry.

We ask it over MCP what it serves; its registry, from an endpoint or a file, says what is made
from what. Nothing here changes it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from urllib.parse import urlsplit, urlunsplit

from toolyard.catalog.entries import Origin, Tool
from toolyard.catalog.snapshot import Catalog
from toolyard.errors import Problem
from toolyard.files.comments import parse
from toolyard.http.fetching.fetch import FetchError, GuardedFetch
from toolyard.protocol.call import Json, JsonObject
from toolyard.sources.registry.format.formats import to_native
from toolyard.sources.registry.masking import masked
from toolyard.virtual.codec import dumps
from toolyard.web.window import Layer, Shown

SERVER = "gateway"
TOKEN = "TOOLYARD_GATEWAY_TOKEN"
KINDS = {"agentgateway": "agentgateway", "native": "toolyard"}
LONGEST_CHAIN = 100


@dataclass(frozen=True, slots=True)
class Other:
    """A gateway that is not ours, as far as we know it."""

    url: str
    place: str  # where its registry is: a URL or a file
    native: JsonObject | None = None
    kind: str = "MCP server"
    why: str | None = None  # why there is no registry to show

    @property
    def shown(self) -> Shown:
        return Shown(self.url, self.kind, self.place, self.why)

    def entry(self, name: str) -> tuple[JsonObject, str] | None:
        """What its registry says of a tool, and where."""
        for number, tool in enumerate((self.native or {}).get("tools") or []):
            if isinstance(tool, dict) and tool.get("name") == name:
                return tool, f"/tools/{number}"
        return None

    def chain(self, name: str) -> Iterator[tuple[JsonObject, str]]:
        for _ in range(LONGEST_CHAIN):
            entry_and_place = self.entry(name)
            if entry_and_place is None:
                return
            yield entry_and_place
            name = str(entry_and_place[0].get("source") or "")

    def annotated(self, catalog: Catalog) -> Catalog:
        """What it serves, with what its registry says of each tool."""
        tools = {name: self._annotated(tool) for name, tool in catalog.tools.items()}
        return replace(catalog, tools=tools)

    def _annotated(self, tool: Tool) -> Tool:
        chain = [entry for entry, _ in self.chain(tool.name)]
        if not chain:
            return tool
        extra = {
            "chain": tuple(str(entry["name"]) for entry in chain),
            "server": next((e["server"] for e in chain if isinstance(e.get("server"), str)), None),
            "source": chain[-1].get("source"),
            "version": chain[0].get("version"),
            "projected": any(_projects(entry) for entry in chain),
        }
        fields = frozenset(key for entry in chain for key in _hidden_fields(entry))
        return replace(tool, origin=Origin("registry", self.place), extra=extra, hidden=fields)

    def layers(self, tool: Tool) -> tuple[Layer, ...]:
        entries = tuple(
            Layer(f"registry entry {entry['name']}", entry, f"{self.place}#{pointer}")
            for entry, pointer in self.chain(tool.name)
        )
        return (*entries, Layer("the gateway's listing", tool.definition))


def _hidden_fields(entry: Mapping[str, Json]) -> Iterator[str]:
    yield from entry.get("defaults") or {}
    yield from entry.get("hideFields") or []


def _projects(entry: Mapping[str, Json]) -> bool:
    return "outputTransform" in entry or '"source_field"' in dumps(entry.get("outputSchema"))


async def look_at(url: str, place: str | None) -> Other:
    """Read its registry; without one its tools are shown as it lists them."""
    gateway = Other(url, place or _beside(url))
    try:
        raw = parse(await _read(gateway.place))
        if not isinstance(raw, dict):
            raise ValueError("is not a JSON object")
        conversion = to_native(raw, os.getcwd())
    except (ValueError, OSError, FetchError) as error:
        return replace(gateway, why=f"its registry cannot be read from {gateway.place}: {error}")
    kind = KINDS.get(conversion.format, conversion.format)
    return replace(gateway, native=masked(conversion.native), kind=kind)


def _beside(url: str) -> str:
    """Both kinds of gateway have it at /registry."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc, "/registry", "", ""))


async def _read(place: str) -> bytes:
    if "://" not in place:
        with open(place, "rb") as stream:
            return stream.read()
    token = os.environ.get(TOKEN)
    headers = {"Accept": "application/json"} | (
        {"Authorization": f"Bearer {token}"} if token else {}
    )
    answer = await GuardedFetch(place)("GET", place, headers)
    if answer.status != 200:
        raise ValueError(f"it answers {answer.status}")
    return answer.body


@dataclass(frozen=True, slots=True)
class OtherFile:
    """The registry of another gateway as the page shows it: read-only."""

    gateway: Other
    catalog: Catalog

    @property
    def path(self) -> str:
        return self.gateway.place

    def read(self) -> str:
        return dumps(self.gateway.native)

    def save(self, text: str, seen: str) -> None:
        raise PermissionError("the registry of another gateway is not ours to change")

    def parse(self, text: str) -> Json:
        return parse(text.encode())

    def described(self) -> JsonObject:
        native = self.gateway.native or {}
        return {
            "format": self.gateway.kind,
            "servers": native.get("servers") or [],
            "lost": [],
            "native": native,
        }

    def would_be(self, text: str) -> tuple[Catalog, list[Problem]]:
        return self.catalog, []
