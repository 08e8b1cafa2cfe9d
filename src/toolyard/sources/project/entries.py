"""Items become entries: what a client sees, and a target that is made when it is called."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from toolyard.catalog.choices import lists_values
from toolyard.catalog.entries import Completion, Entries, Origin, Prompt, Resource, Template, Tool
from toolyard.protocol.call import Call, Channel, JsonObject, Result, Target
from toolyard.protocol.tasks.words import support_in
from toolyard.scripts.resources.changes import FileChanges
from toolyard.scripts.running.runner import Runner
from toolyard.settings import Settings
from toolyard.sources.project.discover import prompts, resources
from toolyard.sources.project.discover.scan import Scan
from toolyard.sources.project.discover.tools import FIELDS
from toolyard.sources.project.items import split
from toolyard.sources.project.layout import Project

if TYPE_CHECKING:
    from toolyard.scripts.resources.target import ResourceTarget
    from toolyard.sources.project.targets import ProjectTargets


# path, name, the registry item -> what runs it
MakeToolTarget: TypeAlias = Callable[[str, str, JsonObject], Target]
_Entry = TypeVar("_Entry", Tool, Resource)


class EntryBuilder:
    """Makes the entries of one project."""

    def __init__(
        self,
        project: Project,
        settings: Settings,
        runner: Runner,
        changes: FileChanges,
        make_tool_target: MakeToolTarget,
        resource_fields: frozenset[str],
    ) -> None:
        self._project = project
        self._settings = settings
        self._runner = runner
        self._changes = changes
        self._make_tool_target = make_tool_target
        self._made: ProjectTargets | None = None
        # What of a resource's item a client sees.
        self._resource_fields = resource_fields
        self._tools_known: dict[str, tuple[JsonObject, Tool]] = {}
        self._resources_known: dict[str, tuple[JsonObject, Resource]] = {}

    def entries(self, scan: Scan) -> Entries:
        items = {k: () if k in scan.broken else tuple(v) for k, v in scan.items.items()}
        return Entries(
            tools=self._tools(items.get("tools", ())),
            resources=self._resources(items.get("resources", ())),
            templates=tuple(map(self._template, items.get("templates", ()))),
            prompts=tuple(map(self._prompt, items.get("prompts", ()))),
            completions=() if scan.broken else tuple(self._completions(scan)),
            unlisted=(self._unlisted(),),
            broken=scan.broken,
            warnings=scan.warnings,
        )

    def _tools(self, items: tuple[JsonObject, ...]) -> tuple[Tool, ...]:
        root, make = self._project.tools, self._make_tool_target
        tools = _kept(items, self._tools_known, lambda item: tool_entry(item, root, make))
        self._tools_known = tools
        return tuple([tool for _, tool in tools.values()])

    def _resources(self, items: tuple[JsonObject, ...]) -> tuple[Resource, ...]:
        resources = self._resources_known = _kept(items, self._resources_known, self._resource)
        return tuple([resource for _, resource in resources.values()])

    def _targets(self) -> ProjectTargets:
        if self._made is None:
            # Half of what serves a project is only needed when something of it is called:
            # the first list does not wait for it.
            from toolyard.sources.project.targets import ProjectTargets  # noqa: PLC0415

            self._made = ProjectTargets(self._project, self._settings, self._runner, self._changes)
        return self._made

    def _resource(self, item: JsonObject) -> Resource:
        definition, extra = split(item, self._resource_fields)
        target = LaterResource(lambda: self._targets().resource(item))
        origin = _origin(self._project.resources, item)
        return Resource(item["uri"], definition, target, origin, extra)

    def _template(self, item: JsonObject) -> Template:
        definition, extra = split(item, resources.TEMPLATE_FIELDS)
        target = LaterResource(lambda: self._targets().template(item))
        origin = _origin(self._project.resources, item)
        return Template(item["uriTemplate"], definition, target, origin, extra)

    def _unlisted(self) -> Template:
        """Files below the roots are read by their URI whether they are listed or not."""
        target = LaterResource(lambda: self._targets().unlisted_files())
        return Template("file:{+path}", {}, target, Origin("project"))

    def _prompt(self, item: JsonObject) -> Prompt:
        definition, extra = split(item, prompts.FIELDS)
        target = LaterTarget(lambda: self._targets().prompt(item))
        origin = _origin(self._project.prompts, item)
        return Prompt(item["name"], definition, target, origin, extra)

    def _completions(self, scan: Scan) -> Iterator[Completion]:
        """By hand, then beside a prompt, then beside a resource, then from schemas."""
        for item in scan.completions:
            yield _completion(item["name"], item, self._by_hand)
        for item in scan.items["prompts"]:
            if "completion" in item:
                yield _completion(item["name"], item, self._beside_prompt)
        for item in (*scan.items["resources"], *scan.items["templates"]):
            if "completion" in item:
                ref = item.get("uri") or item["uriTemplate"]
                yield _completion(ref, item, self._beside_resource)
        for item in (*scan.items["prompts"], *scan.items["templates"]):
            if lists_values(item.get("inputSchema")):
                yield _completion(item.get("uriTemplate") or item["name"], item, self._from_schema)

    def _by_hand(self, item: JsonObject) -> Target:
        return self._targets().registered_completion(item)

    def _beside_prompt(self, item: JsonObject) -> Target:
        return self._targets().prompt_completion(item)

    def _beside_resource(self, item: JsonObject) -> Target:
        return self._targets().resource_completion(item)

    def _from_schema(self, item: JsonObject) -> Target:
        return self._targets().listed_values(item)


class LaterTarget:
    """A target that is made with its first call."""

    __slots__ = ("_made", "make")

    def __init__(self, make: Callable[[], Target]) -> None:
        self.make = make
        self._made: Target | None = None

    async def call(self, arguments: JsonObject, call: Call, channel: Channel) -> Result:
        if self._made is None:
            self._made = self.make()
        return await self._made.call(arguments, call, channel)


class LaterResource:
    """The same for a resource, which can also be watched."""

    __slots__ = ("_made", "make")

    def __init__(self, make: Callable[[], ResourceTarget]) -> None:
        self.make = make
        self._made: ResourceTarget | None = None

    async def call(self, arguments: JsonObject, call: Call, channel: Channel) -> Result:
        return await self._target().call(arguments, call, channel)

    async def watch(self, arguments: JsonObject, call: Call, changed: Callable[[], None]) -> None:
        await self._target().watch(arguments, call, changed)

    def admit(self, arguments: JsonObject) -> None:
        self._target().admit(arguments)

    def _target(self) -> ResourceTarget:
        if self._made is None:
            self._made = self.make()
        return self._made


def _kept(
    items: Iterable[JsonObject],
    former: Mapping[str, tuple[JsonObject, _Entry]],
    make: Callable[[JsonObject], _Entry],
) -> dict[str, tuple[JsonObject, _Entry]]:
    """An item that is still the same keeps its entry, and with it what its target knows."""
    entries = {}
    for item in items:
        former_entry = former.get(item["name"])
        entries[item["name"]] = (
            former_entry if former_entry and former_entry[0] is item else (item, make(item))
        )
    return entries


def _completion(ref: str, item: JsonObject, make: Callable[[JsonObject], Target]) -> Completion:
    return Completion(ref, LaterTarget(lambda: make(item)), Origin("project"))


def _origin(root: str, item: JsonObject) -> Origin:
    return Origin("project", "", os.path.join(root, str(item.get("path", ""))))


def tool_entry(item: JsonObject, root: str, make_target: MakeToolTarget) -> Tool:
    path = f"{root}/{item.get('path', '')}"
    definition, extra = split(item, FIELDS)
    return Tool(
        name=item["name"],
        definition=definition,
        target=make_target(path, item["name"], item),
        origin=Origin("project", "", path),
        requires=tuple(item.get("requires", ())),
        unavailable=item.get("unavailable"),
        check_output=True,
        tasks=support_in(definition),
        asks_first=item.get("asksFirst") is True,
        extra=extra,
    )
