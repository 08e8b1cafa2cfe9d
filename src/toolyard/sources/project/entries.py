"""Items become entries: each gets the target that does its work."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from toolyard.catalog.entries import Completion, Entries, Origin, Prompt, Resource, Template
from toolyard.protocol.call import JsonObject, Target
from toolyard.runners.changes import FileChanges
from toolyard.runners.completions import (
    CompletionScript,
    IssuedCursors,
    ListedValues,
    ScriptCompletion,
    lists_values,
)
from toolyard.runners.contents import About
from toolyard.runners.environ import compact
from toolyard.runners.files import DataFile
from toolyard.runners.pages import StaticPage, TemplatePage
from toolyard.runners.prompts import ProgramPrompt, TextPrompt
from toolyard.runners.providers import Refusing
from toolyard.runners.resources import ByScheme, Program, Reader, ResourceTarget
from toolyard.runners.runner import Runner
from toolyard.settings import Settings
from toolyard.sources.project import prompts, resources
from toolyard.sources.project.items import split
from toolyard.sources.project.layout import Project
from toolyard.sources.project.readers import Readers
from toolyard.sources.project.scan import Scan
from toolyard.sources.project.tools import MakeToolTarget, tool_entry


@dataclass(frozen=True, slots=True)
class Builder:
    """Makes the entries of one project."""

    project: Project
    settings: Settings
    runner: Runner
    make_tool_target: MakeToolTarget
    changes: FileChanges
    issued: IssuedCursors

    def entries(self, scan: Scan) -> Entries:
        served = {k: () if k in scan.broken else tuple(v) for k, v in scan.items.items()}
        readers = Readers(self.project, self.settings, self.runner)
        return Entries(
            tools=tuple(
                tool_entry(item, self.project.tools, self.make_tool_target)
                for item in served.get("tools", ())
            ),
            resources=tuple(self._resource(i, readers) for i in served.get("resources", ())),
            templates=tuple(self._template(i, readers) for i in served.get("templates", ())),
            prompts=tuple(map(self._prompt, served.get("prompts", ()))),
            completions=() if scan.broken else tuple(self._completions(scan)),
            broken=scan.broken,
            warnings=scan.warnings,
        )

    def _resource(self, item: JsonObject, readers: Readers) -> Resource:
        definition, extra = split(item, resources.FIELDS)
        place = self._place(self.project.resources, item)
        target = self._target(self._reader(item, place, readers), item)
        return Resource(item["uri"], definition, target, Origin("project", "", place), extra)

    def _template(self, item: JsonObject, readers: Readers) -> Template:
        definition, extra = split(item, resources.TEMPLATE_FIELDS)
        place = self._place(self.project.resources, item)
        reader: Reader
        if item.get("path"):
            reader = Program(place, item, self.runner)
        elif item.get("provider"):
            reader = readers.named(str(item["provider"]), item)
        else:
            reader = ByScheme(readers.by_scheme(item), Refusing("no provider reads this URI"))
        origin = Origin("project", "", place)
        return Template(item["uriTemplate"], definition, self._target(reader, item), origin, extra)

    def _reader(self, item: JsonObject, place: str, readers: Readers) -> Reader:
        if item.get("unavailable"):
            return Refusing(str(item["unavailable"]))
        if isinstance(item.get("page"), str):
            return self._page(item)
        if item.get("executable"):
            return Program(place, item, self.runner)
        if item["provider"] == "file" and item.get("path"):
            return DataFile(place, self.project.resources, self.settings.max_resource_bytes)
        return readers.named(str(item["provider"]), item)

    def _page(self, item: JsonObject) -> Reader:
        if "template" in item:
            return TemplatePage(str(item["template"]), item["config"])
        limit = self.settings.max_ui_resource_bytes
        folder = os.path.realpath(os.path.join(self.project.root, item["page"]))
        return StaticPage(folder, item["entrypoint"], limit)

    def _target(self, reader: Reader, item: JsonObject) -> ResourceTarget:
        meta = item.get("_meta") if item.get("provider") == "ui" else None
        about = About(
            provider=str(item.get("provider", "file")),
            mime_type=str(item.get("mimeType") or "text/plain"),
            meta=meta or {},
        )
        interval = self.settings.resources_poll_interval_secs
        return ResourceTarget(reader, about, interval, self.changes)

    def _prompt(self, item: JsonObject) -> Prompt:
        definition, extra = split(item, prompts.FIELDS)
        place = self._place(self.project.prompts, item)
        target: Target
        if item.get("executable"):
            target = ProgramPrompt(place, item, self.runner)
        else:
            target = TextPrompt(place, item, self.settings.max_resource_bytes)
        return Prompt(item["name"], definition, target, Origin("project", "", place), extra)

    def _completions(self, scan: Scan) -> Iterator[Completion]:
        """By hand, then beside a prompt, then beside a resource, then from schemas."""
        for item in scan.completions:
            yield self._scripted(item["name"], CompletionScript(item["name"], item["path"], item))
        for item in scan.items["prompts"]:
            if "completion" in item:
                yield self._scripted(item["name"], self._prompt_script(item))
        for kind, key in (("resources", "uri"), ("templates", "uriTemplate")):
            for item in scan.items[kind]:  # type: ignore[index]
                if "completion" in item:
                    yield self._scripted(item[key], self._resource_script(item, item[key]))
        for item, ref in _with_schemas(scan):
            schema = item["inputSchema"]
            yield Completion(ref, ListedValues(item["name"], schema), Origin("project"))

    def _scripted(self, ref: str, script: CompletionScript) -> Completion:
        target = ScriptCompletion(script, self.runner, self.issued)
        return Completion(ref, target, Origin("project", "", script.path))

    def _prompt_script(self, item: JsonObject) -> CompletionScript:
        told = {
            "MCP_PROMPT_REL_PATH": item["path"],
            "MCP_PROMPT_PATH": self._place(self.project.prompts, item),
            "MCP_PROMPT_METADATA": _short(item),
        }
        path = os.path.join(self.project.prompts, item["completion"])
        return CompletionScript(item["name"], path, item, told)

    def _resource_script(self, item: JsonObject, uri: str) -> CompletionScript:
        told = {
            "MCP_RESOURCE_REL_PATH": str(item.get("path", "")),
            "MCP_RESOURCE_PATH": self._place(self.project.resources, item),
            "MCP_RESOURCE_URI": uri,
            "MCP_RESOURCE_PROVIDER": str(item.get("provider", "")),
            "MCP_RESOURCE_METADATA": _short(item),
        }
        path = os.path.join(self.project.resources, item["completion"])
        return CompletionScript(item["name"], path, item, told)

    def _place(self, root: str, item: Mapping[str, object]) -> str:
        return os.path.join(root, str(item.get("path", "")))


def _with_schemas(scan: Scan) -> Iterator[tuple[JsonObject, str]]:
    for item in scan.items["prompts"]:
        if lists_values(item["inputSchema"]):
            yield item, item["name"]
    for item in scan.items["templates"]:
        if lists_values(item.get("inputSchema") or {}):
            yield item, item["uriTemplate"]


def _short(item: JsonObject) -> str:
    """Metadata for a variable: icons are left out, they can be larger than one may be."""
    text = compact({key: value for key, value in item.items() if key != "icons"}).decode()
    return text if len(text) < 65536 else "{}"
