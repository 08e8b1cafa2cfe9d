"""Registry files laid over the project's scripts and what upstreams list, as one source."""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from toolyard.catalog.entries import Entries, Tool
from toolyard.catalog.listing import Listing
from toolyard.catalog.source import Source
from toolyard.context.reading import Reading
from toolyard.errors import ConfigError, Problem
from toolyard.files.stamp import Stamp, stamp
from toolyard.files.watch import Looks
from toolyard.protocol.codec import dumps
from toolyard.sources.registry.chain.overlay import lay_over
from toolyard.sources.registry.format.load import keeping, load_registry, read_registry
from toolyard.sources.registry.format.model import Registry
from toolyard.sources.registry.lock.lock import Lock, read_lock, server_parts, why_held
from toolyard.sources.shortage import Shortage
from toolyard.sources.upstream import UpstreamListings
from toolyard.telemetry import logger
from toolyard.upstreams.definition import ServerDefinition
from toolyard.upstreams.pool import Pool
from toolyard.upstreams.target import UpstreamTargets
from toolyard.virtual.watching import Onlooker

log = logger("registry")
AFTER_SHORTAGE = 1.0


@dataclass(frozen=True)
class Registries:
    """The registry files of one gateway, read and checked together; later ones lie on top."""

    files: tuple[Registry, ...]
    stamps: tuple[Stamp | None, ...]

    @property
    def servers(self) -> tuple[ServerDefinition, ...]:
        return tuple(server for registry in self.files for server in registry.servers)

    @property
    def secrets(self) -> frozenset[str]:
        """Values that came from variables."""
        return frozenset().union(*(registry.secrets for registry in self.files))

    @cached_property
    def reading(self) -> Reading | None:
        """The view that the first file which names one has chosen."""
        readings = (registry.reading for registry in self.files)
        return next((reading for reading in readings if reading is not None), None)

    @cached_property
    def pinned(self) -> tuple[str, ...]:
        return tuple(pattern for registry in self.files for pattern in registry.pinned)

    @cached_property
    def result_limit(self) -> int | None:
        """How many bytes of a result are sent, as the first file says that says it."""
        limits = (registry.result_limit for registry in self.files)
        return next((limit for limit in limits if limit is not None), None)

    @cached_property
    def is_all_sent(self) -> bool:
        """Every tool is listed, and every result sent whole."""
        return self.reading is None and not self.limits_results

    @cached_property
    def limits_results(self) -> bool:
        """Does any file limit any result?"""
        limits = [registry.result_limit for registry in self.files]
        limits += [server.result_limit for server in self.servers]
        limits += [tool.result_limit for registry in self.files for tool in registry.tools]
        return any(limits)

    def needed(self) -> frozenset[str]:
        """The servers whose listing the catalog is made from: nothing else is started."""
        servers_of_tools = {
            tool.server for registry in self.files for tool in registry.tools if tool.server
        }
        return frozenset(
            server.name
            for server in self.servers
            if server.disabled is None
            and server.auth != "oauth"
            and (server.expose != "listed" or server.name in servers_of_tools)
        )

    @cached_property
    def digest(self) -> str:
        """Tells registries apart, wherever their files are."""
        files = [hashlib.sha256(dumps(file.raw)).digest() for file in self.files]
        return hashlib.sha256(b"".join(files)).hexdigest()[:16]

    @cached_property
    def by_login(self) -> Mapping[str, ServerDefinition]:
        """The servers that list something by themselves, to each login something else."""
        return {
            server.name: server
            for server in self.servers
            if server.auth == "oauth" and server.disabled is None and server.expose != "listed"
        }


NO_REGISTRIES = Registries((), ())


@dataclass(frozen=True, slots=True)
class RegistryFiles:
    """Where a gateway's registry is written; the lock beside it where it is held to one."""

    paths: Sequence[str]
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    lock: str | None = None

    def stamps(self) -> tuple[Stamp | None, ...]:
        return tuple(map(stamp, (*self.paths, *([self.lock] if self.lock else ()))))

    def load(self, scripts: Entries, instead: Mapping[str, bytes] | None = None) -> Registries:
        """Raises ConfigError with every problem of every file."""
        stamps = self.stamps()
        registries = load_registries(self.paths, self.environ, scripts, instead)
        if self.lock is not None:
            approved_lock = read_lock(self.lock)
            registries = tuple(held_servers(registry, approved_lock) for registry in registries)
        return Registries(registries, stamps)


def load_registries(
    paths: Sequence[str],
    environ: Mapping[str, str],
    scripts: Entries,
    instead: Mapping[str, bytes] | None = None,
) -> tuple[Registry, ...]:
    """Raises ConfigError with every problem. `instead` has other content for files."""
    texts = instead or {}
    problems: list[Problem] = []
    registries: list[Registry] = []
    names = {tool.name for tool in scripts.tools}
    for path in paths:
        try:
            registry = (
                read_registry(texts[path], path, environ, names)
                if path in texts
                else load_registry(path, environ, names)
            )
        except Shortage:
            raise
        except ConfigError as error:
            problems += error.problems
            continue
        problems += _taken(registry, registries)
        registries.append(registry)
        names |= {tool.name for tool in registry.tools}
    if problems:
        raise ConfigError(problems)
    secrets = frozenset().union(*(registry.secrets for registry in registries))
    return tuple(
        replace(registry, servers=keeping(registry.servers, secrets)) for registry in registries
    )


