"""One scan of a project: the items of every kind, without targets.

Knows which module finds which kind; knows neither the cache nor the catalog.
"""

from __future__ import annotations

import gc
import os
from typing import NamedTuple

from toolyard.files.stamp import path_changed_at
from toolyard.protocol.kinds import KINDS, Kind
from toolyard.protocol.values import JsonObject
from toolyard.settings import Settings
from toolyard.sources.project.cache.files import canonical
from toolyard.sources.project.discover.metadata import Metadata
from toolyard.sources.project.discover.prompts import discover_prompts
from toolyard.sources.project.discover.resources import discover_resources
from toolyard.sources.project.discover.tools import discover_tools, unrunnable
from toolyard.sources.project.discover.ui import discover_pages, named_apart
from toolyard.sources.project.discover.walk import Stamps, Walk
from toolyard.sources.project.identity import read_identity
from toolyard.sources.project.items import unique, warn_if_many
from toolyard.sources.project.layout import Project
from toolyard.sources.project.register.file import (
    Registration,
    RegistrationError,
    has_active_script,
    read_register_json,
    script_path,
)
from toolyard.sources.project.register.items import Adopting
from toolyard.sources.shortage import Shortage, raise_if_short

Items = dict[Kind, list[JsonObject]]
_DECIDING = ("register.json", "register.sh", "server.meta.json")


class Scan(NamedTuple):
    items: Items
    stamps: Stamps
    warnings: tuple[str, ...]
    broken: dict[Kind, str]
    # Completions registered by hand; those beside an entry are in its item.
    completions: tuple[JsonObject, ...] = ()


def scan(project: Project, settings: Settings, metadata: Metadata, only: str = "") -> Scan:
    return looked_into(quick_scan(project, settings, metadata, only), project, metadata)


def looked_into(result: Scan, project: Project, metadata: Metadata) -> Scan:
    """The scan, with warnings of scripts that cannot be started."""
    scripts = unrunnable(result.items["tools"], project.tools, result.stamps, metadata)
    return result._replace(warnings=(*result.warnings, *scripts))


def quick_scan(project: Project, settings: Settings, metadata: Metadata, only: str = "") -> Scan:
    """All that a list says, without a look into scripts that are described elsewhere."""
    scanner = _Scanner(project, settings, metadata, only or settings.registry_refresh_path)
    with CollectorPaused():
        try:
            return scanner.run(registration_of(project, settings))
        except RegistrationError as error:
            return scanner.broken(str(error))


def unscanned(project: Project, settings: Settings, why: Shortage) -> Scan:
    """In place of a first scan that could not be made: lists say why they are empty."""
    return _Scanner(project, settings, Metadata(), "").broken(str(why))


class CollectorPaused:
    """A scan makes many objects that stay: collecting garbage meanwhile takes a third of its time.

    Those of the first scan are not looked at afterwards either: nothing is in flight yet.
    Later ones are not spared, because what is spared is never collected.
    """

    _started = False

    def __enter__(self) -> None:
        self._was_on = gc.isenabled()
        gc.disable()

    def __exit__(self, *_error: object) -> None:
        if not self._was_on:
            return
        if not CollectorPaused._started:
            gc.freeze()
        CollectorPaused._started = True
        gc.enable()


def registration_of(project: Project, settings: Settings) -> Registration:
    """From register.json; only where there is none, from register.sh."""
    by_hand = read_register_json(project, settings.max_manual_registry_bytes)
    if by_hand is not None:
        return by_hand
    if not has_active_script(project, settings):
        return Registration("", {})
    # Few projects have such a script: the others do not wait for this.
    from toolyard.sources.project.register.hooks import registered_by_script  # noqa: PLC0415

    return registered_by_script(project, settings)


def provider_scripts(project: Project) -> dict[str, str]:
    """The project's own providers: name -> path. NAME.sh, or any program called NAME."""
    scripts: dict[str, str] = {}
    try:
        names = sorted(os.listdir(project.providers), key=lambda name: not name.endswith(".sh"))
    except OSError as error:
        raise_if_short(error, project.providers)
        return scripts
    for name in names:
        path = os.path.realpath(os.path.join(project.providers, name))
        bare = name.partition(".")[0]
        if bare and os.path.isfile(path) and (name.endswith(".sh") or os.access(path, os.X_OK)):
            scripts.setdefault(bare, path)
    return scripts


