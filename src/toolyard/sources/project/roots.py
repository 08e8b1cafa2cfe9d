"""The roots that a project's scripts work in until a client names others."""

from __future__ import annotations

import json
import os
from typing import Any, NamedTuple

from toolyard.scripts.contract.environ import Roots, file_uri
from toolyard.settings import Settings
from toolyard.sources.project.layout import Project
from toolyard.telemetry import logger

log = logger("project")


class ConfiguredRoots(NamedTuple):
    roots: Roots
    # Did the operator name them? Otherwise they are just the project.
    named: bool


def configured_roots(project: Project, settings: Settings) -> ConfiguredRoots:
    """MCPBASH_ROOTS, else config/roots.json, else the project."""
    if settings.roots:
        items = [_item(path, "", project.root, "MCPBASH_ROOTS") for path in settings.roots]
        return _configured(items)
    path = os.path.join(project.root, "config", "roots.json")
    if os.path.exists(path):
        return _configured(_listed(path, project.root))
    return ConfiguredRoots(Roots.at((os.path.realpath(project.root),)), named=False)


def _configured(items: list[dict[str, str] | None]) -> ConfiguredRoots:
    return ConfiguredRoots(Roots.of([item for item in items if item is not None]), named=True)


def _listed(path: str, root: str) -> list[dict[str, str] | None]:
    """A file that cannot be understood grants nothing."""
    try:
        with open(path, "rb") as stream:
            content = json.loads(stream.read().decode("utf-8-sig"))
    except (OSError, ValueError) as error:
        log.warning("%s: cannot be read, so there are no roots: %s", path, error)
        return []
    entries = content.get("roots") if isinstance(content, dict) else None
    if not isinstance(entries, list):
        log.warning('%s: expected {"roots": [{"path": ...}]}, so there are no roots', path)
        return []
    return [_entry(entry, path, root) for entry in entries]


def _entry(entry: Any, place: str, root: str) -> dict[str, str] | None:
    fields = {"path": entry} if isinstance(entry, str) else entry
    if not isinstance(fields, dict) or not isinstance(fields.get("path"), str):
        log.warning("%s: a root needs a path; skipped", place)
        return None
    name = fields.get("name")
    return _item(fields["path"], name if isinstance(name, str) else "", root, place)


def _item(path: str, name: str, root: str, place: str) -> dict[str, str] | None:
    real = os.path.realpath(os.path.join(root, os.path.expanduser(path)))
    if not os.path.exists(real):
        log.warning("%s: the root %s does not exist; skipped", place, path)
        return None
    return {"uri": file_uri(real), "name": name or os.path.basename(real), "path": real}
