"""The servers in the files of clients, as they are written there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from toolyard.clients.known import JSONC, TOML, YAML, KnownClient
from toolyard.clients.machine import Machine
from toolyard.files.documents.document import Format, read
from toolyard.files.documents.splices import BOM
from toolyard.files.foreign.exchange import look

# Where clients keep their servers, the more telling names first.
_CONTAINERS = (
    ("mcpServers",),
    ("mcp", "servers"),
    ("mcp.servers",),
    ("servers",),
    ("context_servers",),
    ("mcp_servers",),
    ("amp.mcpServers",),
    ("experimental", "modelContextProtocolServers"),
    ("extensions",),
    ("mcp",),
)
_UNKNOWN = KnownClient("file", "a file", url_means="auto")
_FORMS: dict[str, Format] = {".toml": TOML, ".yaml": YAML, ".yml": YAML}


@dataclass(frozen=True, slots=True)
class ServerFile:
    """A file that may name servers."""

    client: KnownClient
    path: str
    # The folder that it is a project's file of.
    project: str = ""


@dataclass(frozen=True, slots=True)
class RawServer:
    """A server as one client has it."""

    file: ServerFile
    name: str
    entry: dict[str, Any]
    # Switched off outside of its entry.
    off: bool = False
    # The prompts that its file asks people for.
    inputs: tuple[dict[str, Any], ...] = ()


def files_on(machine: Machine, client: KnownClient) -> list[ServerFile]:
    return [ServerFile(client, path) for path in machine.files_of(client)]


def files_in(project: str, client: KnownClient) -> list[ServerFile]:
    relative = (*client.project, *(path for path in client.older if path.startswith(".")))
    paths = (os.path.join(project, path) for path in relative)
    return [ServerFile(client, path, project) for path in paths if os.path.isfile(path)]


def named_file(path: str, machine: Machine, clients: tuple[KnownClient, ...]) -> ServerFile:
    """A file that the user names: its client's, if it is where that client keeps it."""
    real = os.path.realpath(path)
    for client in clients:
        if real in map(os.path.realpath, machine.files_of(client)):
            return ServerFile(client, path)
        for relative in client.project:
            if real.endswith(f"/{relative}"):
                return ServerFile(client, path, real.removesuffix(f"/{relative}"))
    return ServerFile(_UNKNOWN, path)


def servers_in(file: ServerFile) -> list[RawServer]:
    """Raises ValueError, a sentence to follow the file's name, and OSError."""
    original = look(file.path)
    if original.data is None:
        raise ValueError("does not exist")
    form = _FORMS.get(os.path.splitext(file.path)[1].lower(), JSONC)
    document = read(original.content.removeprefix(BOM), form)
    if not isinstance(document, dict):
        raise ValueError("names no servers")
    return list(_servers(file, document))


def _servers(file: ServerFile, document: dict[str, Any]) -> Iterator[RawServer]:
    off, inputs = _switched_off(document), _inputs(document)
    for name, entry in _named(document, file.client):
        yield RawServer(file, name, entry, off=name in off, inputs=inputs)
    projects = document.get("projects")
    for folder, part in (projects if isinstance(projects, dict) else {}).items():
        if isinstance(part, dict):
            inner = ServerFile(file.client, file.path, folder)
            for name, entry in _entries(part.get("mcpServers")):
                yield RawServer(inner, name, entry, off=name in _list(part, "disabledMcpServers"))


def _named(document: dict[str, Any], client: KnownClient) -> Iterator[tuple[str, dict[str, Any]]]:
    for path in (client.container, *_CONTAINERS):
        container: Any = document
        for key in path:
            container = container.get(key) if isinstance(container, dict) else None
        if isinstance(container, dict | list):
            yield from _entries(container)
            return


def _entries(container: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(container, dict):
        yield from ((str(n), entry) for n, entry in container.items() if isinstance(entry, dict))
    for number, entry in enumerate(container if isinstance(container, list) else ()):
        if isinstance(entry, dict):
            yield str(entry.get("name") or f"server-{number + 1}"), entry


def _switched_off(document: dict[str, Any]) -> set[str]:
    """The lists of servers outside of their entries that say which are off."""
    mcp = document.get("mcp")
    lists = mcp if isinstance(mcp, dict) else {}
    off = {*_list(document, "disabledMcpServers"), *_list(document, "disabledMcpjsonServers")}
    off |= set(_list(lists, "excluded"))
    allowed = _list(lists, "allowed")
    if allowed:
        names = {name for name, _ in _entries(document.get("mcpServers"))}
        off |= names - set(allowed)
    return off


def _list(holder: dict[str, Any], key: str) -> list[str]:
    value = holder.get(key)
    return [str(item) for item in value] if isinstance(value, list) else []


def _inputs(document: dict[str, Any]) -> tuple[dict[str, Any], ...]:
    mcp = document.get("mcp")
    inputs = document.get("inputs") or (mcp.get("inputs") if isinstance(mcp, dict) else None)
    return tuple(i for i in (inputs if isinstance(inputs, list) else ()) if isinstance(i, dict))
