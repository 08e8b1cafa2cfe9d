"""How a client starts the server, and the JSON that most clients want for it."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from typing import NamedTuple

from toolyard.protocol.call import JsonObject


class Start(NamedTuple):
    """The command line and the environment that start a server."""

    name: str
    command: str
    args: list[str]
    env: dict[str, str]

    @property
    def entry(self) -> JsonObject:
        entry: JsonObject = {"command": self.command, "args": self.args}
        return {**entry, "env": self.env} if self.env else entry

    @property
    def line(self) -> str:
        return shlex.join([self.command, *self.args])


def indented(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def mcp_servers(start: Start) -> str:
    return indented({"mcpServers": {start.name: start.entry}})


def command_line(program: str) -> list[str]:
    """The program by its full path: a client's PATH is rarely that of a terminal."""
    program_path = os.path.abspath(sys.argv[0])
    if os.path.basename(program_path) == program and os.access(program_path, os.X_OK):
        return [program_path]
    beside = os.path.join(os.path.dirname(sys.executable), program)
    path = beside if os.access(beside, os.X_OK) else shutil.which(program)
    return [path] if path else [sys.executable, "-m", "toolyard"]
