"""The project that uses every feature of the contract, served in each way it can be."""

from __future__ import annotations

import os
import stat
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from tests.hooks.yard import HOOKS, mcp_bash
from tests.peers.raw import RawClient, over_stdio
from tests.peers.raw_http import over_http
from tests.peers.serving import ROOT, copied, serving

PROJECT = ROOT / "tests" / "projects" / "contract"
UI = "io.modelcontextprotocol/ui"
CAN: dict[str, Any] = {
    "elicitation": {"form": {}, "url": {}},
    "sampling": {},
    "extensions": {UI: {"mimeTypes": ["text/html;profile=mcp-app"]}},
}
ENV = {**HOOKS, "PRIVATE": "private", "MCP_REGISTRY_TOKEN": "private"}
# How it is served, and the revision that its client speaks.
WAYS = (
    "mcp-bash 2024-11-05",
    "mcp-bash 2025-06-18",
    "mcp-bash 2025-11-25",
    "http 2025-11-25",
    "http 2026-07-28",
)


def contract() -> AbstractContextManager[Path]:
    return safe_copy(PROJECT)


@contextmanager
def safe_copy(original: Path) -> Iterator[Path]:
    """A copy that is safe to run, whatever the umask of the checkout was."""
    with copied(original) as project:
        for folder, _, files in os.walk(project):
            for place in (folder, *(os.path.join(folder, name) for name in files)):
                os.chmod(place, stat.S_IMODE(os.stat(place).st_mode) & ~0o022)
        yield project


@asynccontextmanager
async def conversation(way: str, project: Path, **options: Any) -> AsyncIterator[RawClient]:
    """A client that can be asked anything, of the program that serves the project."""
    command, revision = way.split()
    options = {"capabilities": CAN, **options}
    env = {**ENV, **options.pop("env", {})}
    if command == "mcp-bash":
        async with over_stdio(mcp_bash(), revision, cwd=project, env=env, **options) as client:
            yield client
        return
    async with (
        serving(project, env=env) as server,
        over_http(server.url, revision, **options) as client,
    ):
        yield client
