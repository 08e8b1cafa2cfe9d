"""toolyard validate: say what is wrong with a project, and fix what can be fixed."""

from __future__ import annotations

import os
import stat
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

import orjson

from toolyard.cli.choosing import chosen_by, project_of
from toolyard.cli.options import Chosen, add_project
from toolyard.cli.project.checks import Finding, examine
from toolyard.cli.project.config import forms_of, start_of
from toolyard.cli.terminal.colour import sign
from toolyard.protocol.call import JsonObject
from toolyard.sources.project.identity import read_identity
from toolyard.telemetry import one_line


def add(parser: ArgumentParser) -> None:
    parser.epilog = "Exit code 0: no errors (with --strict: no warnings either), 1: some."
    parser.add_argument("--fix", action="store_true", help="fix permissions")
    parser.add_argument("--json", action="store_true", help="for programs")
    parser.add_argument("--strict", action="store_true", help="warnings fail as well")
    parser.add_argument(
        "--explain-defaults", action="store_true", help="show name, title and version as served"
    )
    parser.add_argument(
        "--inspector", action="store_true", help="show how to look at it with the MCP inspector"
    )
    add_project(parser)


def run(options: Namespace) -> int:
    choice = chosen_by(options)
    project = project_of(choice)
    findings = list(examine(project, choice.settings))
    fixes = fix_permissions(findings) if options.fix else 0
    if fixes:
        findings = list(examine(project, choice.settings))
    report = report_of(findings, choice, fixes, options)
    if options.json:
        print(orjson.dumps(report).decode())
    else:
        _print(report, options, choice)
    return 1 if report["errors"] or (options.strict and report["warnings"]) else 0


def fix_permissions(findings: Sequence[Finding]) -> int:
    """Set the permissions that the findings ask for, and return how many were set."""
    changes = [finding.fix for finding in findings if finding.fix is not None]
    for path, add_bits, remove_bits in changes:
        os.chmod(path, (stat.S_IMODE(os.stat(path).st_mode) | add_bits) & ~remove_bits)
    return len(changes)


def report_of(
    findings: Sequence[Finding], choice: Chosen, fixes: int, options: Namespace
) -> JsonObject:
    project = project_of(choice)
    info = read_identity(project, choice.settings).info
    return {
        "projectRoot": project.root,
        "errors": sum(finding.level == "error" for finding in findings),
        "warnings": sum(finding.level == "warning" for finding in findings),
        "fixesApplied": fixes,
        "strict": bool(options.strict),
        "defaults": {field: info[field] for field in ("name", "title", "version")},
        "messages": [
            {"level": finding.level, "section": finding.section, "message": finding.message}
            for finding in findings
        ],
    }


def _print(report: JsonObject, options: Namespace, choice: Chosen) -> None:
    for message in report["messages"]:
        level = "ok" if message["level"] == "info" else message["level"]
        line = f"{sign(level)} {one_line(message['message'])}"
        print(line, file=sys.stderr if message["level"] == "error" else sys.stdout)
    if options.explain_defaults:
        for field, value in report["defaults"].items():
            print(f"  {field} is served as {value!r}")
    if options.inspector:
        start = start_of(project_of(choice), choice.settings, options)
        print(forms_of(options)["inspector"](start))
    fixes = f", {report['fixesApplied']} fixed" if report["fixesApplied"] else ""
    print(f"{report['errors']} errors, {report['warnings']} warnings{fixes}")
