"""What a script must not learn: the operator's secrets, by name or out of the server itself."""

from __future__ import annotations

import os
import shutil

import pytest

from tests.hooks.yard import HOOKS, Yard, text_of
from tests.peers.raw import over_stdio

SETPRIV = shutil.which("setpriv")
SECRETS = {
    "MCP_DB_PASSWORD": "1",
    "MCP_API_KEY": "1",
    "MCPBASH_SIGNING_KEY": "1",
    "MCP_client_secret": "1",
    "MCP_GITHUB_TOKEN": "1",
    "MCP_AWS_CREDENTIALS": "1",
}
SHOW = "env | grep -i -o -E '^MCP[A-Za-z_]*(PASSWORD|KEY|SECRET|TOKEN|CREDENTIALS|REGION)=' | sort"
OURS = ["MCPBASH_WORKER_KEY=", "MCP_PROGRESS_TOKEN="]


async def shown(yard: Yard, **env: str) -> list[str]:
    yard.tool("show", SHOW)
    async with over_stdio(yard.served, env={**SECRETS, "MCP_REGION": "north", **env}) as client:
        return text_of(await client.call("show")).splitlines()


async def test_a_variable_that_sounds_like_a_secret_is_not_given_for_its_prefix(yard: Yard) -> None:
    assert await shown(yard) == sorted([*OURS, "MCP_REGION="])


async def test_a_secret_that_the_operator_names_is_given(yard: Yard) -> None:
    named = {"MCPBASH_TOOL_ENV_MODE": "allowlist", "MCPBASH_TOOL_ENV_ALLOWLIST": "MCP_API_KEY"}
    assert await shown(yard, **named) == sorted([*OURS, "MCP_API_KEY=", "MCP_REGION="])


async def test_a_secret_that_the_project_exports_is_given(yard: Yard) -> None:
    yard.write("server.d/env.sh", "export MCP_API_KEY=own\n")
    assert await shown(yard, **HOOKS) == sorted([*OURS, "MCP_API_KEY=", "MCP_REGION="])


PEEK = """
own=$(cat /proc/self/environ | tr '\\0' '\\n' | grep -c '^MCP_TOOL_NAME=')
child=$(bash -c 'tr "\\0" "\\n" <"/proc/$$/environ"' | grep -c '^MCP_TOOL_NAME=')
server=$(cat "/proc/$PPID/environ" 2>/dev/null | tr '\\0' '\\n' | grep -c hunter2)
memory=$(head -c 1 "/proc/$PPID/maps" 2>/dev/null | wc -c)
echo "$own $child $server $memory"
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/environ"), reason="needs Linux")
@pytest.mark.skipif(os.geteuid() == 0 and SETPRIV is None, reason="root may look everywhere")
async def test_a_script_cannot_read_the_servers_environment_but_its_own(yard: Yard) -> None:
    yard.tool("peek", PEEK)
    # Without its capabilities root is a user like any other.
    plain = [str(SETPRIV), "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []
    async with over_stdio([*plain, *yard.served], env={"PRIVATE_THING": "hunter2"}) as client:
        for _ in range(2):
            assert text_of(await client.call("peek")) == "1 1 0 0"
