"""A source held to its lock: what is not as it was approved is not on offer. Any source will do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from toolyard.catalog.entries import Entries, Tool
from toolyard.catalog.source import Source
from toolyard.errors import ConfigError, ToolError
from toolyard.protocol.call import Call, Channel, JsonObject, Result, Target
from toolyard.sources.files import LOOK_EVERY, stamp
from toolyard.sources.registry.lock import (
    Lock,
    file_hash,
    read_lock,
    scripts_of,
    tools_of,
    why_held,
)
from toolyard.sources.registry.targets import Unavailable
from toolyard.telemetry import logger

log = logger("lock")
Hold: TypeAlias = Callable[[Lock, Entries], Entries]


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
        seen = stamp(self._path)
        while True:
            await asyncio.sleep(LOOK_EVERY)
            if (now := stamp(self._path)) != seen:
                seen = now
                changed()


def held_scripts(lock: Lock, entries: Entries) -> Entries:
    """Scripts of other content are not run, by nobody: virtual tools use what comes from here."""
    now = scripts_of(entries.tools)

    def held(tool: Tool) -> Tool:
        reason = why_held(tool.name, lock.scripts, now)
        if reason is not None:
            return _disabled(tool, reason)
        known = now[tool.name]["script"]
        return replace(tool, target=LockedScript(tool.target, tool.origin.place, known))

    return _each(entries, held)


def held_tools(lock: Lock, entries: Entries) -> Entries:
    """Tools that clients would be told other things of are not on offer."""
    now = tools_of(entries.tools)

    def held(tool: Tool) -> Tool:
        known = lock.tools.get(tool.name, {})
        if "expectedSchemaHash" in known and "expectedSchemaHash" not in now[tool.name]:
            server = tool.extra.get("server", "its source")
            return _disabled(tool, f"cannot be compared: {server} has not said what it offers")
        reason = why_held(tool.name, lock.tools, now)
        return tool if reason is None else _disabled(tool, reason)

    return _each(entries, held)


def _each(entries: Entries, hold: Callable[[Tool], Tool]) -> Entries:
    held = [hold(tool) if tool.listed else tool for tool in entries.tools]
    pairs = zip(held, entries.tools, strict=True)
    warnings = [
        f"tool {now.name} {now.unavailable}" for now, was in pairs if now.listed < was.listed
    ]
    return replace(entries, tools=tuple(held), warnings=(*entries.warnings, *warnings))


def _disabled(tool: Tool, reason: str) -> Tool:
    said = f"is disabled by the lock: it {reason}"
    return replace(tool, target=Unavailable(said), unavailable=said, listed=False)


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
