"""Where each part of a virtual tool comes from: which entry says it, or what stands underneath."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from toolyard.catalog.entries import Tool
from toolyard.catalog.listing import Listing
from toolyard.protocol.call import Json, JsonObject
from toolyard.sources.registry.chain.chain import Chain
from toolyard.sources.registry.chain.chains import Chains
from toolyard.sources.registry.format.model import Registry, ToolDefinition
from toolyard.sources.registry.masking import masked

# How the file spells each part, and whether an entry states it.
_STATED: Mapping[str, Callable[[ToolDefinition], object]] = {
    "title": lambda link: link.title,
    "description": lambda link: link.description,
    "inputSchema": lambda link: link.input_schema,
    "outputSchema": lambda link: link.projection,
    "textExtraction": lambda link: link.text_extraction,
    "annotations": lambda link: link.annotations,
    "originalName": lambda link: link.original_name,
    "timeoutSecs": lambda link: link.timeout,
    "taskSupport": lambda link: link.task_support,
}
# Those that the tool underneath has too.
_UNDERNEATH = ("title", "description", "inputSchema", "outputSchema", "annotations")


class Part(NamedTuple):
    name: str
    place: str  # file#pointer, or what the tool underneath belongs to
    value: Json = None  # only where it is short and no schema


@dataclass(frozen=True, slots=True)
class Anatomy:
    """A tool of a registry, taken apart."""

    name: str
    place: str
    chain: tuple[str, ...]  # nearest first; the last is what does the work
    parts: tuple[Part, ...]
    underlying: JsonObject | None  # what the tool underneath says of itself
    hidden: bool = False
    disabled: str | None = None


def anatomy(
    registry: Registry,
    tool: ToolDefinition,
    listings: Mapping[str, Listing | None],
    elsewhere: Mapping[str, Tool],
) -> Anatomy:
    chains = Chains(registry, listings, elsewhere, _unwarned)
    chain = chains.of(tool)
    below = underneath(chain)
    return Anatomy(
        name=tool.name,
        place=f"{registry.file}#{tool.pointer}",
        chain=(*(link.name for link in chain.links), below),
        parts=tuple(_parts(chain, registry, below)),
        underlying=chain.definition,
        hidden=tool.hidden,
        disabled=chains.why_disabled(chain),
    )


def plain(tool: Tool) -> Anatomy:
    """A script, or what an upstream exposes: all of it comes from there."""
    origin = tool.origin
    place = origin.place if origin.source == "project" else f"{origin.owner}: {origin.place}"
    parts = tuple(Part(name, place) for name in tool.definition if name != "name")
    return Anatomy(tool.name, place, (tool.name, place), parts, tool.definition)


def chains_in(
    registry: Registry,
    listings: Mapping[str, Listing | None],
    tools: Iterable[Tool],
    scripts: Iterable[Tool],
) -> Chains:
    """The chains of a file, whose sources may name other tools and scripts beside its own."""
    tools_elsewhere = {tool.name: tool for tool in tools if tool.origin.owner != registry.file}
    elsewhere = {**tools_elsewhere, **{tool.name: tool for tool in scripts}}
    return Chains(registry, listings, elsewhere, _unwarned)


def _unwarned(_warning: str) -> None:
    """Said when the catalog was made."""


def underneath(chain: Chain) -> str:
    """What does the work, in words."""
    if chain.server is not None:
        return f"{chain.server.name}: {chain.original_name}"
    if chain.existing is not None:
        origin = chain.existing.origin
        return f"{origin.place or origin.owner}"
    return "composed of other tools" if chain.links[-1].composition else "nothing"


def _parts(chain: Chain, registry: Registry, below: str) -> Iterator[Part]:
    for name, field_of in _STATED.items():
        place = _first_place(chain, registry, field_of)
        own = chain.definition or {}
        if place is None and name in _UNDERNEATH and name in own:
            place = below
        if place is not None:
            yield Part(name, place)
    yield from _fields(chain, registry)
    if chain.tool.version is not None:
        yield Part("version", f"{registry.file}#{chain.tool.pointer}", chain.tool.version)


def _first_place(
    chain: Chain, registry: Registry, field_of: Callable[[ToolDefinition], object]
) -> str | None:
    places = (link.pointer for link in chain.links if field_of(link) is not None)
    place = next(places, None)
    return None if place is None else f"{registry.file}#{place}"


def _fields(chain: Chain, registry: Registry) -> Iterator[Part]:
    """Defaults and hidden fields, each from the nearest entry that names it."""
    entries = masked(registry.raw).get("tools") or ()
    masked_tools = {str(entry.get("name")): entry for entry in entries if isinstance(entry, dict)}
    names: set[str] = set()
    for link in chain.links:
        defaults = masked_tools.get(link.name, {}).get("defaults", {})
        for field in link.defaults:
            if field not in names:
                place = f"{registry.file}#{link.pointer}"
                yield Part(f"defaults.{field}", place, defaults.get(field))
        hidden_fields = [entry for entry in link.hide_fields if entry not in names]
        yield from (
            Part(f"hideFields.{entry}", f"{registry.file}#{link.pointer}")
            for entry in hidden_fields
        )
        names.update(link.defaults, link.hide_fields)
        for name, argument in link.renaming.arguments.items():
            place = f"{registry.file}#{link.pointer}"
            yield Part(f"arguments.{name}", place, f"from {argument.source_name}")
