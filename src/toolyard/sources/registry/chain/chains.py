"""Finds a virtual tool's way down its sources, and what stops it on the way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from toolyard.catalog.entries import Tool
from toolyard.catalog.listing import Listing
from toolyard.errors import did_you_mean
from toolyard.sources.registry.chain.chain import Chain
from toolyard.sources.registry.chain.inputs import dropped_field, why_misnamed
from toolyard.sources.registry.format.model import Registry, ToolDefinition
from toolyard.sources.registry.lock.hashes import is_hash, matches_hash


@dataclass(slots=True)
class Chains:
    registry: Registry
    listings: Mapping[str, Listing | None]
    # Entries made elsewhere that a source may name: scripts, and what upstreams expose.
    elsewhere: Mapping[str, Tool]
    warn: Callable[[str], None]
    _tools: dict[str, ToolDefinition] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._tools = {tool.name: tool for tool in self.registry.tools}

    def of(self, tool: ToolDefinition) -> Chain:
        links, names = [tool], {tool.name}
        while links[-1].source is not None and links[-1].source in self._tools:
            if links[-1].source in names:  # the links themselves say so
                return Chain(tuple(links), broken="its sources are in a cycle")
            links.append(self._tools[links[-1].source])
            names.add(links[-1].name)
        lowest = links[-1]
        if lowest.source is not None:
            return self._over_existing(tuple(links), lowest.source)
        if lowest.server is not None:
            return self._over_upstream(tuple(links), lowest.server)
        return Chain(tuple(links))

    def _over_existing(self, links: tuple[ToolDefinition, ...], name: str) -> Chain:
        existing = self.elsewhere.get(name)
        if existing is None:
            mean = did_you_mean(name, self.elsewhere)
            return Chain(links, broken=f'no tool named "{name}"{mean}')
        return Chain(links, None, existing, existing.definition, existing.unavailable)

    def _over_upstream(self, links: tuple[ToolDefinition, ...], name: str) -> Chain:
        server = self.registry.server(name)
        if server is None:
            return Chain(links, broken=f'no server named "{name}"')
        chain = Chain(links, server)
        if server.disabled is not None:
            return Chain(links, server, broken=f"server {name} is disabled: {server.disabled}")
        listing = known_listing(self.listings.get(name))
        if listing is None:
            return chain
        definition = listing.tool(chain.original_name)
        if definition is None:
            mean = did_you_mean(chain.original_name, [str(t.get("name")) for t in listing.tools])
            broken = f'server {name} has no tool named "{chain.original_name}"{mean}'
            return Chain(links, server, broken=broken)
        return Chain(links, server, None, definition, makes_tasks=listing.makes_tasks)

    def why_disabled(self, chain: Chain) -> str | None:
        """The first reason why this tool cannot be offered."""
        for number, link in enumerate(chain.links):
            reason = self._link_reason(chain, number)
            if reason is not None:
                return reason if number == 0 else f'its source "{link.name}" is disabled: {reason}'
        return chain.broken or dropped_field(chain) or why_misnamed(chain)

    def _link_reason(self, chain: Chain, number: int) -> str | None:
        link = chain.links[number]
        if link.disabled is not None:
            return link.disabled
        for complaint in (_pin(chain, number), _hash(chain, link)):
            if complaint is None or link.validation_mode == "skip":
                continue
            if link.validation_mode == "strict":
                return complaint
            self.warn(f"{self.registry.file}#{link.pointer}: {complaint}")
        return None


def known_listing(listing: Listing | None) -> Listing | None:
    """An empty listing of a server that failed does not mean that there is nothing."""
    if listing is None or (listing.error is not None and not listing.tools):
        return None
    return listing


def _pin(chain: Chain, number: int) -> str | None:
    link = chain.links[number]
    if link.source_version_pin is None:
        return None
    if number + 1 < len(chain.links):
        version: object = chain.links[number + 1].version
    else:
        version = chain.existing.extra.get("version") if chain.existing else None
    if version == link.source_version_pin:
        return None
    version_text = f"version {version}" if version is not None else "no version"
    return f"it pins version {link.source_version_pin} of {link.source}, which has {version_text}"


def _hash(chain: Chain, link: ToolDefinition) -> str | None:
    expected_hash = link.expected_schema_hash
    if expected_hash is not None and not is_hash(expected_hash):
        return "expectedSchemaHash is not sha256: and 64 hexadecimal digits (`lock` writes it)"
    if (
        expected_hash is None
        or chain.definition is None
        or matches_hash(chain.definition, expected_hash)
    ):
        return None
    return "the definition of the underlying tool has changed: expectedSchemaHash does not match"
