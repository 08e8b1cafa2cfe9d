"""A project, and the command `mcp-bash` that serves it as its users' configurations do."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from tests.hooks.yard import Yard, mcp_bash
from tests.peers.raw import StdioClient, over_stdio
from tests.peers.serving import toolyard

Serve: TypeAlias = Callable[..., AbstractAsyncContextManager[StdioClient]]
ALLOWED = {"MCPBASH_TOOL_ALLOWLIST": "*"}


@pytest.fixture
def yard(tmp_path: Path) -> Yard:
    made = Yard(tmp_path / "yard")
    made.tool("hello", "echo hi", description="Says hi")
    return made


@pytest.fixture
def serve(yard: Yard) -> Serve:
    """`async with serve(revision, program="mcp-bash", env=...) as client`."""

    @asynccontextmanager
    async def served(
        revision: str = "2025-11-25",
        program: str = "mcp-bash",
        env: dict[str, str] | None = None,
        **options: Any,
    ) -> AsyncIterator[StdioClient]:
        told = {**ALLOWED, "MCPBASH_PROJECT_ROOT": str(yard.root), **(env or {})}
        command = mcp_bash() if program == "mcp-bash" else toolyard("serve", yard.root)
        async with over_stdio(command, revision, env=told, **options) as client:
            yield client

    return served


def messages(client: StdioClient) -> list[tuple[str, str, str]]:
    """The log messages heard so far: level, logger, text."""
    return [
        (params["level"], params.get("logger", ""), params["data"])
        for params in (
            heard["params"]
            for heard in client.notifications
            if heard["method"] == "notifications/message"
        )
    ]


def lines_of(*requests: dict[str, Any]) -> str:
    return "".join(json.dumps({"jsonrpc": "2.0", **request}) + "\n" for request in requests)
