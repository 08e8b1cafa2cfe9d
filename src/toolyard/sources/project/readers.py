"""Which reader a provider's name stands for."""

from __future__ import annotations

import os

from toolyard.http.fetching.addresses import HostRules
from toolyard.http.fetching.dial import GuardedDial
from toolyard.protocol.call import JsonObject
from toolyard.scripts.resources.files import FileProvider
from toolyard.scripts.resources.git import GitLimits, GitProvider
from toolyard.scripts.resources.https import HttpsLimits, HttpsProvider
from toolyard.scripts.resources.providers import Echo, Refusing, ScriptProvider
from toolyard.scripts.resources.target import Reader
from toolyard.scripts.running.runner import Runner
from toolyard.settings import Settings
from toolyard.sources.project.discover.scan import provider_scripts
from toolyard.sources.project.layout import Project

_SCHEMES = {"file": "file", "https": "https", "git+https": "git", "git": "git"}


class Readers:
    """The readers of one project. A provider of the project's own wins over ours."""

    def __init__(self, project: Project, settings: Settings, runner: Runner) -> None:
        self._runner = runner
        self._project = project
        self._roots = roots_of(project, settings)
        self._scripts = provider_scripts(project)
        self._built_in: dict[str, Reader] = {
            "file": FileProvider(self._roots, settings.max_resource_bytes),
            "https": _https(settings),
            "git": _git(settings, runner),
            "echo": Echo(),
            "ui": Refusing("there is no such page"),
        }

    def named(self, name: str, item: JsonObject) -> Reader:
        if name in self._scripts:
            path = self._scripts[name]
            return ScriptProvider(name, path, item, self._runner, self._told())
        return self._built_in.get(name) or Refusing(f"there is no provider {name!r}")

    def by_scheme(self, item: JsonObject) -> dict[str, Reader]:
        own = {name: self.named(name, item) for name in self._scripts}
        return {**{s: self.named(name, item) for s, name in _SCHEMES.items()}, **own}

    def _told(self) -> dict[str, str]:
        return {
            "MCPBASH_PROJECT_ROOT": self._project.root,
            "MCPBASH_PROVIDERS_DIR": self._project.providers,
            "MCPBASH_RESOURCES_DIR": self._project.resources,
            "MCP_RESOURCES_ROOTS": os.pathsep.join(self._roots),
        }


def roots_of(project: Project, settings: Settings) -> tuple[str, ...]:
    """What the file provider may read."""
    return settings.resources_roots or (project.resources,)


def _https(settings: Settings) -> Reader:
    rules = HostRules(
        settings.https_allow_hosts, settings.https_deny_hosts, settings.https_allow_all
    )
    limits = HttpsLimits(
        settings.https_timeout, settings.https_max_bytes, settings.https_user_agent
    )
    return HttpsProvider(GuardedDial(rules), limits)


def _git(settings: Settings, runner: Runner) -> Reader:
    if not settings.enable_git_provider:
        return Refusing("the git provider is off (MCPBASH_ENABLE_GIT_PROVIDER)")
    rules = HostRules(settings.git_allow_hosts, settings.git_deny_hosts, settings.git_allow_all)
    limits = GitLimits(settings.git_timeout, settings.git_max_kb, settings.max_resource_bytes)
    return GitProvider(runner, GuardedDial(rules), limits)
