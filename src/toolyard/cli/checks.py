"""What can be wrong with a project, found by looking at its files; runs nothing."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeAlias

from toolyard.catalog.validation import compile_checker
from toolyard.protocol.call import JsonObject
from toolyard.settings import Settings
from toolyard.sources.project.identity import read_identity
from toolyard.sources.project.layout import Project
from toolyard.sources.project.metadata import Metadata
from toolyard.sources.project.scan import Scan, scan
from toolyard.sources.project.walk import META_SUFFIX, Walk

Level: TypeAlias = Literal["ok", "warning", "error"]
_TOOL_NAME = re.compile(r"[A-Za-z0-9_./-]{1,128}")
_SHARED_WRITE = stat.S_IWGRP | stat.S_IWOTH


class Permissions(NamedTuple):
    """A change of permissions that mends a finding."""

    path: str
    add: int = 0
    remove: int = 0


class Finding(NamedTuple):
    level: Level
    section: str
    message: str
    mend: Permissions | None = None


def examine(project: Project, settings: Settings) -> Iterator[Finding]:
    """Everything there is to say of a project, worst and best alike."""
    yield from _server(project, settings)
    unreadable = list(_metadata_files(project))
    yield from unreadable
    found = scan(project, settings, Metadata())
    for item in found.items.get("tools", ()):
        yield from _tool(item, project)
    for kind in ("resources", "templates", "prompts"):
        for item in found.items.get(kind, ()):
            yield from _described(kind, item)
    yield from _of_the_scan(found, unreadable)


def _server(project: Project, settings: Settings) -> Iterator[Finding]:
    path = os.path.join(project.server, "server.meta.json")
    identity = read_identity(project, settings)
    for warning in identity.warnings:
        yield Finding("error", "server", warning)
    if not os.path.exists(path):
        yield Finding("warning", "server", f"{path}: is missing; the folder's name is used")
    elif not identity.warnings:
        info = identity.info
        yield Finding("ok", "server", f"{info['name']} {info['version']}")
    for folder in (project.root, project.server):
        if os.path.isdir(folder) and os.stat(folder).st_mode & _SHARED_WRITE:
            yield _writable("server", folder)


def _metadata_files(project: Project) -> Iterator[Finding]:
    for section in ("tools", "resources", "prompts"):
        walk = Walk(getattr(project, section))
        for folder in walk.folders():
            for name, file in folder.files.items():
                if name.endswith(META_SUFFIX):
                    problem = _why_not_json(file.path)
                    if problem:
                        yield Finding("error", section, f"{file.path}: {problem}")


def _why_not_json(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8-sig") as stream:
            content = json.load(stream)
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    except ValueError as error:
        return f"is not JSON: {error}"
    return None if isinstance(content, dict) else "must hold a JSON object"


def _tool(item: JsonObject, project: Project) -> Iterator[Finding]:
    name, path = item["name"], os.path.join(project.tools, item.get("path", ""))
    found = [*_script(path), *_schemas(item, path)]
    if not item.get("description"):
        text = f"{name}: has no description; a model would not know when to use it"
        found.append(Finding("warning", "tools", text))
    if not _TOOL_NAME.fullmatch(name):
        text = f"{name}: some clients refuse names of other than letters, digits and _ - . /"
        found.append(Finding("warning", "tools", text))
    yield from found or [Finding("ok", "tools", name)]


def _script(path: str) -> Iterator[Finding]:
    try:
        mode = os.stat(path).st_mode
    except OSError as error:
        yield Finding("error", "tools", f"{path}: {error.strerror}")
        return
    if not mode & stat.S_IXUSR:
        executable = Permissions(path, add=stat.S_IXUSR | (mode & 0o044) >> 2)
        yield Finding("warning", "tools", f"{path}: is not executable", executable)
    if mode & _SHARED_WRITE:
        yield _writable("tools", path)


def _writable(section: str, path: str) -> Finding:
    text = f"{path}: can be written by group or others, so it is not trusted (chmod go-w)"
    return Finding("error", section, text, Permissions(path, remove=_SHARED_WRITE))


def _schemas(item: JsonObject, path: str) -> Iterator[Finding]:
    for field in ("inputSchema", "outputSchema"):
        schema = item.get(field)
        if schema is None:
            continue
        try:
            compile_checker(schema)
        except ValueError as error:
            yield Finding("error", "tools", f"{path}: {field} is not a JSON Schema: {error}")


def _described(kind: str, item: JsonObject) -> Iterator[Finding]:
    name = item["name"]
    if item.get("description"):
        yield Finding("ok", kind, name)
    else:
        yield Finding("warning", kind, f"{name}: has no description")


def _of_the_scan(found: Scan, said: list[Finding]) -> Iterator[Finding]:
    """What the server itself would warn of, unless it was said in other words already."""
    places = {finding.message.partition(": ")[0] for finding in said}
    for kind, why in found.broken.items():
        yield Finding("error", kind, why)
    for warning in found.warnings:
        if warning.partition(": ")[0] not in places:
            yield Finding("warning", "project", warning)
