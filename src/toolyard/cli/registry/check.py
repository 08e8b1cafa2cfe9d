"""toolyard registry check: everything that is wrong with registry files, at once."""

from __future__ import annotations

import asyncio
import sys
from argparse import ArgumentParser, Namespace

from toolyard.app.build import App
from toolyard.cli.options import add_project
from toolyard.cli.output import counted, near, print_json
from toolyard.cli.registry.chosen import opened, plan_for
from toolyard.errors import ConfigError
from toolyard.protocol.call import JsonObject
from toolyard.sources.registry.format.model import Registry
from toolyard.telemetry import masked


def add(parser: ArgumentParser) -> None:
    parser.epilog = (
        "Exit code 0: nothing is wrong; 1: tools or servers are disabled; 2: the file is refused. "
        "Without --live, what servers list is taken from the last time they were asked."
    )
    parser.add_argument("--live", action="store_true", help="start the servers and ask them")
    parser.add_argument("--json", action="store_true", help="for programs")
    add_project(parser)


def run(options: Namespace) -> int:
    options.log_level = options.log_level or "error"  # what is logged is in the report
    try:
        report = asyncio.run(_report(options))
    except ConfigError as error:
        if not options.json:
            raise
        problems = [problem._asdict() for problem in error.problems]
        print_json({"ok": False, "problems": problems, "disabled": {}, "warnings": []})
        return 2
    if options.json:
        print_json(report)
    else:
        _print(report)
    return 0 if report["ok"] else 1


async def _report(options: Namespace) -> JsonObject:
    async with opened(plan_for(options)) as app:
        if options.live:
            await app.federation.ask()
        return report_of(app, live=options.live)


def report_of(app: App, *, live: bool) -> JsonObject:
    catalog, registries = app.keeper.current, app.federation.registries
    files, secrets = registries.files, registries.secrets
    disabled_tools = {
        tool.name: masked(tool.unavailable, secrets)
        for tool in catalog.tools.values()
        if tool.unavailable is not None
    }
    off = {name for file in files for name in _switched_off(file)}
    problems = [problem for file in files for problem in file.problems]
    servers = {
        health.server: health.reason
        for health in app.federation.health()
        if health.state in ("disabled", "down") and health.server not in off
    }
    return {
        "ok": not disabled_tools and not servers and not problems,
        "live": live,
        "files": [registry.file for registry in files],
        "formats": [registry.format for registry in files],
        "servers": sum(len(registry.servers) for registry in files),
        "tools": sum(len(registry.tools) for registry in files),
        "problems": [
            {**problem._asdict(), "message": masked(problem.message, secrets)}
            for problem in problems
        ],
        "disabled": disabled_tools,
        "unreachable": servers,
        "warnings": [masked(warning, secrets) for warning in catalog.warnings],
        "ignored": [note for registry in files for note in registry.notes],
    }


def _switched_off(registry: Registry) -> list[str]:
    """The servers that are off on purpose, not by mistake."""
    servers = registry.sound.get("servers") or ()
    return [server["name"] for server in servers if server.get("disabled")]


def _print(report: JsonObject) -> None:
    text = "\n".join(report["warnings"])
    for name, reason in report["unreachable"].items():
        if f"server {name} is disabled" not in text:
            print(f"server {name}: {reason}", file=sys.stderr)
    for warning in report["warnings"]:
        print(warning, file=sys.stderr)
    files = ", ".join(map(near, report["files"])) or "the project"
    text = f"{counted(report['servers'], 'server')}, {counted(report['tools'], 'tool')}"
    print(f"{files}: {text}; {_verdict(report)}")


def _verdict(report: JsonObject) -> str:
    if report["ok"]:
        unasked = report["servers"] and not report["live"]
        return f"nothing is wrong{' (--live asks the servers, too)' if unasked else ''}"
    wrong = (
        (len(report["unreachable"]), "server", " cannot be used"),
        (len(report["disabled"]), "tool", " disabled"),
    )
    parts = [f"{counted(number, noun)}{rest}" for number, noun, rest in wrong if number]
    return ", ".join(parts) or counted(len(report["problems"]), "problem")
