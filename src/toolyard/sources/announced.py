"""The capabilities of a gateway: those of what stands behind it. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from toolyard.catalog.listing import Listing
from toolyard.catalog.snapshot import Catalog
from toolyard.protocol.call import JsonObject
from toolyard.protocol.identity import FULL_CAPABILITIES


def announced(catalog: Catalog, listings: Iterable[Listing | None]) -> JsonObject:
    """Tools always: the registry may define some at any time."""
    there = {
        "tools": True,
        "tasks": True,
        "resources": bool(catalog.resources or catalog.templates),
        "prompts": bool(catalog.prompts),
        "completions": bool(catalog.completions),
        "logging": any(
            listing is not None and "logging" in listing.capabilities for listing in listings
        ),
    }
    return {name: value for name, value in FULL_CAPABILITIES.items() if there[name]}
