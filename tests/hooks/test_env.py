"""server.d/env.sh, through the program: read where allowed, before any script runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

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


@pytest.fixture
def provided(yard: Yard) -> Yard:
    yard.script("providers/env.sh", 'printf "%s %s" "${EXTRA-none}" "${MCP_REGISTRY_TOKEN-none}"')
    yard.write("resources/told.meta.json", {"name": "told", "uri": "env://x", "provider": "env"})
    return yard


@pytest.mark.parametrize(
    ("env", "seen"),
    [
        ({}, "none none"),
        ({"MCPBASH_PROVIDER_ENV_MODE": "allowlist"}, "none none"),
        (
            {
                "MCPBASH_PROVIDER_ENV_MODE": "allowlist",
                "MCPBASH_PROVIDER_ENV_ALLOWLIST": "EXTRA,MCP_REGISTRY_TOKEN",
            },
            "extra none",
        ),
        (
            {
                "MCPBASH_PROVIDER_ENV_MODE": "inherit",
                "MCPBASH_PROVIDER_ENV_INHERIT_ALLOW": "true",
            },
            "extra none",
        ),
    ],
)
async def test_a_provider_sees_what_its_mode_lets_it_and_no_token(
    provided: Yard, env: dict[str, str], seen: str
) -> None:
    env = {"EXTRA": "extra", "MCP_REGISTRY_TOKEN": "secret", **env}
    async with over_stdio(provided.served, env=env) as client:
        read = await client.result("resources/read", {"uri": "env://x"})
    assert read["contents"][0]["text"] == seen


async def test_a_provider_that_may_not_inherit_is_not_run(provided: Yard) -> None:
    async with over_stdio(provided.served, env={"MCPBASH_PROVIDER_ENV_MODE": "inherit"}) as client:
        error = await client.error("resources/read", {"uri": "env://x"})
    assert "MCPBASH_PROVIDER_ENV_INHERIT_ALLOW" in error["message"]


async def test_a_question_waits_as_long_as_the_operator_says(yard: Yard) -> None:
    yard.tool("ask", 'source "$MCP_SDK/tool-sdk.sh"; mcp_elicit_confirm "Sure?"')
    env = {"MCPBASH_ELICITATION_TIMEOUT": "0.3"}
    can: dict[str, Any] = {"elicitation": {}}
    async with over_stdio(yard.served, env=env, capabilities=can, checked=False) as client:
        client.reply_to = lambda question: {}  # type: ignore[method-assign]
        assert text_of(await client.call("ask")) == '{"action":"cancel"}'
