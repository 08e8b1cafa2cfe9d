"""toolyard doctor: is everything here that serving scripts needs?"""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeAlias

import orjson

from toolyard import MCP_BASH_VERSION, __version__
from toolyard.cli.choosing import chosen_by
from toolyard.cli.options import Chosen, add_project
from toolyard.cli.project.checks import examine
from toolyard.cli.project.start import command_line
from toolyard.cli.project.validate import fix_permissions
from toolyard.cli.terminal.colour import sign
from toolyard.processes.ending import pidfd
from toolyard.processes.shell import TookTooLong, run_to_end
from toolyard.protocol.call import JsonObject

Severity: TypeAlias = Literal["ok", "info", "warning", "error"]
_OLDEST_BASH = (3, 2)
# Programs that scripts and providers use, and what does not work without them.
_PROGRAMS = {
    "jq": "scripts get a stand-in that knows the filters of tool-sdk.sh",
    "git": "git+https:// resources cannot be served",
    "curl": "mcp_download_safe cannot be used",
}


class Diagnosis(NamedTuple):
    """One answer of the doctor: what was looked at, how bad it is, and what would help."""

    id: str
    severity: Severity
    message: str
    suggestion: str | None = None


def add(parser: ArgumentParser) -> None:
    parser.epilog = (
        "Exit code 0: nothing is in the way of serving, 1: something is. "
        "Changes nothing, except permissions with --fix."
    )
    parser.add_argument("--json", action="store_true", help="for programs")
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--fix", action="store_true", help="fix permissions in the project")
    group.add_argument("--dry-run", action="store_true", help="say what --fix would do")
    parser.add_argument(
        "--store",
        metavar="URL",
        help="look at this store too (default: TOOLYARD_STORE), and at the cluster key",
    )
    parser.add_argument("--min-version", metavar="V", help="fail if this program is older")
    add_project(parser)


def run(options: Namespace) -> int:
    choice = chosen_by(options)
    fixes = _fixes(options, choice)
    machine = [*_machine(), *_new_enough(options), *_temporary(choice)]
    findings = [*machine, *_project(choice, options), *_store(choice)]
    is_bad = any(finding.severity == "error" for finding in findings)
    if options.json:
        print(orjson.dumps({**report_of(findings, choice, options), **fixes}).decode())
        return 1 if is_bad else 0
    for finding in findings:
        hint = f"\n    {finding.suggestion}" if finding.suggestion else ""
        print(f"{sign(finding.severity)} {finding.message}{hint}")
    for name, actions in fixes.items():
        for action in actions:
            print(f"{'would be done' if name == 'proposedActions' else 'done'}: {action}")
    return 1 if is_bad else 0


def _fixes(options: Namespace, choice: Chosen) -> dict[str, list[str]]:
    """What --fix has done, or would do."""
    actions: dict[str, list[str]] = {"proposedActions": [], "actionsTaken": []}
    if choice.project is None or not (options.fix or options.dry_run):
        return actions
    findings = examine(choice.project, choice.settings)
    fixable = [finding for finding in findings if finding.fix is not None]
    if options.fix:
        fix_permissions(fixable)
    key = "actionsTaken" if options.fix else "proposedActions"
    changes = [f"permissions of {finding.place} ({finding.text})" for finding in fixable]
    return {**actions, key: changes}


def _new_enough(options: Namespace) -> Iterator[Diagnosis]:
    if options.min_version is None:
        return
    version = MCP_BASH_VERSION if options.like_mcp_bash else __version__
    text = f"{options.program} is {version}, {options.min_version} is required"
    enough = _numbers(version) >= _numbers(options.min_version)
    yield Diagnosis("min-version", "ok" if enough else "error", text)


