"""A folder with a registry file and the scripted servers that it names."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from tests.gateway import scripted

Json = Any
SCRIPTED = str(Path(scripted.__file__).resolve())


class Yard:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.file = root / "registry.json"
        self.log = root / "calls.log"

    def write(self, path: str, content: Json) -> Path:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        # Whole or not at all: a server may be reading it.
        fresh = target.with_name(f".{target.name}.new")
        fresh.write_text(content if isinstance(content, str) else json.dumps(content, indent=2))
        return fresh.replace(target)

    def registry(self, **content: Json) -> Path:
        return self.write("registry.json", content)

    def upstream(self, name: str, *tools: Json, **more: Json) -> Json:
        """A `servers` entry whose server offers these tools."""
        described = self.describe(name, *tools)
        # Beside the tests and not beside the registry: not a file that a lock looks into.
        command = {"command": sys.executable, "args": ["-S", SCRIPTED, str(described)]}
        return {"name": name, "stdio": command, **more}

    def describe(self, name: str, *tools: Json, **others: Json) -> Path:
        """What that server offers from now on: tools, and lists of other kinds."""
        content = {"name": name, "tools": tools, "log": str(self.log), **others}
        return self.write(f"{name}.described.json", content)

    def script(self, name: str, body: str, **meta: Json) -> Path:
        """A tool of the project that this folder is then."""
        self.write("server.d/server.meta.json", {"name": "yard", "version": "1.0.0"})
        self.write(f"tools/{name}/tool.meta.json", {"name": name, **meta})
        path = self.write(f"tools/{name}/tool.sh", f"#!/usr/bin/env bash\n{body}\n")
        path.chmod(0o755)
        return path

    def calls(self) -> list[Json]:
        """What the servers were called with, in order: [server, tool, arguments]."""
        if not self.log.exists():
            return []
        return [json.loads(line) for line in self.log.read_text().splitlines()]


SEARCH = {
    "name": "search",
    "title": "Search",
    "description": "Search repositories on every host, with every option there is: in their names, "
    "their descriptions and their files, ordered as you wish, a page at a time.",
    "inputSchema": {
        "type": "object",
        "properties": {"q": {"type": "string"}, "sort": {"type": "string"}},
        "required": ["q"],
    },
    "result": {
        "content": [
            {"type": "text", "text": '{"total": 2, "items": [{"name": "a"}, {"name": "b"}]}'}
        ]
    },
}
ECHO = {"name": "echo", "description": "Says it.", "inputSchema": {"type": "object"}}
TOTAL = {
    "type": "object",
    "properties": {"n": {"type": "integer", "source_field": "$.total"}},
}
