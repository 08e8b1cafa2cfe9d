"""toolyard config: what to put into a client's settings so that it finds this project."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping

from toolyard.cli.choosing import chosen_by, project_of
from toolyard.cli.options import add_project
from toolyard.cli.project import mcp_bash_forms
from toolyard.cli.project.start import Start, indented, mcp_servers
from toolyard.settings import Settings
from toolyard.sources.project.identity import read_identity
from toolyard.sources.project.layout import Project


def add(parser: ArgumentParser) -> None:
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--show", action="store_true", help="in words (default)")
    way.add_argument("--json", action="store_true", help="name, command, arguments, environment")
    way.add_argument("--client", choices=sorted(CLIENTS), help="as this client wants it")
    way.add_argument("--wrapper", action="store_true", help="a script that starts the server")
    way.add_argument(
        "--wrapper-env", action="store_true", help="the same, with the PATH of a login shell"
    )
    way.add_argument("--inspector", action="store_true", help="a command to inspect it with")
    add_project(parser)


def run(options: Namespace) -> int:
    choice = chosen_by(options)
    start = start_of(project_of(choice), choice.settings, options)
    print(forms_of(options)[_form(options)](start))
    if options.client:
        print(CLIENTS[options.client], file=sys.stderr)
    return 0


def forms_of(options: Namespace) -> Mapping[str, Callable[[Start], str]]:
    return {**FORMS, **mcp_bash_forms.FORMS} if options.like_mcp_bash else FORMS


def _form(options: Namespace) -> str:
    """A client's form, or the one whose flag was given."""
    flags = ("json", "wrapper", "wrapper_env", "inspector")
    return str(options.client or next((name for name in flags if getattr(options, name)), "show"))


def start_of(project: Project, settings: Settings, options: Namespace) -> Start:
    name = read_identity(project, settings).info["name"]
    command, *args = command_line(options.program)
    if options.like_mcp_bash:
        env = {"MCPBASH_PROJECT_ROOT": project.root, "MCPBASH_TOOL_ALLOWLIST": "*"}
        return Start(name, command, args, env)
    return Start(name, command, [*args, "serve", project.root], {})


def command_line(program: str) -> list[str]:
    """The program by its full path: a client's PATH is rarely that of a terminal."""
    program_path = os.path.abspath(sys.argv[0])
    if os.path.basename(program_path) == program and os.access(program_path, os.X_OK):
        return [program_path]
    beside = os.path.join(os.path.dirname(sys.executable), program)
    path = beside if os.access(beside, os.X_OK) else shutil.which(program)
    return [path] if path else [sys.executable, "-m", "toolyard"]


def _in_words(start: Start) -> str:
    lines = [f"name:     {start.name}", f"command:  {start.line}"]
    lines += [f"with:     {name}={value}" for name, value in start.env.items()]
    return "\n".join([*lines, f"for one client: --client {'|'.join(sorted(CLIENTS))}"])


def _wrapper(start: Start) -> str:
    exports = "".join(f"export {k}={shlex.quote(v)}\n" for k, v in start.env.items())
    return f"#!/usr/bin/env bash\n# Starts the MCP server {start.name}.\n{exports}exec {start.line}"


def _wrapper_env(start: Start) -> str:
    """A login shell sets what the user's terminal has; its greetings must not reach stdout."""
    exports = "".join(f"export {k}={shlex.quote(v)}\n" for k, v in start.env.items())
    inner = shlex.quote(f"exec {start.line} >&3 3>&-")
    return (
        f"#!/usr/bin/env bash\n# Starts the MCP server {start.name} with a login shell's PATH.\n"
        f'{exports}exec 3>&1 1>&2\nexec "${{SHELL:-/bin/bash}}" -lc {inner}'
    )


def _vs_code(start: Start) -> str:
    return indented({"servers": {start.name: {"type": "stdio", **start.entry}}})


def _claude_cli(start: Start) -> str:
    env = [part for name, value in start.env.items() for part in ("-e", f"{name}={value}")]
    words = ["claude", "mcp", "add", "--transport", "stdio", start.name, *env, "--"]
    return shlex.join([*words, start.command, *start.args])


def _librechat(start: Start) -> str:
    fields = {"type": "stdio", **start.entry}
    # JSON values are YAML values as well.
    lines = [f"    {key}: {json.dumps(value)}" for key, value in fields.items()]
    return "\n".join(["mcpServers:", f"  {json.dumps(start.name)}:", *lines])


def _inspector(start: Start) -> str:
    return f"npx @modelcontextprotocol/inspector {start.line}"


FORMS: Mapping[str, Callable[[Start], str]] = {
    "show": _in_words,
    "json": lambda start: indented(start._asdict()),
    "wrapper": _wrapper,
    "wrapper_env": _wrapper_env,
    "inspector": _inspector,
    "claude-desktop": mcp_servers,
    "claude-cli": _claude_cli,
    "cursor": mcp_servers,
    "windsurf": mcp_servers,
    "librechat": _librechat,
    "vscode": _vs_code,
}
# Where each client wants it.
CLIENTS = {
    "claude-desktop": (
        "Put it into claude_desktop_config.json (Settings, Developer, Edit Config) and restart."
    ),
    "claude-cli": "Run it in the folder where you work.",
    "cursor": "Put it into ~/.cursor/mcp.json or .cursor/mcp.json.",
    "windsurf": "Put it into ~/.codeium/windsurf/mcp_config.json.",
    "librechat": "Put it into librechat.yaml.",
    "vscode": "Put it into .vscode/mcp.json.",
}
