"""Another running gateway behind the page: ours or an agentgateway, through its own registry.

What it serves is asked of it over MCP; its registry, from an endpoint or a file, says what is
made of what. Nothing here changes it.
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
from toolyard.http.fetch import FetchError, GuardedFetch
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
    url: str
    place: str  # where its registry is: a URL or a file
    native: JsonObject | None = None
    kind: str = "MCP server"
    why: str | None = None  # there is no registry to show

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
            found = self.entry(name)
            if found is None:
                return
            yield found
            name = str(found[0].get("source") or "")

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
        hidden = frozenset(key for entry in chain for key in _hidden(entry))
        return replace(tool, origin=Origin("registry", self.place), extra=extra, hidden=hidden)

    def layers(self, tool: Tool) -> tuple[Layer, ...]:
        entries = tuple(
            Layer(f"registry entry {entry['name']}", entry, f"{self.place}#{pointer}")
            for entry, pointer in self.chain(tool.name)
        )
        return (*entries, Layer("the gateway's listing", tool.definition))


def _hidden(entry: Mapping[str, Json]) -> Iterator[str]:
    yield from entry.get("defaults") or {}
    yield from entry.get("hideFields") or []


def _projects(entry: Mapping[str, Json]) -> bool:
    return "outputTransform" in entry or '"source_field"' in dumps(entry.get("outputSchema"))


async def look_at(url: str, place: str | None) -> Other:
    """Read its registry; without one its tools are shown as it lists them."""
    other = Other(url, place or _beside(url))
    try:
        raw = parse(await _read(other.place))
        if not isinstance(raw, dict):
            raise ValueError("is not a JSON object")
        converted = to_native(raw, os.getcwd())
    except (ValueError, OSError, FetchError) as error:
        return replace(other, why=f"its registry cannot be read from {other.place}: {error}")
    kind = KINDS.get(converted.format, converted.format)
    return replace(other, native=masked(converted.native), kind=kind)


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
    """Its registry as the page shows it: for reading."""

    other: Other
    catalog: Catalog

    @property
    def path(self) -> str:
        return self.other.place

    def read(self) -> str:
        return dumps(self.other.native)

    def save(self, text: str, seen: str) -> None:
        raise PermissionError("the registry of another gateway is not ours to change")

    def parse(self, text: str) -> Json:
        return parse(text.encode())

    def described(self) -> JsonObject:
        native = self.other.native or {}
        return {
            "format": self.other.kind,
            "servers": native.get("servers") or [],
            "lost": [],
            "native": native,
        }

    def would_be(self, text: str) -> tuple[Catalog, list[Problem]]:
        return self.catalog, []
