"""The files of this program and of the libraries it needs, as they are installed here."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import toolyard
from toolyard.errors import ConfigError

NAME = "toolyard"
_REQUIREMENT = re.compile(r"^([A-Za-z0-9._-]+)(?:\[([^\]]*)\])?([^;]*)(?:;(.*))?$")
_EXTRA = re.compile(r"extra\s*==\s*['\"]([^'\"]+)['\"]")


def program_files() -> Iterator[tuple[str, Path]]:
    """(path inside a folder of libraries, file)."""
    root = Path(toolyard.__file__).parent
    for path in sorted(root.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield os.path.join(NAME, path.relative_to(root).as_posix()), path


def requirements() -> list[str]:
    """What the program needs, as it is declared."""
    return [line.strip() for line in _requires(NAME) if "extra ==" not in line]


def library_files() -> Iterator[tuple[str, Path]]:
    """The installed files of everything the program needs, and of what that needs."""
    for name in sorted(_needed()):
        for file in metadata.distribution(name).files or ():
            inside = file.as_posix()
            if inside.startswith("..") or inside.endswith(".pyc"):
                continue
            path = Path(str(file.locate()))
            if path.is_file():
                yield inside, path


def _needed() -> set[str]:
    names: set[str] = set()
    todo = [(NAME, frozenset[str]())]
    while todo:
        name, extras = todo.pop()
        for line in _requires(name):
            requirement = _REQUIREMENT.match(line)
            if requirement is None or not _applies(requirement[4] or "", extras):
                continue
            child = _canonical(requirement[1])
            if child not in names and _installed(child):
                names.add(child)
                wishes = (requirement[2] or "").split(",")
                todo.append((child, frozenset(extra.strip() for extra in wishes if extra)))
    return names


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _applies(marker: str, extras: frozenset[str]) -> bool:
    """An extra's requirements apply where it was asked for; for other markers, see what is here."""
    extra = _EXTRA.search(marker)
    return extra is None or extra[1] in extras


def _installed(name: str) -> bool:
    try:
        metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def _requires(name: str) -> list[str]:
    try:
        return metadata.requires(name) or []
    except metadata.PackageNotFoundError:
        raise ConfigError.at(
            name, "is not installed as a package, which a bundle is made from"
        ) from None
