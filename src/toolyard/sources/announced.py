"""The capabilities of a gateway: those of what stands behind it. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from toolyard.catalog.listing import Listing
from toolyard.catalog.snapshot import Catalog
from toolyard.protocol.call import JsonObject
from toolyard.protocol.identity import FULL_CAPABILITIES


def announced(catalog: Catalog, listings: Iterable[Listing | None]) -> JsonObject:
    """Tools always: the registry may define some at any time."""
    known = [listing for listing in listings if listing is not None]
    there = {
        "tools": True,
        "tasks": catalog.has_tasks or any(listing.makes_tasks for listing in known),
        "resources": bool(catalog.resources or catalog.templates),
        "prompts": bool(catalog.prompts),
        "completions": bool(catalog.completions),
        "logging": any("logging" in listing.capabilities for listing in known),
    }
    return {name: value for name, value in FULL_CAPABILITIES.items() if there[name]}
