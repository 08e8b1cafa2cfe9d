"""What every tool said of itself when it was approved, and what has changed since."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from toolyard.catalog.entries import Entries
from toolyard.catalog.listing import Listing
from toolyard.protocol.call import JsonObject
from toolyard.sources.registry.chains import Chains
from toolyard.sources.registry.hashes import definition_hash
from toolyard.sources.registry.model import Registry

LOCK_VERSION = 1


class Change(NamedTuple):
    tool: str
    kind: Literal["added", "removed", "changed"]
    owner: str  # the server, or where else it is from


def lock(entries: Entries) -> JsonObject:
    """The hash of each definition as clients see it."""
    return {
        "lockVersion": LOCK_VERSION,
        "tools": {
            tool.name: {"hash": definition_hash(tool.definition), "owner": tool.origin.owner}
            for tool in sorted(entries.tools, key=lambda tool: tool.name)
            if tool.listed
        },
    }


def verify(locked: JsonObject, entries: Entries) -> tuple[Change, ...]:
    """What is not as it was, by name; nothing, where all is."""
    before: Mapping[str, JsonObject] = locked["tools"]
    now: Mapping[str, JsonObject] = lock(entries)["tools"]
    changes = [
        *(Change(name, "added", now[name]["owner"]) for name in now.keys() - before.keys()),
        *(Change(name, "removed", before[name]["owner"]) for name in before.keys() - now.keys()),
        *(
            Change(name, "changed", now[name]["owner"])
            for name in now.keys() & before.keys()
            if now[name]["hash"] != before[name]["hash"]
        ),
    ]
    return tuple(sorted(changes))


def expected_hashes(
    registry: Registry, listings: Mapping[str, Listing | None], scripts: Entries
) -> dict[str, str]:
    """For each tool of the file whose underlying tool is known, its `expectedSchemaHash`."""
    elsewhere = {tool.name: tool for tool in scripts.tools}
    chains = Chains(registry, listings, elsewhere, lambda _: None)
    known = ((tool.name, chains.of(tool).definition) for tool in registry.tools)
    return {name: definition_hash(found) for name, found in known if found is not None}
