"""What every tool, command and script was when it was approved, and what has changed since."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

import orjson

from toolyard.catalog.entries import Tool
from toolyard.errors import ConfigError
from toolyard.protocol.call import Json, JsonObject
from toolyard.sources.registry.hashes import content_hash, definition_hash, json_hash
from toolyard.sources.registry.model import Registry
from toolyard.upstreams.definition import ServerDefinition

LOCK_VERSION = 1
LOCK_NAME = "registry.lock.json"
What = Literal["server", "script", "tool"]
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

    def document(self) -> JsonObject:
        kinds = {"servers": self.servers, "scripts": self.scripts, "tools": self.tools}
        listed = {
            kind: {name: dict(parts) for name, parts in sorted(named.items())}
            for kind, named in kinds.items()
        }
        return {"lockVersion": LOCK_VERSION, **listed}


def lock(
    tools: Iterable[Tool], scripts: Iterable[Tool], registries: Iterable[Registry] = ()
) -> Lock:
    """Everything as it is now."""
    servers = {
        server.name: server_parts(server, registry)
        for registry in registries
        for server in registry.servers
    }
    return Lock(servers, scripts_of(scripts), tools_of(tools))


def tools_of(tools: Iterable[Tool]) -> dict[str, Parts]:
    return {tool.name: tool_parts(tool) for tool in tools if tool.listed}


def scripts_of(tools: Iterable[Tool]) -> dict[str, Parts]:
    return {tool.name: {"script": file_hash(tool.origin.place)} for tool in tools}


def read_lock(path: str) -> Lock:
    """Raises ConfigError."""
    try:
        with open(path, "rb") as file:
            value = orjson.loads(file.read())
    except OSError as error:
        said = f"cannot be read: {error.strerror}; `toolyard registry lock` writes it"
        raise ConfigError.at(path, said) from None
    except ValueError as error:
        raise ConfigError.at(path, f"is not JSON: {error}") from None
    if not isinstance(value, dict) or value.get("lockVersion") != LOCK_VERSION:
        raise ConfigError.at(path, f"is no lock of version {LOCK_VERSION}", "/lockVersion")
    return Lock(*(_named(value.get(kind)) for kind in ("servers", "scripts", "tools")))


def _named(value: Json) -> dict[str, Parts]:
    found = value.items() if isinstance(value, dict) else ()
    return {name: parts for name, parts in found if isinstance(parts, dict)}


def verify(locked: Lock, now: Lock) -> tuple[Change, ...]:
    """What is not as it was; nothing, where all is."""
    return (
        *_changes("server", locked.servers, now.servers),
        *_changes("script", locked.scripts, now.scripts),
        *_changes("tool", locked.tools, now.tools),
    )


def _changes(what: What, before: Mapping[str, Parts], now: Mapping[str, Parts]) -> Iterator[Change]:
    renamed = {old: new for new in now if (old := former_name(new, before, now)) is not None}
    for name in sorted(before.keys() | now.keys()):
        if name in renamed:
            yield Change(what, name, "renamed", f"is now called {renamed[name]}")
        elif name not in now:
            yield Change(what, name, "removed", "is not there any more")
        elif name in renamed.values():
            continue
        elif (reason := why_held(name, before, now)) is not None:
            yield Change(what, name, "changed" if name in before else "added", reason)


def why_held(name: str, before: Mapping[str, Parts], now: Mapping[str, Parts]) -> str | None:
    """Why something is not what was approved, as the end of a sentence; None where it is."""
    if name not in before:
        former = former_name(name, before, now)
        return f"was called {former} when it was locked" if former else "is not in the lock"
    parts, found = before[name], now[name]
    changed = [said for part, said in _SAID.items() if parts.get(part) != found.get(part)]
    return f"has changed since it was locked: {', '.join(changed)}" if changed else None


def former_name(name: str, before: Mapping[str, Parts], now: Mapping[str, Parts]) -> str | None:
    """What something that is not in the lock was called there, if it is only renamed."""
    if name in before:
        return None
    parts = _nameless(now[name])
    gone = (one for one in sorted(before) if one not in now)
    return next((one for one in gone if _nameless(before[one]) == parts), None)


def _nameless(parts: Parts) -> dict[str, str]:
    return {part: value for part, value in parts.items() if part not in _NAMED}


def tool_parts(tool: Tool) -> Parts:
    """What a model is told, what stands underneath, and who does the work."""
    server = tool.extra.get("server")
    owner = server if isinstance(server, str) else tool.origin.source
    parts = {"content": content_hash(tool.definition), "owner": owner}
    underlying = tool.extra.get("underlying")
    if isinstance(underlying, dict):
        parts["expectedSchemaHash"] = definition_hash(underlying)
    return parts


def file_hash(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"
    except OSError:
        return "missing"


def server_parts(server: ServerDefinition, registry: Registry) -> Parts:
    """As the file has it, so that no value of a variable is in it; and its own files."""
    listed = registry.raw.get("servers") or ()
    raw: JsonObject = next(
        (one for one in listed if isinstance(one, dict) and one.get("name") == server.name), {}
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
    """Not the data that a server is pointed at, which is there to change."""
    runs = os.path.splitext(path)[1] in _PROGRAMS or os.access(path, os.X_OK)
    return runs and os.path.isfile(path)
