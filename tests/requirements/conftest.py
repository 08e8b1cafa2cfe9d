"""A project on disk, and the real program that serves it over stdio."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from tests.peers.raw import StdioClient, over_stdio
from tests.peers.serving import toolyard

Serve: TypeAlias = Callable[..., AbstractAsyncContextManager[StdioClient]]


class Folder:
    """Writes the files of a project."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def write(self, path: str, content: str | bytes | dict[str, Any]) -> Path:
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

    def tool(self, name: str, body: str = "echo hi", **meta: Any) -> None:
        self.write(f"tools/{name}/tool.meta.json", {"name": name, **meta})
        self.script(f"tools/{name}/tool.sh", body)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    made = Folder(tmp_path / "project")
    made.write("server.d/server.meta.json", {"name": "project", "version": "1.0"})
    made.tool("hello", description="Says hi")
    return made


@pytest.fixture
def serve(folder: Folder) -> Serve:
    """`async with serve(revision, env=...) as client`."""

    @asynccontextmanager
    async def served(
        revision: str = "2025-11-25", *flags: str, **options: Any
    ) -> AsyncIterator[StdioClient]:
        command = toolyard("serve", folder.root, *flags)
        async with over_stdio(command, revision, **options) as client:
            yield client

    return served
