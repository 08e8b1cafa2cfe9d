"""Projects written by the tests, and the two commands that serve them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from tests.peers.serving import toolyard

HOOKS = {"MCPBASH_ALLOW_PROJECT_HOOKS": "true"}
_MCP_BASH = "import sys; from toolyard.cli import mcp_bash; sys.exit(mcp_bash())"


def mcp_bash(*arguments: str | Path) -> list[str]:
    """The command that existing client configurations name."""
    return [sys.executable, "-c", _MCP_BASH, *map(str, arguments)]


class Yard:
    """Writes the files of a project."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(mode=0o755)
        self.write("server.d/server.meta.json", {"name": root.name, "version": "1.0.0"})

    @property
    def served(self) -> list[str]:
        return toolyard("serve", self.root)

    def write(self, path: str, content: str | bytes | dict[str, Any] | list[Any]) -> Path:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            target.write_bytes(content)
        else:
            target.write_text(content if isinstance(content, str) else json.dumps(content))
        return target

    def script(self, path: str, body: str) -> Path:
        target = self.write(path, f"#!/usr/bin/env bash\n{body}\n")
        target.chmod(0o755)
        return target

    def tool(self, name: str, body: str = "echo ran", **meta: Any) -> Path:
        self.write(f"tools/{name}/tool.meta.json", {"name": name, **meta})
        return self.script(f"tools/{name}/tool.sh", body)

    def policy(self, body: str) -> Path:
        """As an editor saves it: whole, under a name of its own first."""
        partial = self.write("server.d/policy.sh.new", body + "\n")
        return partial.rename(self.root / "server.d" / "policy.sh")


def text_of(result: dict[str, Any]) -> str:
    assert not result.get("isError"), result
    text: str = result["content"][0]["text"]
    return text.rstrip("\n")


def failure_of(result: dict[str, Any]) -> str:
    assert result.get("isError") is True, result
    text: str = result["content"][0]["text"]
    return text
