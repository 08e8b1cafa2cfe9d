"""The project that calls every function of the script library, served by either command."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tests.hooks.contract import safe_copy
from tests.hooks.yard import mcp_bash
from tests.peers.raw import RawClient, over_stdio
from tests.peers.serving import ROOT, toolyard

PROJECT = ROOT / "tests" / "projects" / "library"
UI = {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}
CAN = {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}, "extensions": UI}


class Served(NamedTuple):
    client: RawClient
    project: Path

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return await self.client.call(tool, arguments)

    async def given(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """What a tool made with mcp_result_success; its result is as that function has it."""
        result = await self.call(tool, **arguments)
        envelope = result["structuredContent"]
        assert result == {
            "name": tool,
            "content": [
                {
                    "type": "text",
                    "text": json.dumps(envelope, separators=(",", ":"), ensure_ascii=False),
                }
            ],
            "structuredContent": envelope,
            "isError": False,
            "_meta": {"exitCode": 0},
        }
        assert list(envelope) == ["success", "result"] and envelope["success"] is True
        value: dict[str, Any] = envelope["result"]
        return value


@asynccontextmanager
async def served(command: str, **options: Any) -> AsyncIterator[Served]:
    with safe_copy(PROJECT) as project:
        argv = mcp_bash() if command == "mcp-bash" else toolyard("serve", project)
        roots = {"roots": [{"uri": project.resolve().as_uri(), "name": "here"}]}
        options = {"capabilities": CAN, "answers": {"roots/list": roots}, **options}
        env = {"MCPBASH_TOOL_ALLOWLIST": "*", "MCPBASH_DEBUG_LOG": str(project / "debug.log")}
        async with over_stdio(argv, cwd=project, env=env, **options) as client:
            yield Served(client, project.resolve())
