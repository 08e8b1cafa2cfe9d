"""Servers of many clients as one list: the same server once, no name twice. Pure."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

_PORTS = {"http": 80, "https": 443}
_YES = {"-y", "--yes", "-q", "--quiet"}


@dataclass(slots=True)
class MergedServer:
    """A server of the registry, and every place that it comes from."""

    server: dict[str, Any]
    origins: list[str] = field(default_factory=list)


class Merging:
    """The registry's servers, growing by those that are not yet in it."""

    def __init__(
        self,
        present: Iterable[dict[str, Any]] = (),
        which: Callable[[str], str | None] = shutil.which,
    ) -> None:
        self._which = which
        self.added: list[MergedServer] = []
        self.known: list[MergedServer] = []
        self._by_identity: dict[str, MergedServer] = {}
        self._names: set[str] = set()
        for server in present:
            entry = MergedServer(server)
            self._names.add(str(server.get("name")))
            self._by_identity[self._identity(server)] = entry

    def add(self, name: str, native: dict[str, Any], client: str, origin: str) -> MergedServer:
        identity = self._identity(native)
        entry = self._by_identity.get(identity)
        if entry is None:
            entry = MergedServer({"name": self._free_name(name, client), **native})
            self._by_identity[identity] = entry
            self.added.append(entry)
        elif "disabled" not in native and entry in self.added:
            entry.server.pop("disabled", None)  # on in one client is on
        if entry not in self.added and entry not in self.known:
            self.known.append(entry)
        entry.origins.append(origin)
        return entry

    def _free_name(self, name: str, client: str) -> str:
        plain = re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-") or "server"
        candidates = [
            plain,
            f"{plain}-{client}",
            *(f"{plain}-{client}-{n}" for n in range(2, 1000)),
        ]
        free = next(candidate for candidate in candidates if candidate not in self._names)
        self._names.add(free)
        return free

    def _identity(self, native: dict[str, Any]) -> str:
        """What is run or called, as whom; not how it is named, or for how long it may take."""
        if "url" in native:
            return json.dumps([_place(native["url"]), native.get("headers", {})], sort_keys=True)
        stdio = native.get("stdio", {})
        command = str(stdio.get("command", ""))
        args = [str(arg) for arg in stdio.get("args", [])]
        path = os.path.realpath(self._which(command) or command) if command else ""
        if os.path.basename(command) == "npx":
            path, args = "npx", [arg for arg in args if arg not in _YES]
        parts = [path, args, stdio.get("cwd"), native.get("env", {})]
        return json.dumps(parts, sort_keys=True)


def _place(url: str) -> list[Any]:
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return [url]
    return [
        parts.scheme,
        parts.username,
        (parts.hostname or "").lower(),
        port,
        parts.path.rstrip("/"),
        parts.query,
    ]
