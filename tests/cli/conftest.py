"""A project with a few tools, written by the tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest


class Yard:
    """Writes the files of a project."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def write(self, path: str, content: str | dict[str, Any]) -> Path:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content if isinstance(content, str) else json.dumps(content))
        return target

    def tool(self, name: str, body: str, meta: dict[str, Any] | None = None) -> Path:
        self.write(f"tools/{name}/tool.meta.json", {"name": name, **(meta or {})})
        script = self.write(f"tools/{name}/tool.sh", f"#!/usr/bin/env bash\n{body}\n")
        script.chmod(0o755)
        return script


@pytest.fixture
def yard(tmp_path: Path) -> Yard:
    made = Yard(tmp_path / "yard")
    made.write("server.d/server.meta.json", {"name": "yard", "version": "1.2.3"})
    made.tool(
        "echo",
        'printf "%s" "$MCP_TOOL_ARGS_JSON"',
        {
            "description": "Gives its arguments back",
            "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}},
        },
    )
    return made
