"""A registry laid over scripts and upstreams: the entries that clients see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from toolyard.catalog.costs import why_costly
from toolyard.catalog.entries import Entries, Tool
from toolyard.catalog.listing import Listing
from toolyard.sources.registry.chain.build import ChainBuilder
from toolyard.sources.registry.chain.chains import Chain, Chains
from toolyard.sources.registry.chain.exposed import Exposed
from toolyard.sources.registry.format.model import Expose, Registry, ToolDefinition
from toolyard.upstreams.target import UpstreamTargets


def lay_over(
    registry: Registry,
    scripts: Entries,
    listings: Mapping[str, Listing | None],
    connect: UpstreamTargets,
    by_login: Mapping[str, Listing] | None = None,
) -> Entries:
    """One name, several owners: a registry entry, then a script, then an exposed upstream tool.

    What servers list to one login is exposed to that caller, and changes no registry entry.
    """
    return _Overlay(registry, scripts, listings, connect, by_login or {}).entries()


@dataclass(slots=True)
class _Overlay:
    registry: Registry
    scripts: Entries
    listings: Mapping[str, Listing | None]
    connect: UpstreamTargets
    by_login: Mapping[str, Listing] = field(default_factory=dict)
    # Ordered, and each said once.
    _warnings: dict[str, None] = field(default_factory=dict)

    def entries(self) -> Entries:
        exposed = self._exposed()
        own = self._own_tools(exposed)
        shown = self._shown_scripts()
        return Entries(
            tools=(
                *(own[tool.name] for tool in self.registry.tools if not tool.hidden),
                *shown.tools,
                *exposed.tools.values(),
            ),
            resources=(*shown.resources, *exposed.resources.values()),
            templates=(*shown.templates, *exposed.templates.values()),
            prompts=(*shown.prompts, *exposed.prompts.values()),
            completions=(*shown.completions, *exposed.completions),
            unlisted=shown.unlisted,
            broken=self.scripts.broken,
            warnings=(*self.scripts.warnings, *self.registry.warnings, *self._warnings),
        )

    def _warn(self, warning: str) -> None:
        self._warnings.setdefault(warning)

    def _exposed(self) -> Exposed:
        names = {tool.name for tool in self.registry.tools}
        scripts = self.scripts
        owned = {
            "tools": frozenset(names.union(tool.name for tool in scripts.tools)),
            "prompts": frozenset(prompt.name for prompt in scripts.prompts),
            "resources": frozenset(resource.uri for resource in scripts.resources),
            "templates": frozenset(template.uri_template for template in scripts.templates),
        }
        exposed = Exposed(self.registry, self.connect, self._warn, owned)
        for server in self.registry.servers:
            listing = self.by_login.get(server.name) or self.listings.get(server.name)
            if server.expose != "listed" and server.disabled is None and listing is not None:
                exposed.add(server, listing)
        return exposed

    def _own_tools(self, exposed: Exposed) -> dict[str, Tool]:
        """Every entry of the file, the hidden ones too: compositions may use those."""
        elsewhere = {**exposed.tools, **{tool.name: tool for tool in self.scripts.tools}}
        chains = Chains(self.registry, self.listings, elsewhere, self._warn)
        definitions = {tool.name: tool for tool in self.registry.tools}
        built: dict[str, Tool] = {}

        def find(name: str) -> Tool | None:
            if name not in definitions:
                return elsewhere.get(name)
            if name not in built:
                built[name] = self._built(definitions[name], chains, builder)
            return built[name]

        builder = ChainBuilder(self.connect, find, self.registry.file)
        for name in definitions:
            find(name)
        return built

    def _built(self, tool: ToolDefinition, chains: Chains, builder: ChainBuilder) -> Tool:
        chain = chains.of(tool)
        reason = _why_costly(chain) or chains.why_disabled(chain) or builder.missing_tool(chain)
        if reason is None:
            return builder.tool(chain)
        self._warn(f"{self.registry.file}#{tool.pointer}: tool {tool.name} is disabled: {reason}")
        return builder.disabled(tool, reason)

    def _shown_scripts(self) -> Entries:
        """The scripts that clients see by themselves, without those that an entry replaces."""
        expose, owned = self.registry.project_expose, {tool.name for tool in self.registry.tools}
        scripts = self.scripts
        for tool in scripts.tools:
            if tool.name in owned and _shows(expose, tool.name):
                self._warn(f"script {tool.name!r} is left out: a registry entry has that name")
        prompts = tuple(one for one in scripts.prompts if _shows(expose, one.name))
        templates = tuple(one for one in scripts.templates if _shows(expose, one.name))
        refs = {*(one.name for one in prompts), *(one.uri_template for one in templates)}
        return Entries(
            tools=tuple(
                one for one in scripts.tools if one.name not in owned and _shows(expose, one.name)
            ),
            resources=tuple(one for one in scripts.resources if _shows(expose, one.name)),
            templates=templates,
            prompts=prompts,
            completions=tuple(
                one for one in scripts.completions if expose == "all" or one.ref in refs
            ),
            unlisted=scripts.unlisted if expose == "all" else (),
        )


def _why_costly(chain: Chain) -> str | None:
    """Its schemas are looked into, whoever wrote them: first they are counted."""
    for schema in (chain.input_schema, (chain.definition or {}).get("inputSchema")):
        reason = why_costly(schema)
        if reason is not None:
            return f"its inputSchema cannot be used: {reason}"
    return None


def _shows(expose: Expose, name: str) -> bool:
    if isinstance(expose, tuple):
        return any(fnmatchcase(name, pattern) for pattern in expose)
    return expose == "all"
