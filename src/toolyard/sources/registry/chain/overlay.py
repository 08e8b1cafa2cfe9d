"""A registry laid over scripts and upstreams: the entries that clients see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from toolyard.catalog.costs import why_costly
from toolyard.catalog.entries import Entries, Tool
from toolyard.catalog.listing import Listing
from toolyard.sources.registry.chain.build import ChainBuilder
from toolyard.sources.registry.chain.chain import Chain
from toolyard.sources.registry.chain.chains import Chains
from toolyard.sources.registry.chain.exposed import Exposed
from toolyard.sources.registry.format.model import Expose, Registry, ToolDefinition
from toolyard.upstreams.target import UpstreamTargets
from toolyard.virtual.watching import Onlooker


def lay_over(
    registry: Registry,
    scripts: Entries,
    listings: Mapping[str, Listing | None],
    connect: UpstreamTargets,
    by_login: Mapping[str, Listing] | None = None,
    onlooker: Onlooker | None = None,
) -> Entries:
    """One name, several owners: a registry entry, then a script, then an exposed upstream tool.

    What servers list to one login is exposed to that caller, and changes no registry entry.
    """
    return _Overlay(registry, scripts, listings, connect, by_login or {}, onlooker).entries()


@dataclass(slots=True)
class _Overlay:
    registry: Registry
    scripts: Entries
    listings: Mapping[str, Listing | None]
    connect: UpstreamTargets
    by_login: Mapping[str, Listing] = field(default_factory=dict)
    onlooker: Onlooker | None = None
    # Ordered, and each said once.
    _warnings: dict[str, None] = field(default_factory=dict)

    def entries(self) -> Entries:
        upstream_entries = self._exposed()
        own = self._own_tools(upstream_entries)
        script_entries = self._shown_scripts()
        return Entries(
            tools=(
                *(own[tool.name] for tool in self.registry.tools if not tool.hidden),
                *script_entries.tools,
                *upstream_entries.tools.values(),
            ),
            resources=(*script_entries.resources, *upstream_entries.resources.values()),
            templates=(*script_entries.templates, *upstream_entries.templates.values()),
            prompts=(*script_entries.prompts, *upstream_entries.prompts.values()),
            completions=(*script_entries.completions, *upstream_entries.completions),
            unlisted=script_entries.unlisted,
            broken=self.scripts.broken,
            warnings=(*self.scripts.warnings, *self.registry.warnings, *self._warnings),
        )

    def _warn(self, warning: str) -> None:
        self._warnings.setdefault(warning)

    def _exposed(self) -> Exposed:
        names = {tool.name for tool in self.registry.tools}
        scripts = self.scripts
        own_names = {
            "tools": frozenset(names.union(tool.name for tool in scripts.tools)),
            "prompts": frozenset(prompt.name for prompt in scripts.prompts),
            "resources": frozenset(resource.uri for resource in scripts.resources),
            "templates": frozenset(template.uri_template for template in scripts.templates),
        }
        upstream_entries = Exposed(self.registry, self.connect, self._warn, own_names)
        for server in self.registry.servers:
            listing = self.by_login.get(server.name) or self.listings.get(server.name)
            if server.expose != "listed" and server.disabled is None and listing is not None:
                upstream_entries.add(server, listing)
        return upstream_entries

    def _own_tools(self, upstream_entries: Exposed) -> dict[str, Tool]:
        """Every entry of the file, the hidden ones too: compositions may use those."""
        elsewhere = {**upstream_entries.tools, **{tool.name: tool for tool in self.scripts.tools}}
        chains = Chains(self.registry, self.listings, elsewhere, self._warn)
        definitions = {tool.name: tool for tool in self.registry.tools}
        built: dict[str, Tool] = {}

        def find(name: str) -> Tool | None:
            if name not in definitions:
                return elsewhere.get(name)
            if name not in built:
                built[name] = self._built(definitions[name], chains, builder)
            return built[name]

        builder = ChainBuilder(self.connect, find, self.registry.file, self.onlooker)
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
        expose, names = self.registry.project_expose, {tool.name for tool in self.registry.tools}
        scripts = self.scripts
        for tool in scripts.tools:
            if tool.name in names and _shows(expose, tool.name):
                self._warn(f"script {tool.name!r} is left out: a registry entry has that name")
        prompts = tuple(entry for entry in scripts.prompts if _shows(expose, entry.name))
        templates = tuple(entry for entry in scripts.templates if _shows(expose, entry.name))
        refs = {*(entry.name for entry in prompts), *(entry.uri_template for entry in templates)}
        return Entries(
            tools=tuple(
                entry
                for entry in scripts.tools
                if entry.name not in names and _shows(expose, entry.name)
            ),
            resources=tuple(entry for entry in scripts.resources if _shows(expose, entry.name)),
            templates=templates,
            prompts=prompts,
            completions=tuple(
                entry for entry in scripts.completions if expose == "all" or entry.ref in refs
            ),
            unlisted=scripts.unlisted if expose == "all" else (),
        )


def _why_costly(chain: Chain) -> str | None:
    """Its schemas are walked through, whoever wrote them: so they are measured first."""
    for schema in (chain.input_schema, (chain.definition or {}).get("inputSchema")):
        reason = why_costly(schema)
        if reason is not None:
            return f"its inputSchema cannot be used: {reason}"
    return None


def _shows(expose: Expose, name: str) -> bool:
    if isinstance(expose, tuple):
        return any(fnmatchcase(name, pattern) for pattern in expose)
    return expose == "all"
