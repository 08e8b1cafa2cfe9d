"""toolyard config: what to put into a client's settings so that it finds this project."""

from __future__ import annotations

import shlex
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping

from toolyard.cli.choosing import chosen_by, project_of
from toolyard.cli.options import add_project
from toolyard.cli.project import mcp_bash_forms
from toolyard.cli.project.start import Start, command_line, indented
from toolyard.clients.entries import Local, document_of, name_for
from toolyard.clients.known import KnownClient
from toolyard.clients.machine import this_machine
from toolyard.clients.table import CLIENTS, client_named
from toolyard.errors import ConfigError
from toolyard.settings import Settings
from toolyard.sources.project.identity import read_identity
from toolyard.sources.project.layout import Project


def add(parser: ArgumentParser) -> None:
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--show", action="store_true", help="in words (default)")
    way.add_argument("--json", action="store_true", help="name, command, arguments, environment")
    way.add_argument("--client", metavar="NAME", help="as this client wants it")
    way.add_argument("--wrapper", action="store_true", help="a script that starts the server")
    way.add_argument(
        "--wrapper-env", action="store_true", help="the same, with the PATH of a login shell"
    )
    way.add_argument("--inspector", action="store_true", help="a command to inspect it with")
    add_project(parser)


def run(options: Namespace) -> int:
    choice = chosen_by(options)
    start = start_of(project_of(choice), choice.settings, options)
    form = forms_of(options).get(_form(options))
    if form is not None:
        print(form(start))
    if options.client:
        client = client_named(options.client)
        if form is None:
            print(_for_client(client, start))
        print(_where(client, options), file=sys.stderr)
    return 0


def forms_of(options: Namespace) -> Mapping[str, Callable[[Start], str]]:
    return {**FORMS, **mcp_bash_forms.FORMS} if options.like_mcp_bash else FORMS


def _form(options: Namespace) -> str:
    """A client's form, or the one whose flag was given."""
    flags = ("json", "wrapper", "wrapper_env", "inspector")
    return str(options.client or next((name for name in flags if getattr(options, name)), "show"))


def _for_client(client: KnownClient, start: Start) -> str:
    """The whole file, with this server alone in it."""
    server = Local(start.command, tuple(start.args), start.env)
    try:
        return document_of(client, name_for(client, start.name), server)
    except ValueError as error:
        raise ConfigError.at(client.id, str(error)) from None


def _where(client: KnownClient, options: Namespace) -> str:
    path = this_machine().file_of(client) or "".join(client.project[:1])
    if options.client in FORMS:
        return "Run it in the folder where you work."
    if not path:
        return f"{client.title} keeps its servers where we do not write."
    return (
        f"Put it into {path}, or let `{options.program} link {client.id}` do that. {client.after}"
    )


def start_of(project: Project, settings: Settings, options: Namespace) -> Start:
    name = read_identity(project, settings).info["name"]
    command, *args = command_line(options.program)
    if options.like_mcp_bash:
        env = {"MCPBASH_PROJECT_ROOT": project.root, "MCPBASH_TOOL_ALLOWLIST": "*"}
        return Start(name, command, args, env)
    return Start(name, command, [*args, "serve", project.root], {})


def _in_words(start: Start) -> str:
    lines = [f"name:     {start.name}", f"command:  {start.line}"]
    lines += [f"with:     {name}={value}" for name, value in start.env.items()]
    names = ", ".join(client.id for client in CLIENTS.values() if client.writes)
    return "\n".join([*lines, f"for one client: --client NAME, of {names}"])


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


def _claude_cli(start: Start) -> str:
    env = [part for name, value in start.env.items() for part in ("-e", f"{name}={value}")]
    words = ["claude", "mcp", "add", "--transport", "stdio", start.name, *env, "--"]
    return shlex.join([*words, start.command, *start.args])


def _inspector(start: Start) -> str:
    return f"npx @modelcontextprotocol/inspector {start.line}"


FORMS: Mapping[str, Callable[[Start], str]] = {
    "show": _in_words,
    "json": lambda start: indented(start._asdict()),
    "wrapper": _wrapper,
    "wrapper_env": _wrapper_env,
    "inspector": _inspector,
    "claude-cli": _claude_cli,
}
