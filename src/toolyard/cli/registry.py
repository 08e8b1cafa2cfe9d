"""toolyard registry: write the files in .registry anew, or say what is in them."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from datetime import UTC, datetime

import orjson

from toolyard.app import json_tool
from toolyard.catalog.kinds import Kind
from toolyard.cli.choosing import chosen_by, project_of
from toolyard.cli.options import Chosen, add_project
from toolyard.errors import ConfigError
from toolyard.protocol.call import JsonObject
from toolyard.sources.project import cache
from toolyard.sources.project.metadata import Metadata
from toolyard.sources.project.scan import Scan, scan
from toolyard.sources.project.source import FILES

# How the status names a kind; the others go by their own name.
_SHOWN: dict[str, str] = {"templates": "resourceTemplates"}
_NONE: JsonObject = {"status": "ok", "count": 0, "error": None}


def add(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="refresh|status")
    refresh = actions.add_parser(
        "refresh",
        help="scan the project and write .registry/*.json",
        description="Scan the project, write .registry/*.json and print what was found. "
        "A running server notices by itself, so nobody has to be told.",
    )
    refresh.add_argument("--no-notify", action="store_true", help="accepted, and always so")
    refresh.add_argument("--quiet", action="store_true", help="print nothing unless it fails")
    refresh.add_argument("--filter", metavar="PATH", default="", help="scan below PATH only")
    add_project(refresh)
    status = actions.add_parser(
        "status",
        help="say what the files hold",
        description="Print what is in .registry/*.json, without scanning anything.",
    )
    add_project(status)


def run(options: Namespace) -> int:
    chosen = chosen_by(options)
    return refresh(options, chosen) if options.action == "refresh" else status(chosen)


def refresh(options: Namespace, chosen: Chosen) -> int:
    project = project_of(chosen)
    found = scan(project, chosen.settings, Metadata(), _below(options.filter, project.root))
    report: JsonObject = {
        _shown(kind): _written(kind, found, os.path.join(project.registry, FILES[kind]))
        for kind in FILES
    }
    report["ui"] = {**report.get("resources", _NONE), "count": _pages(found)}
    failed = any(part["status"] != "ok" for part in report.values())
    report |= {"notificationsSent": False, "mode": "full", "warnings": list(found.warnings)}
    if failed or not options.quiet:
        print(orjson.dumps(report).decode())
    return 1 if failed else 0


def _pages(found: Scan) -> int:
    """MCP Apps pages are resources of their own scheme."""
    return sum(
        str(item.get("uri")).startswith("ui://") for item in found.items.get("resources", ())
    )


def _below(path: str, root: str) -> str:
    if not path:
        return ""
    below = os.path.normpath(os.path.join(root, path))
    if not os.path.exists(below):
        raise ConfigError.at(path, "no such folder or file in the project")
    return below


def _written(kind: Kind, found: Scan, path: str) -> JsonObject:
    items = found.items.get(kind, [])
    error = found.broken.get(kind)
    if error is None:
        try:
            cache.write(path, items)
        except OSError as problem:
            error = f"{path}: cannot be written: {problem.strerror}"
    return {"status": "failed" if error else "ok", "count": len(items), "error": error}


def status(chosen: Chosen) -> int:
    project = project_of(chosen)
    report: JsonObject = {"projectRoot": project.root, "jsonTool": json_tool(chosen.settings)[0]}
    for kind, name in FILES.items():
        report[_shown(kind)] = _state(
            os.path.join(project.registry, name), chosen.settings.registry_max_bytes
        )
    print(orjson.dumps(report).decode())
    return 0


def _state(path: str, max_bytes: int) -> JsonObject:
    if not os.path.exists(path):
        return {"status": "missing", "path": path, "count": 0, "hash": None, "mtime": None}
    cached = cache.read(path, max_bytes)
    written = datetime.fromtimestamp(os.stat(path).st_mtime, UTC)
    return {
        "status": "present" if cached else "unusable",
        "path": path,
        "count": len(cached.items) if cached else 0,
        "hash": cached.hash if cached else None,
        "mtime": written.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }


def _shown(kind: str) -> str:
    return _SHOWN.get(kind, kind)