def held_servers(registry: Registry, lock: Lock) -> Registry:
    """A command that has changed since it was approved is never started."""
    now = {server.name: server_parts(server, registry) for server in registry.servers}
    servers = []
    for server in registry.servers:
        reason = why_held(server.name, lock.servers, now)
        if reason is not None and server.disabled is None:
            log.warning("server %s is disabled by the lock: it %s", server.name, reason)
            server = replace(server, disabled=f"held back by the lock: it {reason}")
        servers.append(server)
    return replace(registry, servers=tuple(servers))


def _taken(registry: Registry, registries: list[Registry]) -> list[Problem]:
    """A server's name means one server, in all files together."""
    return [
        Problem(registry.file, "/servers", f"server {server.name!r} is also in {earlier.file}")
        for server in registry.servers
        for earlier in registries
        if (same := earlier.server(server.name)) and same.identity != server.identity
    ]


class GatewaySource:
    """Everything that clients see when there is a registry."""

    def __init__(
        self,
        files: RegistryFiles,
        registries: Registries,
        pool: Pool,
        scripts: Source | None = None,
        *,
        tap: Callable[[UpstreamTargets], UpstreamTargets] = lambda targets: targets,
        onlooker: Onlooker | None = None,
    ) -> None:
        self._files = files
        self._pool = pool
        self._tap = tap
        self._onlooker = onlooker
        self.registries = registries
        # Together, because catalogs are made of both in a thread.
        self._taken = (registries, tap(pool.targets))
        self._scripts = scripts
        self._scripts_read = Entries()
        self._changed: Callable[[], None] = lambda: None
        self._listings = UpstreamListings(pool, registries.needed())
        # Why the files as they are now are not served.
        self.refused: ConfigError | None = None

    @property
    def unlisted(self) -> int:
        """How many servers have not said yet what they have."""
        return sum(listing is None for listing in self._listings.read().values())

    def read(self) -> Entries:
        self._scripts_read = self._read_scripts()
        entries = self._laid(self._scripts_read, *self._taken)
        if self.refused is None:
            return entries
        message = f"the registry is wrong, what was served before goes on:\n{self.refused}"
        return replace(entries, warnings=(*entries.warnings, message))

    def read_for(self, cohort: Mapping[str, Listing]) -> Entries:
        """The entries for a cohort, to which servers list this; scripts as last read."""
        return self._laid(self._scripts_read, *self._taken, cohort)

    @property
    def needed(self) -> frozenset[str]:
        """The servers that list to everybody who asks."""
        return self._listings.followed

    @property
    def scripts(self) -> tuple[Tool, ...]:
        """The project's tools, as last read."""
        return self._scripts_read.tools

    def listed(self) -> Mapping[str, Listing | None]:
        """What those list to clients that can do nothing special."""
        return self._listings.read()

    def would_read(self, instead: Mapping[str, bytes]) -> tuple[Entries, Registries]:
        """The entries if files said this. Starts nothing. Raises ConfigError."""
        scripts = self._read_scripts()
        registries = self._files.load(scripts, instead)
        return self._laid(scripts, registries, self._taken[1]), registries

    def _read_scripts(self) -> Entries:
        return self._scripts.read() if self._scripts is not None else Entries()

    def _laid(
        self,
        entries: Entries,
        registries: Registries,
        targets: UpstreamTargets,
        cohort: Mapping[str, Listing] | None = None,
    ) -> Entries:
        listings = dict(self._listings.read())
        by_login: dict[str, Listing] = {}
        for name, listing in (cohort or {}).items():
            (by_login if name in registries.by_login else listings)[name] = listing
        for registry in registries.files:
            entries = lay_over(registry, entries, listings, targets, by_login, self._onlooker)
        return entries

    async def settle(self) -> None:
        """Give servers that were never listed a few seconds; the rest is announced later."""
        await self._listings.settle()

    async def arrive(self) -> None:
        """Wait for servers that were never listed."""
        # Looked up then, not now: by then somebody else may be watching.
        await self._listings.arrive(lambda: self._changed())

    async def ask(self) -> dict[str, str]:
        """Ask every server that matters what it offers now; those that could not say, and why."""
        listings = await self._listings.ask()
        return {
            name: listing.error for name, listing in listings.items() if listing.error is not None
        }

    async def watch(self, changed: Callable[[], None]) -> None:
        """Reload when a file changes; pass on what scripts and upstreams announce."""
        self._changed = changed
        async with asyncio.TaskGroup() as tasks:
            if self._scripts is not None:
                tasks.create_task(self._scripts.watch(changed))
            tasks.create_task(self._listings.watch(changed))
            tasks.create_task(self._watch_files())

    async def _watch_files(self) -> None:
        looks = Looks(self._files.stamps, self.registries.stamps)
        while True:
            await looks.changed()
            while not await self._reloaded():
                await asyncio.sleep(AFTER_SHORTAGE)

    async def _reloaded(self) -> bool:
        try:
            await self.reload()
        except Shortage as why:
            log.warning("%s; what was served before goes on", why)
            return False
        return True

    async def reload(self) -> None:
        """Take the files as they are now; when they are wrong, the old catalog stays.

        Raises Shortage where they could not be read.
        """
        scripts = await asyncio.to_thread(self._read_scripts)
        try:
            newer = await asyncio.to_thread(self._files.load, scripts)
        except Shortage:
            raise  # neither wrong nor gone: to be read again
        except ConfigError as error:
            self.refused = error
            self._changed()
            return
        self._taken = (newer, self._tap(self._pool.update(newer.servers)))
        self.registries = newer
        self.refused = None
        self._listings.follow(newer.needed())
        log.info("registry loaded anew")
        await self.settle()
        self._changed()
