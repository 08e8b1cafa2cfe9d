"""The files that go into a bundle: what serving the project needs, and what was asked for."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from toolyard.cli.bundling.facts import CONF
from toolyard.errors import ConfigError
from toolyard.sources.project.layout import Project

ICONS = ("icon.png", "icon.svg", "server.d/icon.png", "server.d/icon.svg")
_LEFT_OUT = frozenset({"__pycache__", "node_modules"})


def project_files(project: Project, includes: Iterable[str]) -> Iterator[tuple[str, Path]]:
    """(path from the project's folder, file), each once, and no other file."""
    root, paths = Path(project.root), set[str]()
    for part in (*_parts(project), *ICONS, *includes):
        for path in _below(root / part):
            inside = path.relative_to(root).as_posix()
            if inside not in paths:
                paths.add(inside)
                yield inside, path


def icon_of(project: Project) -> str | None:
    return next((name for name in ICONS if os.path.isfile(os.path.join(project.root, name))), None)


def checked_includes(project: Project, words: str) -> list[str]:
    """The paths of MCPB_INCLUDE. Raises ConfigError for one that could lead elsewhere."""
    paths = []
    for path in words.split():
        if os.path.isabs(path) or path.startswith("./") or ".." in path.split("/"):
            message = f"MCPB_INCLUDE: {path!r} is not a plain path from the project's folder"
            raise ConfigError.at(CONF, message)
        if os.path.lexists(os.path.join(project.root, path)):
            paths.append(path)
        else:
            print(f"{CONF}: MCPB_INCLUDE: there is no {path}", file=sys.stderr)
    return paths


def _parts(project: Project) -> Iterator[str]:
    folders = (
        *(project.tools, project.resources, project.prompts, project.completions),
        *(project.server, project.providers, project.ui),
        os.path.join(project.root, "lib"),
    )
    for folder in folders:
        if folder.startswith(project.root + os.sep):
            yield os.path.relpath(folder, project.root)


def _below(path: Path) -> Iterator[Path]:
    """The file, or the files in the folder, without links and without hidden files."""
    if path.is_symlink():
        return
    if path.is_file():
        yield path
        return
    for folder, names, files in os.walk(path):
        names[:] = sorted(n for n in names if n not in _LEFT_OUT and not n.startswith("."))
        for name in sorted(files):
            file = Path(folder, name)
            if not name.startswith(".") and not file.is_symlink() and file.is_file():
                yield file
