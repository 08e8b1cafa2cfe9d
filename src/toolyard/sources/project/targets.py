"""Which target does the work of an item. Loaded with the first call: listing needs none of it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping

from toolyard.protocol.call import JsonObject, Target
from toolyard.scripts.completion import (
    CompletionScript,
    IssuedCursors,
    ListedValues,
    ScriptCompletion,
)
from toolyard.scripts.contract.environ import compact
from toolyard.scripts.prompt import ProgramPrompt, TextPrompt
from toolyard.scripts.resources.changes import FileChanges
from toolyard.scripts.resources.contents import About
from toolyard.scripts.resources.files import DataFile
from toolyard.scripts.resources.pages import StaticPage, TemplatePage
from toolyard.scripts.resources.providers import Refusing
from toolyard.scripts.resources.target import ByScheme, ProgramReader, Reader, ResourceTarget
from toolyard.scripts.running.runner import Runner
from toolyard.settings import Settings
from toolyard.sources.project.discover.unlisted import UnlistedFiles
from toolyard.sources.project.layout import Project
from toolyard.sources.project.readers import Readers, roots_of


class ProjectTargets:
    """Makes the targets of one project."""

    def __init__(
        self, project: Project, settings: Settings, runner: Runner, changes: FileChanges
    ) -> None:
        self._project = project
        self._settings = settings
        self._runner = runner
        self._changes = changes
        self._issued = IssuedCursors()
        # Scripts that are run only to see whether something changed leave room for calls.
        self._looks = asyncio.Semaphore(max(1, settings.max_concurrent_requests // 4))

    def resource(self, item: JsonObject) -> ResourceTarget:
        return self._target(self._reader(item), item)

    def template(self, item: JsonObject) -> ResourceTarget:
        readers = self._readers()
        reader: Reader
        if item.get("path"):
            reader = ProgramReader(self._place(self._project.resources, item), item, self._runner)
        elif item.get("provider"):
            reader = readers.named(str(item["provider"]), item)
        else:
            reader = ByScheme(readers.by_scheme(item), Refusing("no provider reads this URI"))
        return self._target(reader, item)

    def unlisted_files(self) -> ResourceTarget:
        roots, most = roots_of(self._project, self._settings), self._settings.max_resource_bytes
        return self._target(UnlistedFiles(self._project, roots, most), {"provider": "file"})

    def prompt(self, item: JsonObject) -> Target:
        place = self._place(self._project.prompts, item)
        if item.get("executable"):
            return ProgramPrompt(place, item, self._runner)
        most, trim = self._settings.max_resource_bytes, self._runner.settings.trim_texts
        return TextPrompt(place, item, most, trim=trim)

    def registered_completion(self, item: JsonObject) -> Target:
        return self._scripted(CompletionScript(item["name"], item["path"], item))

    def prompt_completion(self, item: JsonObject) -> Target:
        variables = {
            "MCP_PROMPT_REL_PATH": item["path"],
            "MCP_PROMPT_PATH": self._place(self._project.prompts, item),
            "MCP_PROMPT_METADATA": _short(item),
        }
        path = os.path.join(self._project.prompts, item["completion"])
        return self._scripted(CompletionScript(item["name"], path, item, variables))

    def resource_completion(self, item: JsonObject) -> Target:
        variables = {
            "MCP_RESOURCE_REL_PATH": str(item.get("path", "")),
            "MCP_RESOURCE_PATH": self._place(self._project.resources, item),
            "MCP_RESOURCE_URI": str(item.get("uri") or item.get("uriTemplate")),
            "MCP_RESOURCE_PROVIDER": str(item.get("provider", "")),
            "MCP_RESOURCE_METADATA": _short(item),
        }
        path = os.path.join(self._project.resources, item["completion"])
        return self._scripted(CompletionScript(item["name"], path, item, variables))

    def listed_values(self, item: JsonObject) -> Target:
        return ListedValues(item["name"], item["inputSchema"])

    def _scripted(self, script: CompletionScript) -> Target:
        return ScriptCompletion(script, self._runner, self._issued)

    def _readers(self) -> Readers:
        return Readers(self._project, self._settings, self._runner)

    def _reader(self, item: JsonObject) -> Reader:
        place = self._place(self._project.resources, item)
        if item.get("unavailable"):
            return Refusing(str(item["unavailable"]))
        if isinstance(item.get("page"), str):
            return self._page(item)
        if item.get("executable"):
            return ProgramReader(place, item, self._runner)
        if item["provider"] == "file" and item.get("path"):
            return DataFile(place, self._project.resources, self._settings.max_resource_bytes)
        return self._readers().named(str(item["provider"]), item)

    def _page(self, item: JsonObject) -> Reader:
        if "template" in item:
            return TemplatePage(str(item["template"]), item["config"])
        folder = os.path.realpath(os.path.join(self._project.root, item["page"]))
        return StaticPage(folder, item["entrypoint"], self._settings.max_ui_resource_bytes)

    def _target(self, reader: Reader, item: JsonObject) -> ResourceTarget:
        meta = item.get("_meta") if item.get("provider") == "ui" else None
        about = About(
            provider=str(item.get("provider", "file")),
            mime_type=str(item.get("mimeType") or "text/plain"),
            meta=meta or {},
            trim=self._runner.settings.trim_texts,
        )
        interval = self._settings.resources_poll_interval_secs
        return ResourceTarget(reader, about, interval, self._changes, self._looks)

    def _place(self, root: str, item: Mapping[str, object]) -> str:
        return os.path.join(root, str(item.get("path", "")))


def _short(item: JsonObject) -> str:
    """Metadata for a variable: icons are left out, they can be larger than one may be."""
    text = compact({key: value for key, value in item.items() if key != "icons"}).decode()
    return text if len(text) < 65536 else "{}"
