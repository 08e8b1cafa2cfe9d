"""A source held to its lock: what differs from what was approved is not on offer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple, TypeAlias, TypeVar

from toolyard.catalog.entries import Entries, Prompt, Resource, Template, Tool
from toolyard.catalog.listing import Listing
from toolyard.catalog.source import Source
from toolyard.errors import ConfigError, ToolError, UpstreamError
from toolyard.files.stamp import stamp
from toolyard.files.watch import Looks
from toolyard.protocol.call import Call, Channel, JsonObject, Result, Target
from toolyard.protocol.kinds import SPELLED, Kind
from toolyard.sources.registry.chain.targets import Unavailable
from toolyard.sources.registry.lock.hashes import content_hash, told_hash
from toolyard.sources.registry.lock.lock import (
    KINDS,
    Lock,
    file_hash,
    key_of,
    others_of,
    read_lock,
    scripts_of,
    tools_of,
    why_held,
)
from toolyard.telemetry import logger
from toolyard.upstreams.connections import Downstream, client_of
from toolyard.upstreams.target import UpstreamResourceTarget

log = logger("lock")
Hold: TypeAlias = Callable[[Lock, Entries], Entries]
# What a server lists on a connection that is open, to this client.
Live: TypeAlias = Callable[[str, Downstream], Awaitable[Listing]]
Other = TypeVar("Other", Prompt, Resource, Template)


class LockedSource:
    def __init__(self, source: Source, path: str, hold: Hold) -> None:
        """Raises ConfigError where there is no lock to hold anything to."""
        self._source = source
        self._path = path
        self._hold = hold
        self._lock = read_lock(path)

    def read(self) -> Entries:
        self._read_again()
        return self.held(self._source.read())

    def held(self, entries: Entries) -> Entries:
        """What was read of the source for one caller, to the lock as it was last read."""
        return self._hold(self._lock, entries)

    def _read_again(self) -> None:
        """What was approved meanwhile counts; a lock that cannot be read changes nothing."""
        try:
            self._lock = read_lock(self._path)
        except ConfigError as error:
            log.error("the lock is wrong, the one from before holds:\n%s", error)

    async def settle(self) -> None:
        await self._source.settle()

    async def watch(self, changed: Callable[[], None]) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._source.watch(changed))
            tasks.create_task(self._watch_lock(changed))

    async def _watch_lock(self, changed: Callable[[], None]) -> None:
        looks = Looks(partial(stamp, self._path), stamp(self._path))
        while True:
            await looks.changed()
            changed()


def held_scripts(lock: Lock, entries: Entries) -> Entries:
    """Scripts whose content has changed are never run: virtual tools use these as well."""
    now = scripts_of(entries.tools)

    def held(tool: Tool) -> Tool:
        reason = why_held(tool.name, lock.scripts, now)
        if reason is not None:
            return _disabled(tool, reason)
        approved_hash = now[tool.name]["script"]
        return replace(tool, target=LockedScript(tool.target, tool.origin.place, approved_hash))

    return _each(entries, held)


def held_offer(lock: Lock, entries: Entries, live: Live | None = None) -> Entries:
    """What would be described to clients in other words than approved is not on offer.

    `live`: what a server lists at the moment of a call, which must still be the same.
    """
    return held_others(lock, held_tools(lock, entries, live), live)


def held_tools(lock: Lock, entries: Entries, live: Live | None = None) -> Entries:
    now = tools_of(entries.tools)

    def held(tool: Tool) -> Tool:
        approved_parts = lock.tools.get(tool.name, {})
        if "expectedSchemaHash" in approved_parts and "expectedSchemaHash" not in now[tool.name]:
            server = tool.extra.get("server", "its source")
            return _disabled(tool, f"cannot be compared: {server} has not said what it offers")
        reason = why_held(tool.name, lock.tools, now)
        return _compared(tool, live) if reason is None else _disabled(tool, reason)

    return _each(entries, held)


def _compared(tool: Tool, live: Live | None) -> Tool:
    server, original = tool.extra.get("server"), tool.extra.get("originalName")
    if live is None or not isinstance(server, str) or not isinstance(original, str):
        return tool
    definition = tool.extra.get("underlying", tool.definition)
    assert isinstance(definition, dict)
    approval = ApprovedEntry(server, "tools", original, _hash_of("tools", definition))
    return replace(tool, target=LockedUpstream(tool.target, approval, live))


def held_others(lock: Lock, entries: Entries, live: Live | None = None) -> Entries:
    """Prompts, resources and templates: left out where they are not what was approved."""
    reasons_by_kind = {
        kind: _held(lock, entries, kind) for kind in ("prompts", "resources", "templates")
    }
    names_out = {name for reasons in reasons_by_kind.values() for name in reasons}
    warnings = [
        f"{KINDS[kind]} {name} is disabled by the lock: it {why}"
        for kind, reasons in reasons_by_kind.items()
        for name, why in reasons.items()
    ]
    return replace(
        entries,
        prompts=_approved(entries.prompts, "prompts", reasons_by_kind, live),
        resources=_approved(entries.resources, "resources", reasons_by_kind, live),
        templates=_approved(entries.templates, "templates", reasons_by_kind, live),
        completions=tuple(
            completion for completion in entries.completions if completion.ref not in names_out
        ),
        warnings=(*entries.warnings, *warnings),
    )


def _held(lock: Lock, entries: Entries, kind: Kind) -> dict[str, str]:
    now = others_of(entries, kind)
    reasons = ((name, why_held(name, lock.named(kind), now)) for name in now)
    return {name: why for name, why in reasons if why is not None}


def _approved(
    entries: Sequence[Other],
    kind: Kind,
    reasons_by_kind: Mapping[str, Mapping[str, str]],
    live: Live | None,
) -> tuple[Other, ...]:
    approved_entries = (entry for entry in entries if key_of(entry) not in reasons_by_kind[kind])
    return tuple(_compared_other(entry, kind, live) for entry in approved_entries)


def _compared_other(entry: Other, kind: Kind, live: Live | None) -> Other:
    if live is None or entry.origin.source != "upstream":
        return entry
    digest = _hash_of(kind, entry.definition)
    approval = ApprovedEntry(entry.origin.owner, kind, entry.origin.place, digest)
    target = entry.target
    target_class = LockedResource if isinstance(target, UpstreamResourceTarget) else LockedUpstream
    return replace(entry, target=target_class(target, approval, live))


def _each(entries: Entries, hold: Callable[[Tool], Tool]) -> Entries:
    tools = [hold(tool) if tool.listed else tool for tool in entries.tools]
    pairs = zip(tools, entries.tools, strict=True)
    warnings = [
        f"tool {now.name} {now.unavailable}" for now, was in pairs if now.listed < was.listed
    ]
    return replace(entries, tools=tuple(tools), warnings=(*entries.warnings, *warnings))


def _disabled(tool: Tool, reason: str) -> Tool:
    reason_in_full = f"is disabled by the lock: it {reason}"
    return replace(
        tool, target=Unavailable(reason_in_full), unavailable=reason_in_full, listed=False
    )


class ApprovedEntry(NamedTuple):
    """An entry of a server, and the hash of what was approved of it."""

    server: str
    kind: Kind
    name: str  # as the server has it; the URI of a resource or a template
    hash: str

    def in_listing(self, listing: Listing) -> JsonObject | None:
        key = SPELLED[self.kind].named_by
        definitions: tuple[JsonObject, ...] = getattr(listing, self.kind)
        return next(
            (definition for definition in definitions if definition.get(key) == self.name), None
        )


def _hash_of(kind: Kind, definition: JsonObject) -> str:
    if kind != "tools":
        return told_hash(definition)
    return content_hash({"inputSchema": {"type": "object"}, **definition})


@dataclass(frozen=True, slots=True)
class LockedUpstream:
    """Looks at what the server lists before each call: it may have changed since it started."""

    source: Target
    listed: ApprovedEntry
    live: Live

    async def call(self, arguments: JsonObject, call: Call, channel: Channel) -> Result:
        server, kind, _, approved_hash = self.listed
        listing = await self.live(server, client_of(call, channel.session))
        if listing.error is not None:
            raise UpstreamError(server, f"cannot be compared with the lock: {listing.error}")
        definition = self.listed.in_listing(listing)
        if definition is None or _hash_of(kind, definition) != approved_hash:
            raise ToolError(
                f"This {KINDS[kind]} is disabled by the lock: {server} now describes it differently"
            )
        return await self.source.call(arguments, call, channel)


class LockedResource(LockedUpstream):
    """One whose server announces its changes."""

    async def subscribe(
        self, arguments: JsonObject, call: Call, channel: Channel, changed: Callable[[], None]
    ) -> Callable[[], None]:
        assert isinstance(self.source, UpstreamResourceTarget)
        return await self.source.subscribe(arguments, call, channel, changed)


@dataclass(frozen=True, slots=True)
class LockedScript:
    """Looks at the script before each call: it may have changed since the catalog was made."""

    source: Target
    path: str
    hash: str

    async def call(self, arguments: JsonObject, call: Call, channel: Channel) -> Result:
        if file_hash(self.path) != self.hash:
            raise ToolError("This tool is disabled by the lock: its script has changed")
        return await self.source.call(arguments, call, channel)
