"""The capabilities of a gateway: those of what stands behind it. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from toolyard.catalog.listing import Listing
from toolyard.catalog.snapshot import Catalog
from toolyard.protocol.call import JsonObject
from toolyard.protocol.client import TASKS_EXTENSION
from toolyard.protocol.identity import FULL_CAPABILITIES


def announced(catalog: Catalog, listings: Iterable[Listing | None]) -> JsonObject:
    """Tools always: the registry may define some at any time."""
    known = [listing for listing in listings if listing is not None]
    there = {
        "tools": True,
        "tasks": catalog.has_tasks or any(map(_has_tasks, known)),
        "resources": bool(catalog.resources or catalog.templates),
        "prompts": bool(catalog.prompts),
        "completions": bool(catalog.completions),
        "logging": any("logging" in listing.capabilities for listing in known),
    }
    return {name: value for name, value in FULL_CAPABILITIES.items() if there[name]}


def _has_tasks(listing: Listing) -> bool:
    """A server of the extension may make a task of any call, whatever its tools say."""
    extensions = listing.capabilities.get("extensions")
    return isinstance(extensions, dict) and TASKS_EXTENSION in extensions
