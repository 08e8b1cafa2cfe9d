"""How a client starts the server, and the JSON that most clients want for it."""

from __future__ import annotations

import json
import shlex
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
