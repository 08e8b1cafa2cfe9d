"""toolyard health: can this project be served? For probes; writes nothing."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace

import orjson

from toolyard.cli.choosing import chosen_by, project_of
from toolyard.cli.options import add_project
from toolyard.files.safety import why_unsafe
from toolyard.processes.shell import TookTooLong, bash
from toolyard.protocol.call import JsonObject
from toolyard.protocol.kinds import Kind
from toolyard.sources.project.discover.metadata import Metadata
from toolyard.sources.project.discover.scan import scan
from toolyard.sources.project.layout import Project
from toolyard.sources.project.running import json_tool

CHECKS = "health-checks.sh"
_REPORTED: tuple[Kind, ...] = ("tools", "resources", "prompts")
# What a project's checks may call; the file is read after these are defined.
_FUNCTIONS = """
failed=0
mcp_health_check_command() {
  command -v "$1" >/dev/null 2>&1 || { printf '%s\\n' "${2:-command not found: $1}" >&2; failed=1; }
}
mcp_health_check_env() {
  [ -n "${!1:-}" ] || { printf '%s\\n' "${2:-variable not set: $1}" >&2; failed=1; }
}
. "$1" || failed=1
exit "$failed"
"""


def add(parser: ArgumentParser) -> None:
    parser.epilog = (
        "Prints one line of JSON. Exit code 0: healthy, 1: not, 2: there is no project. "
        f"server.d/{CHECKS} may add checks of its own with mcp_health_check_command COMMAND "
        "[MESSAGE] and mcp_health_check_env VARIABLE [MESSAGE]."
    )
    parser.add_argument("--timeout", type=float, metavar="SECS", help="for all of it (default: 5)")
    add_project(parser)


def run(options: Namespace) -> int:
    choice = chosen_by(options)
    project, settings = project_of(choice), choice.settings
    contents = scan(project, settings, Metadata())
    report: JsonObject = {
        "mode": "minimal" if settings.force_minimal else "full",
        "jsonTool": json_tool(settings)[0],
        **{kind: "failed" if kind in contents.broken else "ok" for kind in _REPORTED},
        "projectChecks": _project_checks(project, options.timeout or settings.health_timeout_secs),
    }
    for message in contents.broken.values():
        print(message, file=sys.stderr)
    healthy = "failed" not in report.values()
    print(orjson.dumps({"status": "ok" if healthy else "failed", **report}).decode())
    return 0 if healthy else 1


def _project_checks(project: Project, timeout: float) -> str:
    path = os.path.join(project.server, CHECKS)
    if not os.path.lexists(path):
        return "ok"
    unsafe = why_unsafe(path, project.server, project.root)
    if unsafe:
        print(f"{unsafe}; it is not run", file=sys.stderr)
        return "failed"
    try:
        outcome = bash(_FUNCTIONS, [path], timeout=timeout, cwd=project.root)
    except OSError as error:
        print(error, file=sys.stderr)
        return "failed"
    except TookTooLong as error:
        print(f"{path}: {error}", file=sys.stderr)
        return "failed"
    return "ok" if outcome.code == 0 else "failed"
