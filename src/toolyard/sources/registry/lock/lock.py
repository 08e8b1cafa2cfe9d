"""What was on offer, and every command and script, when it was approved; what has changed since."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from toolyard.catalog.entries import Entries, Prompt, Resource, Template, Tool
from toolyard.errors import ConfigError
from toolyard.files.objects import read_object
from toolyard.protocol.call import Json, JsonObject
from toolyard.sources.registry.format.model import Registry
from toolyard.sources.registry.lock.hashes import (
    content_hash,
    definition_hash,
    json_hash,
    told_hash,
)
from toolyard.sources.shortage import raise_if_short
from toolyard.upstreams.definition import ServerDefinition

LOCK_VERSION = 1
LOCK_NAME = "registry.lock.json"
What = Literal["server", "script", "tool", "prompt", "resource", "template"]
Kind = Literal["added", "removed", "renamed", "changed"]
# Each part of one tool, server or script, as a hash or a name.
Parts: TypeAlias = Mapping[str, str]
# What a server is started or reached by; its name, limits and exposure are not it.
_OF_A_COMMAND = ("stdio", "url", "env", "headers", "transport", "auth")
# The hash of the tool underneath has a name in it, which may be all that changed.
_NAMED = frozenset({"expectedSchemaHash"})
_PROGRAMS = frozenset({".py", ".js", ".mjs", ".cjs", ".ts", ".sh", ".rb", ".pl", ".php", ".jar"})
_SAID = {
    "command": "its command, address or environment",
    "files": "its program",
    "script": "its script",
    "content": "its definition",
    "expectedSchemaHash": "the definition of the tool underneath",
    "owner": "its owner",
}


class Change(NamedTuple):
    what: What
    name: str
    kind: Kind
    detail: str

    def __str__(self) -> str:
        return f"{self.what} {self.name} {self.detail}"


@dataclass(frozen=True, slots=True)
class Lock:
    """The parts of everything, by name."""

    servers: Mapping[str, Parts] = field(default_factory=dict)
    scripts: Mapping[str, Parts] = field(default_factory=dict)
    tools: Mapping[str, Parts] = field(default_factory=dict)
    prompts: Mapping[str, Parts] = field(default_factory=dict)
    resources: Mapping[str, Parts] = field(default_factory=dict)
    templates: Mapping[str, Parts] = field(default_factory=dict)

    def named(self, kind: str) -> Mapping[str, Parts]:
        parts_by_name: Mapping[str, Parts] = getattr(self, kind)
        return parts_by_name

    def document(self) -> JsonObject:
        sections = {
            kind: {name: dict(parts) for name, parts in sorted(self.named(kind).items())}
            for kind in KINDS
        }
        return {"lockVersion": LOCK_VERSION, **sections}


# As the lock spells them, and in the order in which changes are told.
KINDS: Mapping[str, What] = {
    "servers": "server",
    "scripts": "script",
    "tools": "tool",
    "prompts": "prompt",
    "resources": "resource",
    "templates": "template",
}


def lock(offered: Entries, scripts: Iterable[Tool], registries: Iterable[Registry] = ()) -> Lock:
    """Everything as it is now."""
    servers = {
        server.name: server_parts(server, registry)
        for registry in registries
        for server in registry.servers
    }
    parts_of_others = (others_of(offered, kind) for kind in ("prompts", "resources", "templates"))
    return Lock(servers, scripts_of(scripts), tools_of(offered.tools), *parts_of_others)


def tools_of(tools: Iterable[Tool]) -> dict[str, Parts]:
    return {tool.name: tool_parts(tool) for tool in tools if tool.listed}


def others_of(entries: Entries, kind: str) -> dict[str, Parts]:
    """Prompts, resources or templates, by the name or URI that a client asks for."""
    return {key_of(entry): other_parts(entry) for entry in getattr(entries, kind)}


def key_of(entry: Prompt | Resource | Template) -> str:
    match entry:
        case Resource():
            return entry.uri
        case Template():
            return entry.uri_template
        case _:
            return entry.name


def other_parts(entry: Prompt | Resource | Template) -> Parts:
    owner = entry.origin.owner if entry.origin.source == "upstream" else entry.origin.source
    return {"content": told_hash(entry.definition), "owner": owner}


def scripts_of(tools: Iterable[Tool]) -> dict[str, Parts]:
    return {tool.name: {"script": file_hash(tool.origin.place)} for tool in tools}


def read_lock(path: str) -> Lock:
    """Raises ConfigError."""
    value = read_object(path, remedy="; `toolyard registry lock` writes it")
    if value.get("lockVersion") != LOCK_VERSION:
        raise ConfigError.at(path, f"is not a lock of version {LOCK_VERSION}", "/lockVersion")
    return Lock(*(_named(value.get(kind)) for kind in KINDS))


def _named(value: Json) -> dict[str, Parts]:
    members = value.items() if isinstance(value, dict) else ()
    return {name: parts for name, parts in members if isinstance(parts, dict)}


def verify(approved: Lock, now: Lock) -> tuple[Change, ...]:
    """Everything that has changed."""
    return tuple(
        change
        for kind, noun in KINDS.items()
        for change in _changes(noun, approved.named(kind), now.named(kind))
    )


def _changes(noun: What, before: Mapping[str, Parts], now: Mapping[str, Parts]) -> Iterator[Change]:
    new_names = {old: new for new in now if (old := former_name(new, before, now)) is not None}
    for name in sorted(before.keys() | now.keys()):
        if name in new_names:
            yield Change(noun, name, "renamed", f"is now called {new_names[name]}")
        elif name not in now:
            yield Change(noun, name, "removed", "is not there any more")
        elif name in new_names.values():
            continue
        elif (reason := why_held(name, before, now)) is not None:
            yield Change(noun, name, "changed" if name in before else "added", reason)


def why_held(name: str, before: Mapping[str, Parts], now: Mapping[str, Parts]) -> str | None:
    """Why something is not what was approved, as the end of a sentence; None where it is."""
    if name not in before:
        former = former_name(name, before, now)
        return f"was called {former} when it was locked" if former else "is not in the lock"
    parts, parts_now = before[name], now[name]
    differences = [
        phrase for part, phrase in _SAID.items() if parts.get(part) != parts_now.get(part)
    ]
    return f"has changed since it was locked: {', '.join(differences)}" if differences else None


def former_name(name: str, before: Mapping[str, Parts], now: Mapping[str, Parts]) -> str | None:
    """The name in the lock of something that was only renamed since."""
    if name in before:
        return None
    parts = _nameless(now[name])
    names_gone = (candidate for candidate in sorted(before) if candidate not in now)
    return next(
        (candidate for candidate in names_gone if _nameless(before[candidate]) == parts), None
    )


def _nameless(parts: Parts) -> dict[str, str]:
    return {part: value for part, value in parts.items() if part not in _NAMED}


def tool_parts(tool: Tool) -> Parts:
    """What a model is told, the tool underneath, and who does the work."""
    server = tool.extra.get("server")
    owner = server if isinstance(server, str) else tool.origin.source
    parts = {"content": content_hash(tool.definition), "owner": owner}
    source_definition = tool.extra.get("underlying")
    if isinstance(source_definition, dict):
        parts["expectedSchemaHash"] = definition_hash(source_definition)
    return parts


def file_hash(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"
    except OSError as error:
        raise_if_short(error, path)
        return "missing"


def server_parts(server: ServerDefinition, registry: Registry) -> Parts:
    """As the file has it, so that no value of a variable is in it; and its own files."""
    entries = registry.raw.get("servers") or ()
    raw: JsonObject = next(
        (
            entry
            for entry in entries
            if isinstance(entry, dict) and entry.get("name") == server.name
        ),
        {},
    )
    parts = {"command": json_hash({key: raw[key] for key in _OF_A_COMMAND if key in raw})}
    files = _own_files(server, registry.file)
    return {**parts, "files": json_hash(files)} if files else parts


def _own_files(server: ServerDefinition, file: str) -> dict[str, str]:
    """Programs beside the registry; what is installed elsewhere is not ours to freeze."""
    folder = os.path.realpath(os.path.dirname(os.path.abspath(file)))
    words = [server.command, *server.args] if server.command is not None else []
    paths = [os.path.realpath(os.path.join(server.cwd or folder, word)) for word in words]
    return {
        os.path.relpath(path, folder): file_hash(path)
        for path in paths
        if path.startswith(folder + os.sep) and _is_program(path)
    }


def _is_program(path: str) -> bool:
    """Rather than data that a server works on, which is meant to change."""
    runs = os.path.splitext(path)[1] in _PROGRAMS or os.access(path, os.X_OK)
    return runs and os.path.isfile(path)
