"""toolyard inspect: connect to any MCP server and show what it is and what it offers."""

from __future__ import annotations

import argparse
import asyncio
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from toolyard.catalog.listing import Listing
from toolyard.cli.client.peer import add_peer, connected, definition_of
from toolyard.cli.output import print_json, table
from toolyard.cli.terminal.waiting import waiting
from toolyard.context.sizes import tokens_in
from toolyard.protocol.call import JsonObject
from toolyard.protocol.kinds import SPELLED
from toolyard.protocol.revisions import ALL
from toolyard.telemetry import one_line
from toolyard.upstreams.definition import ServerDefinition
from toolyard.upstreams.health import Health


def add(parser: ArgumentParser) -> None:
    parser.usage = "%(prog)s [options] SERVER|URL|COMMAND..."
    parser.epilog = "Options come first: whatever follows the command belongs to the command."
    parser.add_argument("--json", action="store_true", help="everything, for programs")
    add_peer(parser)
    parser.add_argument("server", nargs=argparse.REMAINDER, help="its name, its URL or its command")


def run(options: Namespace) -> int:
    words = options.server[1:] if options.server[:1] == ["--"] else options.server
    definition = definition_of(words or [""], options)
    listing, health = asyncio.run(_look(options, definition))
    if options.json:
        print_json(as_json(listing, health))
    elif health.revision is not None:
        print("\n".join(as_text(listing, health)))
    if listing.error is not None:
        print(f"{definition.name}: {listing.error}", file=sys.stderr)
        if health.stderr:
            print(f"the end of its stderr:\n{health.stderr.rstrip()}", file=sys.stderr)
    return 1 if listing.error is not None else 0


async def _look(options: Namespace, definition: ServerDefinition) -> tuple[Listing, Health]:
    async with connected(definition, options.timeout) as pool:
        async with waiting(pool.health):
            listing = await pool.listing(definition.name)
        return listing, pool.health()[0]


def as_json(listing: Listing, health: Health) -> JsonObject:
    kinds: JsonObject = {kind: list(getattr(listing, kind)) for kind in SPELLED}
    return {
        "server": listing.info,
        "transport": health.transport,
        "revision": listing.revision,
        "era": _era(listing),
        "capabilities": listing.capabilities,
        "instructions": listing.instructions,
        **kinds,
        "error": listing.error,
    }


def as_text(listing: Listing, health: Health) -> Iterator[str]:
    info = listing.info
    name = info.get("title") or info.get("name") or listing.server
    yield one_line(f"{name} {info.get('version', '')}".rstrip())
    yield f"  {health.transport}, revision {listing.revision} ({_era(listing)} era)"
    yield f"  capabilities: {', '.join(_capabilities(listing.capabilities)) or 'none'}"
    if listing.instructions:
        yield f"  instructions: {one_line(listing.instructions)}"
    for kind, spelling in SPELLED.items():
        items: tuple[JsonObject, ...] = getattr(listing, kind)
        if items:
            yield f"\n{spelling.title} ({len(items)}, about {tokens_in(list(items)):,} tokens)"
            named_by = spelling.named_by
            yield from table([("", str(item.get(named_by, "")), _about(item)) for item in items])


def _capabilities(capabilities: JsonObject) -> Iterator[str]:
    for name, detail in capabilities.items():
        more = [key for key, value in detail.items() if value] if isinstance(detail, dict) else []
        yield f"{name} ({', '.join(more)})" if more else name


def _about(definition: JsonObject) -> str:
    about = definition.get("description") or definition.get("title") or ""
    arguments = (definition.get("inputSchema") or {}).get("properties") or {}
    return f"({', '.join(arguments)}) {about}" if arguments else str(about)


def _era(listing: Listing) -> str | None:
    revision = ALL.get(listing.revision or "")
    return None if revision is None else "modern" if revision.modern else "handshake"
