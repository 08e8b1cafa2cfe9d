"""What `registry refresh` and `registry status` do, as plain JSON objects."""

from __future__ import annotations

import os

from toolyard.protocol.call import JsonObject
from toolyard.protocol.kinds import SPELLED
from toolyard.settings import Settings
from toolyard.sources.project.cache import files as cache
from toolyard.sources.project.cache.kinds import FileKind, apart, listed_with, paths_in
from toolyard.sources.project.discover.metadata import Metadata
from toolyard.sources.project.discover.scan import scan
from toolyard.sources.project.layout import Project

# How the kinds are called in the output of the commands.
_SHOWN: dict[FileKind, str] = {
    **{kind: spelled.key for kind, spelled in SPELLED.items()},
    "ui": "ui",
}


def refresh(project: Project, settings: Settings, only: str = "") -> JsonObject:
    """Scan, write the files, and say what was found. `only` narrows the scan to a path."""
    result = scan(project, settings, Metadata(), only)
    files = apart(result.items)
    status = {
        _SHOWN[kind]: _refreshed(path, files[kind], result.broken.get(listed_with(kind)))
        for kind, path in paths_in(project).items()
    }
    return {
        **status,
        "notificationsSent": False,
        "mode": "full",
        "warnings": list(result.warnings),
    }


def _refreshed(path: str, items: list[JsonObject], broken: str | None) -> JsonObject:
    if broken is not None:
        return {"status": "failed", "count": 0, "error": broken}
    try:
        cache.write(path, items)
    except OSError as error:
        return {"status": "failed", "count": len(items), "error": f"{path}: {error.strerror}"}
    return {"status": "ok", "count": len(items), "error": None}


def is_ok(outcome: JsonObject) -> bool:
    """Did everything go well? The exit code of the command."""
    return all(
        part.get("status") != "failed" for part in outcome.values() if isinstance(part, dict)
    )


def status(project: Project, settings: Settings) -> JsonObject:
    """What the files hold at present; nothing is scanned or written."""
    files = {
        _SHOWN[kind]: _status(path, settings.registry_max_bytes)
        for kind, path in paths_in(project).items()
    }
    return {"projectRoot": project.root, **files}


def _status(path: str, max_bytes: int) -> JsonObject:
    content = cache.read(path, max_bytes)
    if content is None:
        return {"status": "missing", "path": path, "count": 0, "hash": None, "mtime": None}
    return {
        "status": "present",
        "path": path,
        "count": len(content.items),
        "hash": content.hash,
        "mtime": int(os.stat(path).st_mtime),
    }