class _Scanner:
    def __init__(self, project: Project, settings: Settings, metadata: Metadata, only: str) -> None:
        self._project = project
        self._settings = settings
        self._metadata = metadata
        self._only = only
        self._stamps: Stamps = {
            path: path_changed_at(path)
            for path in (
                project.server,
                project.providers,
                *(os.path.join(project.server, name) for name in _DECIDING),
            )
        }
        self._warnings: list[str] = []

    def run(self, registration: Registration) -> Scan:
        project, metadata = self._project, self._metadata
        server = read_identity(project, self._settings).info["name"]
        providers = frozenset(provider_scripts(project))
        adoption = Adopting(registration, self._warnings)
        tools_walk, resources_walk = self._walk(project.tools), self._walk(project.resources)
        prompts_walk, pages_walk = self._walk(project.prompts), self._walk(project.ui)
        tools = discover_tools(tools_walk, metadata, server)
        resources_found = discover_resources(resources_walk, metadata, providers)
        prompts = discover_prompts(prompts_walk, metadata)
        pages = discover_pages(tools.pages, pages_walk, metadata, server, project)
        for walk, key in (
            (tools_walk, "tools"),
            (resources_walk, "resources"),
            (prompts_walk, "prompts"),
            (pages_walk, ""),
        ):
            self._stamps.update(walk.stamps)
            if registration.get(key) is None:
                self._warnings += walk.warnings
        resources = _chosen(
            adoption.resources(project.resources, providers), resources_found.resources
        )
        items: Items = {
            "tools": _chosen(adoption.tools(project.tools), tools.items),
            "resources": unique(
                [*resources, *named_apart(pages, resources)], "name", "resource", self._warnings
            ),
            "prompts": _chosen(adoption.prompts(project.prompts), prompts),
            "templates": self._templates(
                adoption.templates(project.resources), resources_found.templates, resources
            ),
        }
        if registration.get("resources") is None:
            self._mention_strays(resources_found.strays, items["templates"])
        self._mention_idle_hook()
        completions = tuple(registration.get("completions") or ())
        broken = self._oversized(items)
        return Scan(items, self._stamps, tuple(self._warnings), broken, completions)

    def broken(self, why: str) -> Scan:
        """A registration that cannot be read: nothing is served rather than the wrong thing."""
        items: Items = {kind: [] for kind in KINDS}
        reasons: dict[Kind, str] = {
            kind: f"Unable to load the {kind} registry: {why}" for kind in KINDS
        }
        warning = f"{why}: no tools, resources or prompts are served until this is fixed"
        return Scan(items, self._stamps, (warning,), reasons)

    def _mention_strays(self, strays: list[str], templates: list[JsonObject]) -> None:
        used = {item.get("path") for item in templates}
        for path in strays:
            if path not in used:
                place = os.path.join(self._project.resources, path)
                self._warnings.append(f"{place}: a program without metadata is not served")

    def _mention_idle_hook(self) -> None:
        path = script_path(self._project)
        if not self._settings.allow_project_hooks and os.path.exists(path):
            self._warnings.append(f"{path}: is not run without MCPBASH_ALLOW_PROJECT_HOOKS=true")

    def _walk(self, root: str) -> Walk:
        return Walk(root, self._only, self._metadata.folders)

    def _templates(
        self,
        by_hand: list[JsonObject] | None,
        discovered_items: list[JsonObject],
        resources: list[JsonObject],
    ) -> list[JsonObject]:
        """Those registered by hand lie over those found; none may share a resource's name."""
        if by_hand is not None and not by_hand:
            return []
        by_name = {item["name"]: item for item in (*discovered_items, *(by_hand or ()))}
        names = {item["name"] for item in resources}
        for name in sorted(by_name.keys() & names):
            place = self._project.resources
            self._warnings.append(
                f"{place}: template {name!r}: a resource has the same name; skipped"
            )
        return [by_name[name] for name in sorted(by_name) if name not in names]

    def _oversized(self, items: Items) -> dict[Kind, str]:
        limit = self._settings.registry_max_bytes
        broken: dict[Kind, str] = {}
        for kind, entries in items.items():
            warn_if_many(kind, entries, self._warnings)
            if len(canonical(entries)) > limit:
                broken[kind] = f"the {kind} registry exceeds {limit} bytes"
        return broken


def _chosen(
    by_hand: list[JsonObject] | None, discovered_items: list[JsonObject]
) -> list[JsonObject]:
    return discovered_items if by_hand is None else by_hand
