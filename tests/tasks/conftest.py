"""A project whose tools run as tasks, and clients that know tasks in either form."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.hooks.yard import Yard
from tests.peers.serving import Listening, serving

ASK = (
    'source "$MCP_SDK/tool-sdk.sh"; answer=$(mcp_elicit "Which one?" '
    """'{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}'); """
    'echo "$answer" | "$MCPBASH_JSON_TOOL_BIN" -r .content.name'
)
REPORT = (
    'source "$MCP_SDK/tool-sdk.sh"; mcp_progress 40 "nearly half" 100; '
    'mcp_log_info "job" "a line"; while [ ! -e "$MCPBASH_PROJECT_ROOT/go" ]; do sleep 0.02; done; '
    "echo done"
)


@pytest.fixture
def yard(tmp_path: Path) -> Yard:
    yard = Yard(tmp_path / "works")
    yard.tool("plain", "echo plain")
    yard.tool("job", "echo run $MCP_TASK_ID", taskSupport="optional")
    yard.tool("only", "echo only", taskSupport="required")
    yard.tool(
        "long", 'sleep 300 & echo $! >> "$MCPBASH_PROJECT_ROOT/pids"; wait', taskSupport="optional"
    )
    yard.tool("asks", ASK, taskSupport="optional")
    yard.tool("reports", REPORT, taskSupport="optional")
    yard.tool("fails", "echo why >&2; exit 3", taskSupport="optional")
    inline = '#!/usr/bin/env bash\n# mcp: {"name":"inline","taskSupport":"optional"}\necho inline\n'
    yard.write("tools/inline/inline.sh", inline).chmod(0o755)
    return yard


@pytest.fixture
def state(tmp_path: Path) -> dict[str, str]:
    """A state folder of the test's own."""
    return {"XDG_STATE_HOME": str(tmp_path / "state")}


@pytest_asyncio.fixture
async def server(yard: Yard, state: dict[str, str]) -> AsyncIterator[Listening]:
    async with serving(yard.root, env=state) as listening:
        yield listening
