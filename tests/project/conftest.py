"""A project folder on disk, written by the tests."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


class Folder:
    """Writes the files of a project."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def write(self, path: str, content: str | bytes | dict[str, Any] | list[Any]) -> Path:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            target.write_bytes(content)
        elif isinstance(content, str):
            target.write_text(content)
        else:
            target.write_text(json.dumps(content))
        return target

    def script(self, path: str, body: str = "echo hi\n", mode: int = 0o755) -> Path:
        target = self.write(path, f"#!/usr/bin/env bash\n{body}")
        target.chmod(mode)
        return target

    def tool(self, name: str, meta: dict[str, Any] | None = None) -> Path:
        self.write(f"tools/{name}/tool.meta.json", {"name": name, **(meta or {})})
        return self.script(f"tools/{name}/tool.sh")


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    root = tmp_path / "my-project"
    root.mkdir(mode=0o755)
    return Folder(root)


Wait = Callable[[Callable[[], bool]], None]
