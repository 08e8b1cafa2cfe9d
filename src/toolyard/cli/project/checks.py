"""What can be wrong with a project, found by looking at its files; runs nothing."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeAlias

from toolyard.catalog.validation import compile_checker
from toolyard.protocol.call import JsonObject
from toolyard.settings import Settings
from toolyard.sources.project.discover.examining import examine_metadata
from toolyard.sources.project.discover.metadata import Metadata, head
from toolyard.sources.project.discover.scan import Scan, scan
from toolyard.sources.project.discover.tools import RUNNABLE
from toolyard.sources.project.discover.walk import META_SUFFIX, Walk, stem_of
from toolyard.sources.project.identity import read_identity
from toolyard.sources.project.layout import Project

Level: TypeAlias = Literal["info", "warning", "error"]
_TOOL_NAME = re.compile(r"[A-Za-z0-9_./-]{1,128}")
_SHARED_WRITE = stat.S_IWGRP | stat.S_IWOTH


class Permissions(NamedTuple):
    """A change of permissions that fixes what was found."""

    path: str
    add: int = 0
    remove: int = 0


class Finding(NamedTuple):
    """One thing to say about a project: a mistake, or that something is in order."""

    level: Level
    section: str
    place: str  # a path from the project's folder, where it is inside
    text: str
    fix: Permissions | None = None

    @property
    def message(self) -> str:
        return f"{self.place} - {self.text}"


def examine(project: Project, settings: Settings) -> Iterator[Finding]:
    """Everything there is to say about a project, good and bad."""
    return _Examination(project, settings).findings()


class _Examination:
    """One look at a project: scanned once, then checked part by part."""

    def __init__(self, project: Project, settings: Settings) -> None:
        self._project = project
        self._settings = settings
        self._scan: Scan = scan(project, settings, Metadata())

    def findings(self) -> Iterator[Finding]:
        yield from self._server()
        details = [*self._metadata(), *self._tools(), *self._resource_scripts()]
        yield from details
        for kind in ("resources", "templates", "prompts"):
            for item in self._scan.items.get(kind, ()):
                yield self._described(kind, item)
        yield from self._of_the_scan({finding.place for finding in details})

    def _place(self, path: str) -> str:
        root = self._project.root
        return os.path.relpath(path, root) if path.startswith(root + os.sep) else path

    def _server(self) -> Iterator[Finding]:
        path = os.path.join(self._project.server, "server.meta.json")
        place = self._place(path)
        identity = read_identity(self._project, self._settings)
        problems = list(examine_metadata(path, "server")) if os.path.exists(path) else []
        for level, text in problems:
            yield Finding(level, "server", place, text)
        if not os.path.exists(path):
            yield Finding("warning", "server", place, "is missing; the folder's name is used")
        elif all(level != "error" for level, _ in problems):
            yield from self._identity_findings(identity.warnings, place)
            info = identity.info
            yield Finding("info", "server", place, f"{info['name']} {info['version']}")
        for folder in (self._project.root, self._project.server):
            if os.path.isdir(folder) and os.stat(folder).st_mode & _SHARED_WRITE:
                yield self._writable("server", folder)

    def _identity_findings(self, warnings: tuple[str, ...], place: str) -> Iterator[Finding]:
        for warning in warnings:
            yield Finding("error", "server", place, warning.partition(": ")[2])

    def _metadata(self) -> Iterator[Finding]:
        """Each metadata file by itself."""
        for section in ("tools", "resources", "prompts"):
            for folder in Walk(getattr(self._project, section)).folders():
                meta_files = [name for name in folder.files if name.endswith(META_SUFFIX)]
                is_tool = section == "tools" and not folder.relative.endswith("/ui")
                for name in meta_files:
                    path = folder.files[name].path
                    kind = "" if section == "tools" and not is_tool else section[:-1]
                    for level, text in examine_metadata(path, kind, needs_name=is_tool):
                        yield Finding(level, section, self._place(path), text)
                if is_tool and folder.relative and len(meta_files) == 1:
                    yield from self._misnamed(folder.path, meta_files[0])

    def _misnamed(self, folder: str, file: str) -> Iterator[Finding]:
        """A tool is hard to find in a folder of another name."""
        path = os.path.join(folder, file)
        name = next(
            (
                item["name"]
                for item in self._scan.items.get("tools", ())
                if os.path.dirname(os.path.join(self._project.tools, item["path"])) == folder
            ),
            None,
        )
        if name is None or not os.path.exists(path):
            return
        server = _folded(read_identity(self._project, self._settings).info["name"])
        names = {_folded(name), _folded(name).removeprefix(server)}
        if _folded(os.path.basename(folder)) not in names:
            text = f'directory name does not match {file} name "{name}"'
            yield Finding("warning", "tools", self._place(folder), text)

    def _tools(self) -> Iterator[Finding]:
        for item in self._scan.items.get("tools", ()):
            path = os.path.join(self._project.tools, item.get("path", ""))
            place, name = self._place(path), item["name"]
            findings = [*self._script("tools", path), *self._schemas(item, place)]
            if not item.get("description"):
                text = f"{name} has no description; a model would not know when to use it"
                findings.append(Finding("warning", "tools", place, text))
            if not _TOOL_NAME.fullmatch(name):
                text = f"{name}: some clients accept only letters, digits and _ - . / in names"
                findings.append(Finding("warning", "tools", place, text))
            yield from findings or [Finding("info", "tools", place, f"tool {name}")]

    def _resource_scripts(self) -> Iterator[Finding]:
        """A `.sh` beside a resource's metadata is meant to be run."""
        for item in self._scan.items.get("resources", ()):
            path = os.path.join(self._project.resources, str(item.get("path", "")))
            beside = (path + META_SUFFIX, stem_of(path) + META_SUFFIX)
            if path.endswith(".sh") and any(map(os.path.isfile, beside)):
                yield from self._script("resources", path)

    def _script(self, section: str, path: str) -> Iterator[Finding]:
        place = self._place(path)
        try:
            mode = os.stat(path).st_mode
        except OSError as error:
            yield Finding("error", section, place, str(error.strerror))
            return
        if not mode & stat.S_IXUSR:
            executable = Permissions(path, add=stat.S_IXUSR | (mode & 0o044) >> 2)
            yield Finding("error", section, place, "not executable", executable)
        if not head(path, 4).startswith(RUNNABLE):
            yield Finding("warning", section, place, "missing shebang")
        if mode & _SHARED_WRITE:
            yield self._writable(section, path)

    def _writable(self, section: str, path: str) -> Finding:
        text = "can be written by group or others, so it is not trusted (chmod go-w)"
        fix = Permissions(path, remove=_SHARED_WRITE)
        return Finding("error", section, self._place(path), text, fix)

    def _schemas(self, item: JsonObject, place: str) -> Iterator[Finding]:
        for field in ("inputSchema", "outputSchema"):
            schema = item.get(field)
            if schema is None:
                continue
            try:
                compile_checker(schema)
            except ValueError as error:
                text = f"{field} is not a JSON Schema: {error}"
                yield Finding("error", "tools", place, text)

    def _described(self, kind: str, item: JsonObject) -> Finding:
        folder = self._project.prompts if kind == "prompts" else self._project.resources
        path = item.get("path")
        place = self._place(os.path.join(folder, path)) if path else self._place(folder)
        if item.get("description"):
            return Finding("info", kind, place, str(item["name"]))
        return Finding("warning", kind, place, f"{item['name']} has no description")

    def _of_the_scan(self, places: set[str]) -> Iterator[Finding]:
        """What the server itself would warn of, for places about which nothing was said yet."""
        for kind, why in self._scan.broken.items():
            yield Finding("error", kind, self._place(self._project.server), why)
        for warning in self._scan.warnings:
            path, colon, text = warning.partition(": ")
            place = self._place(path) if colon else self._place(self._project.server)
            if place not in places:
                yield Finding("warning", "project", place, text if colon else warning)


def _folded(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")
