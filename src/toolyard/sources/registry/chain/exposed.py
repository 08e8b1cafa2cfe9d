"""What upstreams offer by themselves: their listings as entries. Knows no virtual tools."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from toolyard.catalog.entries import Completion, Origin, Prompt, Resource, Template, Tool
from toolyard.catalog.listing import Listing
from toolyard.context.cutting import LIMIT
from toolyard.protocol.call import JsonObject
from toolyard.protocol.tasks.words import hosted
from toolyard.sources.registry.chain.targets import RenamedReference
from toolyard.sources.registry.format.model import Registry
from toolyard.upstreams.definition import ServerDefinition
from toolyard.upstreams.target import UpstreamTargets


@dataclass(slots=True)
class Exposed:
    """Collects the entries of one server after the other; a name has one owner."""

    registry: Registry
    connect: UpstreamTargets
    warn: Callable[[str], None]
    # Names that are not theirs to take: registry entries and scripts.
    owned: Mapping[str, frozenset[str]] = field(default_factory=dict)
    tools: dict[str, Tool] = field(default_factory=dict)
    prompts: dict[str, Prompt] = field(default_factory=dict)
    resources: dict[str, Resource] = field(default_factory=dict)
    templates: dict[str, Template] = field(default_factory=dict)
    completions: list[Completion] = field(default_factory=list)

    def add(self, server: ServerDefinition, listing: Listing) -> None:
        for definition in _named(listing.tools, "name"):
            if _is_exposed(server, definition["name"]):
                self._add_tool(server, definition, listing.makes_tasks)
        if server.expose != "all":
            return
        for definition in _named(listing.prompts, "name"):
            self._add_prompt(server, definition, listing.completes)
        for definition in _named(listing.resources, "uri"):
            self._add_resource(server, definition)
        for definition in _named(listing.templates, "uriTemplate"):
            self._add_template(server, definition, listing.completes)

    def _add_tool(
        self, server: ServerDefinition, definition: JsonObject, makes_tasks: bool
    ) -> None:
        original = definition["name"]
        name = self._free_name("tools", server, original, self.tools)
        if name is not None:
            target = self.connect.tool(server.name, original)
            extra: dict[str, object] = {"server": server.name, "originalName": original}
            if server.result_limit is not None:
                extra[LIMIT] = server.result_limit
            shown = {"inputSchema": {"type": "object"}, **definition, "name": name}
            shown, tasks = hosted(shown, makes_tasks)
            self.tools[name] = Tool(
                name,
                shown,
                target,
                _origin(server, original),
                check_input=server.validate,
                tasks=tasks,
                extra=extra,
            )

    def _add_prompt(
        self, server: ServerDefinition, definition: JsonObject, completes: bool
    ) -> None:
        original = definition["name"]
        name = self._free_name("prompts", server, original, self.prompts)
        if name is None:
            return
        target, origin = self.connect.prompt(server.name, original), _origin(server, original)
        self.prompts[name] = Prompt(name, {**definition, "name": name}, target, origin)
        if completes:
            completion = RenamedReference(self.connect.completion(server.name), original)
            self.completions.append(Completion(name, completion, origin))

    def _add_resource(self, server: ServerDefinition, definition: JsonObject) -> None:
        uri = definition["uri"]
        if self._is_free("resources", server, uri, self.resources):
            target, origin = self.connect.resource(server.name), _origin(server, uri)
            self.resources[uri] = Resource(uri, definition, target, origin)

    def _add_template(
        self, server: ServerDefinition, definition: JsonObject, completes: bool
    ) -> None:
        uri = definition["uriTemplate"]
        if not self._is_free("templates", server, uri, self.templates):
            return
        target, origin = self.connect.resource(server.name), _origin(server, uri)
        self.templates[uri] = Template(uri, definition, target, origin)
        if completes:
            self.completions.append(Completion(uri, self.connect.completion(server.name), origin))

    def _free_name(
        self, kind: str, server: ServerDefinition, original: str, taken: Mapping[str, object]
    ) -> str | None:
        name = server.prefix + original
        if name in taken and self.registry.prefix_on_collision:
            name = f"{server.name}_{name}"
        return name if self._is_free(kind, server, name, taken) else None

    def _is_free(
        self, kind: str, server: ServerDefinition, name: str, taken: Mapping[str, object]
    ) -> bool:
        if name in self.owned.get(kind, frozenset()):
            owner = "a registry entry or a script"
        elif name in taken:
            owner = "a server before it"
        else:
            return True
        self.warn(
            f"{kind[:-1]} {name!r} of server {server.name} is left out: {owner} has that name"
        )
        return False


def _named(definitions: Iterable[JsonObject], key: str) -> list[JsonObject]:
    return [definition for definition in definitions if isinstance(definition.get(key), str)]


def _is_exposed(server: ServerDefinition, name: str) -> bool:
    if isinstance(server.expose, tuple):
        return any(fnmatchcase(name, pattern) for pattern in server.expose)
    return server.expose == "all"


def _origin(server: ServerDefinition, place: str) -> Origin:
    return Origin("upstream", server.name, place)
