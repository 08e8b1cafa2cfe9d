"""What a project's scripts add to what is served; there may be no project."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol

from toolyard import MCP_BASH_VERSION, __version__
from toolyard.app.plan import Plan
from toolyard.app.taps import Taps
from toolyard.catalog.announcer import Announcer
from toolyard.catalog.entries import Entries
from toolyard.catalog.keeper import Keeper
from toolyard.catalog.source import Source
from toolyard.methods.news import News
from toolyard.methods.roots import RootsMethods, RootsSettings
from toolyard.processes.ending.guard import Guard
from toolyard.protocol.call import JsonObject, Target
from toolyard.scripts.contract.environ import RootsInForce
from toolyard.scripts.running.runner import Load, Runner
from toolyard.scripts.settings import NO_SERVER_ENV, ServerEnv
from toolyard.scripts.tool import ScriptTarget
from toolyard.sources.project.ci import notes_for
from toolyard.sources.project.discover.warned import logger_of
from toolyard.sources.project.layout import Project
from toolyard.sources.project.policy import policy_of
from toolyard.sources.project.roots import ConfiguredRoots, configured_roots
from toolyard.sources.project.running import project_paths, runner_settings
from toolyard.sources.project.server_env import read_server_env
from toolyard.sources.project.source import ProjectSource
from toolyard.sources.registry.lock.source import Hold, LockedSource, held_offer, held_scripts

if TYPE_CHECKING:
    from toolyard.scripts.policy import PolicyScript


class Scripts(Protocol):
    """The scripts of a project as the rest of the app uses them."""

    @property
    def source(self) -> Source:
        """The scripts, for what is laid over them."""

    @property
    def full_source(self) -> Source:
        """The scripts, if they are everything that is served."""

    @property
    def environ(self) -> Mapping[bytes, bytes]:
        """What every script is started with."""

    @property
    def roots(self) -> RootsMethods | None: ...

    @property
    def policy(self) -> PolicyScript | None: ...

    @property
    def load(self) -> Load:
        """How many run and wait just now."""

    def news(self, keeper: Keeper) -> News | None:
        """What clients are told of the project beside its entries."""

    async def close(self) -> None: ...


class NoScripts:
    """There is no project: a source without entries."""

    environ: Mapping[bytes, bytes] = {}
    roots = None
    policy = None
    load = Load()

    @property
    def source(self) -> Source:
        return self

    @property
    def full_source(self) -> Source:
        return self

    def read(self) -> Entries:
        return Entries()

    async def settle(self) -> None:
        """Nothing will come."""

    async def watch(self, changed: Callable[[], None]) -> None:
        """Nothing will change."""

    def news(self, keeper: Keeper) -> None:
        """There is nothing to tell."""

    async def close(self) -> None:
        """Nothing runs."""


@dataclass(frozen=True, slots=True)
class ProjectScripts:
    """The scripts of a project: what runs them, what they may see, which may be called."""

    plan: Plan
    project: Project
    runner: Runner
    roots: RootsMethods
    policy: PolicyScript | None
    entries: ProjectSource
    source: Source

    @property
    def full_source(self) -> Source:
        return under_lock(self.plan, self.source, held_offer)

    @property
    def environ(self) -> Mapping[bytes, bytes]:
        return self.runner.environ

    @property
    def load(self) -> Load:
        return self.runner.load

    def news(self, keeper: Keeper) -> News:
        unseen = self.entries.unseen if self.plan.like_mcp_bash else None
        # If rules say who sees what, a warning could name something that its reader may not see.
        logger = _no_logger if self.plan.settings.rules else partial(logger_of, self.project)
        return News(keeper, logger, unseen)

    async def close(self) -> None:
        if self.policy is not None:
            await self.policy.close()
        await self.runner.close()


def _no_logger(_warning: str) -> None:
    return None


def scripts_of(plan: Plan, taps: Taps, guard: Guard, announcer: Announcer) -> Scripts:
    project = plan.project
    if project is None:
        return NoScripts()
    settings = plan.settings
    root_settings = configured_roots(project, settings)
    in_force = RootsInForce(root_settings.roots)
    roots = RootsMethods(
        in_force,
        RootsSettings(
            settings.roots_debounce_interval, settings.roots_request_timeout, plan.own_client
        ),
    )
    runner = _runner(plan, taps, root_settings, in_force, guard, announcer)
    entries = _entries(plan, project, runner, taps)
    source = under_lock(plan, entries, held_scripts)
    return ProjectScripts(plan, project, runner, roots, policy_of(project, runner), entries, source)


def under_lock(plan: Plan, source: Source, hold: Hold) -> Source:
    return LockedSource(source, plan.lock_path, hold) if plan.by_lock else source


def _runner(
    plan: Plan,
    taps: Taps,
    root_settings: ConfiguredRoots,
    in_force: RootsInForce,
    guard: Guard,
    announcer: Announcer,
) -> Runner:
    project = plan.project
    assert project is not None
    version = MCP_BASH_VERSION if plan.like_mcp_bash else __version__
    return taps.runner_type(
        runner_settings(plan.settings, like_mcp_bash=plan.like_mcp_bash),
        project_paths(project, plan.settings, plan.identity, root_settings, version),
        in_force,
        guard,
        server_env=_server_env(plan, project),
        announce=announcer.report,
    )


def _server_env(plan: Plan, project: Project) -> ServerEnv:
    server_env = read_server_env(project, plan.settings) if plan.server_env else NO_SERVER_ENV
    return server_env._replace(variables={**server_env.variables, **plan.exports})


def _entries(plan: Plan, project: Project, runner: Runner, taps: Taps) -> ProjectSource:
    notes = notes_for(plan.settings)

    def tool_target(path: str, name: str, metadata: JsonObject) -> Target:
        target = taps.script(ScriptTarget(name, path, metadata, runner))
        return target if notes is None else notes.of(name, target)

    return ProjectSource(
        project,
        plan.settings,
        runner=runner,
        make_tool_target=tool_target,
        scanned=plan.scan,
        like_mcp_bash=plan.like_mcp_bash,
    )
