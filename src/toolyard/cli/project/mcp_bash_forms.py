"""What `mcp-bash config` prints: the forms that its users' wrappers and CI jobs read."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping

from toolyard.cli.project.start import Start, indented, mcp_servers
from toolyard.protocol.call import JsonObject


def _named(start: Start) -> str:
    entry: JsonObject = {"name": start.name, "command": start.command, "env": start.env}
    return indented({**entry, "args": start.args} if start.args else entry)


_SHOWN: Mapping[str, Callable[[Start], str]] = {
    "Claude Desktop": mcp_servers,
    "Cursor": mcp_servers,
    "Claude CLI": _named,
    "Windsurf": mcp_servers,
    "LibreChat": _named,
}


def _blocks(start: Start) -> str:
    return "\n".join(f"# {client}\n{form(start)}\n" for client, form in _SHOWN.items())


def _inspector(start: Start) -> str:
    """The inspector passes on only the variables that it is given."""
    variables = " ".join(f"-e {name}={_word(value)}" for name, value in start.env.items())
    return f"npx @modelcontextprotocol/inspector {variables} --transport stdio -- {start.line}"


def _word(value: str) -> str:
    return value if value == "*" else shlex.quote(value)


def _wrapper(start: Start) -> str:
    return f'{_head(start, "")}exec "$program" "$@"'


def _wrapper_env(start: Start) -> str:
    """A login shell sets what the user's terminal has; its greetings must not reach stdout."""
    head = _head(start, " with a login shell's PATH")
    return (
        f'{head}export MCPBASH_PROGRAM="$program"\nexec 3>&1 1>&2\n'
        """exec "${SHELL:-/bin/bash}" -lc 'exec "$MCPBASH_PROGRAM" >&3 3>&-'"""
    )


def _head(start: Start, how: str) -> str:
    """The project is the script's own folder: it can be committed, and moved with the project."""
    return (
        "#!/usr/bin/env bash\n"
        f"# Starts the MCP server {start.name}{how}; the project is the folder of this script.\n"
        "set -euo pipefail\n"
        'MCPBASH_PROJECT_ROOT="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)"\n'
        'MCPBASH_TOOL_ALLOWLIST="${MCPBASH_TOOL_ALLOWLIST:-*}"\n'
        "export MCPBASH_PROJECT_ROOT MCPBASH_TOOL_ALLOWLIST\n"
        f"program={shlex.quote(start.command)}\n"
        '[ -x "$program" ] || program=mcp-bash\n'
    )


FORMS: Mapping[str, Callable[[Start], str]] = {
    "show": _blocks,
    "claude-cli": _named,
    "librechat": _named,
    "inspector": _inspector,
    "wrapper": _wrapper,
    "wrapper_env": _wrapper_env,
}
