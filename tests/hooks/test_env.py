"""server.d/env.sh, through the program: read where allowed, before any script runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hooks.yard import HOOKS, Yard, failure_of, text_of
from tests.peers.raw import over_stdio
from tests.peers.raw_http import over_http
from tests.peers.serving import serving


@pytest.fixture
def yard(yard: Yard) -> Yard:
    yard.tool("greet", 'printf "%s from %s" "${GREETING-nobody}" "${MCP_TOOL_NAME}"')
    return yard


async def test_what_env_sh_exports_reaches_every_script(yard: Yard) -> None:
    yard.write("server.d/env.sh", 'export GREETING="hello $MCPBASH_PROJECT_ROOT"\n')
    yard.script("prompts/hi.sh", 'printf "%s" "$GREETING"')
    yard.write("prompts/hi.meta.json", {"name": "hi"})
    async with over_stdio(yard.served, env=HOOKS) as client:
        assert text_of(await client.call("greet")) == f"hello {yard.root} from greet"
        prompt = await client.result("prompts/get", {"name": "hi"})
    assert prompt["messages"][0]["content"]["text"] == f"hello {yard.root}"


async def test_it_reaches_scripts_that_are_served_over_http(yard: Yard) -> None:
    yard.write("server.d/env.sh", "GREETING=plain\n")
    async with serving(yard.root, env=HOOKS) as server, over_http(server.url) as client:
        assert text_of(await client.call("greet")) == "plain from greet"


async def test_env_sh_is_not_read_without_the_opt_in(yard: Yard, tmp_path: Path) -> None:
    read = tmp_path / "read"
    yard.write("server.d/env.sh", f"export GREETING=hello; touch {read}\n")
    async with over_stdio(yard.served) as client:
        assert text_of(await client.call("greet")) == "nobody from greet"
        await client.end_of_input()
        said = await client.running.last_words()
    assert not read.exists()
    assert "env.sh: is not read without MCPBASH_ALLOW_PROJECT_HOOKS=true" in said


async def test_env_sh_cannot_pass_for_the_server_or_hand_out_its_tokens(yard: Yard) -> None:
    yard.tool("tell", "env")
    yard.write(
        "server.d/env.sh",
        "export MCP_TOOL_NAME=other MCPBASH_REMOTE_TOKEN=secret TOOLYARD_API_TOKEN=secret\n"
        'export SEEN="[$MCP_REGISTRY_TOKEN]"\n',
    )
    env = {**HOOKS, "MCP_REGISTRY_TOKEN": "registry-secret"}
    async with over_stdio(yard.served, env=env) as client:
        told = text_of(await client.call("tell"))
    assert "MCP_TOOL_NAME=tell" in told and "SEEN=[]" in told
    assert "secret" not in told


@pytest.mark.parametrize(
    ("body", "why"), [("exit 3", "failed with exit code 3"), ("syntax (", "failed with exit code")]
)
async def test_an_env_sh_that_fails_keeps_scripts_from_running_and_says_why(
    yard: Yard, body: str, why: str
) -> None:
    path = yard.write("server.d/env.sh", f"{body}\n")
    async with over_stdio(yard.served, env=HOOKS) as client:
        text = failure_of(await client.call("greet"))
        listed = await client.result("tools/list")
    assert f"{path}: {why}" in text
    assert [tool["name"] for tool in listed["tools"]] == ["greet"]


async def test_an_env_sh_that_others_may_write_is_not_read(yard: Yard, tmp_path: Path) -> None:
    read = tmp_path / "read"
    path = yard.write("server.d/env.sh", f"touch {read}\n")
    path.chmod(0o666)
    async with over_stdio(yard.served, env=HOOKS) as client:
        assert f"{path}: can be written by group" in failure_of(await client.call("greet"))
    assert not read.exists()
