"""One machine as clients see it: its system, its home folder, its variables. Finds their files."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from glob import escape, glob
from typing import Literal, get_args

from toolyard.clients.known import KnownClient

System = Literal["linux", "macos", "windows"]
Scope = Literal["user", "project"]
SYSTEMS: tuple[System, ...] = get_args(System)
_OURS: Mapping[str, System] = {"darwin": "macos", "win32": "windows"}
# Folders by the word that stands for them: variable, or where it is below the home folder.
_FOLDERS: Mapping[System, Mapping[str, tuple[str, str]]] = {
    "linux": {
        "AS": ("XDG_CONFIG_HOME", ".config"),
        "CFG": ("XDG_CONFIG_HOME", ".config"),
    },
    "macos": {
        "AS": ("", "Library/Application Support"),
        "CFG": ("XDG_CONFIG_HOME", ".config"),
    },
    "windows": {
        "AS": ("APPDATA", "AppData/Roaming"),
        "CFG": ("XDG_CONFIG_HOME", ".config"),
        "APPDATA": ("APPDATA", "AppData/Roaming"),
        "LOCALAPPDATA": ("LOCALAPPDATA", "AppData/Local"),
    },
}


@dataclass(frozen=True, slots=True)
class Machine:
    """Where to look. Another one's files can be below a folder of ours."""

    home: str
    system: System = "linux"
    environ: Mapping[str, str] = field(default_factory=dict)

    @property
    def state(self) -> str:
        """The folder in which we remember what we have changed."""
        base = self.environ.get("XDG_STATE_HOME") or os.path.join(self.home, ".local", "state")
        return os.path.join(base, "toolyard", "links")

    def file_of(self, client: KnownClient) -> str | None:
        """The user's file that the client reads; None where it has none on this system."""
        candidates = list(self._candidates(client.user))
        present = [path for path in candidates if os.path.lexists(path)]
        possible = [path for path in candidates if os.path.isdir(os.path.dirname(path))]
        return next(iter([*present, *possible, *candidates]), None)

    def files_of(self, client: KnownClient) -> tuple[str, ...]:
        """Every file of the user that the client, or an older version of it, may have."""
        paths = (*self._candidates(client.user), *self._candidates(client.older))
        return tuple(path for path in dict.fromkeys(paths) if os.path.isfile(path))

    def has(self, client: KnownClient) -> bool:
        """Is the client here? Its folder is, or something else that it makes."""
        signs = [*self._candidates(client.signs)] or [
            os.path.dirname(path) for path in self._candidates(client.user)
        ]
        return any(os.path.lexists(sign) for sign in signs)

    def managed_by(self, client: KnownClient) -> str | None:
        """The file of an administrator that makes every other one count for nothing."""
        paths = self._candidates(client.managed)
        return next((path for path in paths if os.path.isfile(path)), None)

    def _candidates(self, patterns: tuple[str, ...]) -> Iterator[str]:
        for pattern in patterns:
            system, colon, rest = pattern.partition(":")
            if colon and system in SYSTEMS:
                if system != self.system:
                    continue
                pattern = rest
            paths = self._paths(pattern)
            yield from paths
            if pattern.startswith("$") and paths:
                return  # the user has moved it there

    def _paths(self, pattern: str) -> list[str]:
        if pattern.startswith("@"):
            pointer, _, rest = pattern[1:].rpartition("/")
            folder = _pointed(self._paths(pointer)[0])
        else:
            head, _, rest = pattern.partition("/")
            folder = self._folder(head)
        if folder is None:
            return []
        if "*" in rest:
            return sorted(glob(os.path.join(escape(folder), rest)))
        return [os.path.join(folder, rest) if rest else folder]

    def _folder(self, head: str) -> str | None:
        """The folder that the first part of a pattern stands for."""
        if head == "~":
            return self.home
        if head.startswith("$"):
            return self.environ.get(head[1:]) or None
        if head not in _FOLDERS[self.system]:
            return f"{head}/"
        variable, below = _FOLDERS[self.system][head]
        return self.environ.get(variable) or os.path.join(self.home, below)


def _pointed(file: str) -> str | None:
    """The folder that is written in a file."""
    try:
        with open(file, encoding="utf-8") as stream:
            return stream.read(4096).strip() or None
    except (OSError, ValueError):
        return None


def this_machine(home: str | None = None, system: str | None = None) -> Machine:
    """Ours; or, below another home folder, one whose variables we do not know."""
    kind = _OURS.get(sys.platform, "linux") if system is None else system
    assert kind in SYSTEMS
    if home is None:
        return Machine(os.path.expanduser("~"), kind, os.environ)
    return Machine(os.path.abspath(home), kind)


def whereabouts(client: KnownClient) -> str:
    """Where its file is, on any machine, in words."""
    paths = dict.fromkeys(Machine("~", system).file_of(client) for system in SYSTEMS)
    users = " or ".join(path for path in paths if path)
    project = f"{client.project[0]} in a project" if client.project else ""
    return ", or ".join(place for place in (users, project) if place)