def _numbers(version: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", version.partition("-")[0])]


def _machine() -> Iterator[Diagnosis]:
    yield Diagnosis("toolyard", "ok", f"Toolyard {__version__} on Python {sys.version.split()[0]}")
    yield _bash()
    for program, without in _PROGRAMS.items():
        path = shutil.which(program) or (shutil.which("gojq") if program == "jq" else None)
        if path:
            yield Diagnosis(program, "ok", f"{program} is {path}")
        else:
            yield Diagnosis(program, "info", f"{program} is not installed: {without}")
    if not pidfd.AVAILABLE:
        text = "this system has no pidfd: ended scripts are noticed a little later"
        yield Diagnosis("pidfd", "info", text)


def _bash() -> Diagnosis:
    path = shutil.which("bash")
    if path is None:
        return Diagnosis("bash", "error", "bash is not installed", "install bash 3.2 or newer")
    version = bash_version(path)
    if version < _OLDEST_BASH:
        return Diagnosis("bash", "error", f"{path} is too old", "install bash 3.2 or newer")
    return Diagnosis("bash", "ok", f"bash is {path}, {'.'.join(map(str, version))}")


def bash_version(program: str) -> tuple[int, ...]:
    try:
        process = run_to_end([program, "--version"], timeout=10)
    except (OSError, TookTooLong):
        return (0,)
    match = re.search(rb"version (\d+)\.(\d+)", process.output)
    return tuple(map(int, match.groups())) if match else (0,)


def _temporary(choice: Chosen) -> Iterator[Diagnosis]:
    root = choice.settings.tmp_root or tempfile.gettempdir()
    try:
        # A server makes the folders that are missing; the doctor changes nothing.
        with tempfile.TemporaryDirectory(dir=_nearest(root)):
            yield Diagnosis(
                "tmp", "ok", f"{root} can hold the folders that scripts and server share"
            )
    except OSError as error:
        text = f"{root} cannot hold temporary folders: {error.strerror}"
        yield Diagnosis(
            "tmp", "error", text, "set MCPBASH_TMP_ROOT to a folder that you can write to"
        )


def _nearest(folder: str) -> str:
    """The folder, or the nearest one above it that exists."""
    while not os.path.lexists(folder) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    return folder


def _project(choice: Chosen, options: Namespace) -> Iterator[Diagnosis]:
    program = options.program
    if choice.project is None:
        yield Diagnosis("project", "info", "there is no project here", f"{program} new NAME")
        return
    findings = list(examine(choice.project, choice.settings))
    errors = sum(finding.level == "error" for finding in findings)
    warnings = sum(finding.level == "warning" for finding in findings)
    text = f"{choice.project.root}: {errors} errors, {warnings} warnings"
    if errors or warnings:
        severity: Severity = "error" if errors else "warning"
        yield Diagnosis("project", severity, text, f"{program} validate")
    else:
        yield Diagnosis("project", "ok", text)
    if options.like_mcp_bash and not choice.settings.tool_allowlist:
        text = "MCPBASH_TOOL_ALLOWLIST is not set: every call is denied under this name"
        yield Diagnosis("allowlist", "warning", text, "MCPBASH_TOOL_ALLOWLIST='*'")


def _store(choice: Chosen) -> Iterator[Diagnosis]:
    if not choice.settings.store:
        return
    # Most people have none.
    from toolyard.cli.project.store_checks import store_findings  # noqa: PLC0415

    for identity, severity, text, suggestion in store_findings(choice.settings):
        yield Diagnosis(identity, severity, text, suggestion)


def report_of(findings: list[Diagnosis], choice: Chosen, options: Namespace) -> JsonObject:
    errors = sum(finding.severity == "error" for finding in findings)
    warnings = sum(finding.severity == "warning" for finding in findings)
    return {
        "schemaVersion": 1,
        "exitCode": 1 if errors else 0,
        "findings": [
            {
                "id": finding.id,
                "severity": finding.severity,
                "message": finding.message,
                "fixable": False,
                "suggestedCommand": finding.suggestion,
            }
            for finding in findings
        ],
        "framework": {
            "name": options.program,
            "version": MCP_BASH_VERSION if options.like_mcp_bash else __version__,
            "toolyard": __version__,
        },
        "runtime": {
            "python": sys.version.split()[0],
            "system": platform.system(),
            "release": platform.release(),
            "bash": shutil.which("bash"),
            "jsonTool": shutil.which("jq") or shutil.which("gojq"),
        },
        "install": {"command": command_line(options.program), "python": sys.executable},
        "project": {"root": choice.project.root} if choice.project else None,
        "errors": errors,
        "warnings": warnings,
    }
