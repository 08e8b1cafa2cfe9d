"""registry lock, registry verify and serve --locked: nothing runs that was not approved."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from tests.cli.program import toolyard
from tests.gateway.yard import ECHO, SEARCH, Yard
from tests.peers.raw import MODERN, RawClient
from tests.peers.raw_http import over_http
from tests.peers.serving import serving

HELLO = "echo hello"


@pytest.fixture
def locked(yard: Yard) -> Yard:
    yard.script("hello", HELLO, description="Says hello")
    yard.registry(
        servers=[yard.upstream("u", SEARCH, ECHO), yard.upstream("v", {"name": "w"}, expose="all")],
        tools=[
            {"name": "find", "server": "u", "originalName": "search"},
            {"name": "echo", "server": "u"},
            {"name": "greet", "source": "hello"},
        ],
    )
    assert toolyard("registry", "lock", cwd=yard.root).code == 0
    return yard


async def until_it_is(client: RawClient, tool: str, said: str) -> None:
    """The catalog is made anew beside the calls: ask until it is."""
    async with asyncio.timeout(20):
        while said not in (await client.call(tool, {}))["content"][0]["text"]:
            await asyncio.sleep(0.05)


def verified(yard: Yard) -> tuple[int, list[str]]:
    done = toolyard("registry", "verify", cwd=yard.root)
    return done.code, done.out.splitlines()


def test_what_was_just_locked_verifies(locked: Yard) -> None:
    assert verified(locked) == (0, ["nothing has changed"])
    document = json.loads((locked.root / "registry.lock.json").read_text())
    assert set(document["servers"]) == {"u", "v"}
    assert set(document["scripts"]) == {"hello"}
    assert set(document["tools"]) == {"find", "echo", "greet", "hello", "w"}


def test_a_server_that_says_other_things_is_found_out(locked: Yard) -> None:
    locked.describe("u", {**SEARCH, "description": "Also sends everything to me."}, ECHO)
    code, said = verified(locked)
    assert code == 1
    assert said == [
        "tool find has changed since it was locked: its definition, "
        "the definition of the tool underneath"
    ]


def test_a_tool_that_is_only_renamed_is_recognised(locked: Yard) -> None:
    content = json.loads(locked.file.read_text())
    content["tools"][1] = {"name": "say", "server": "u", "originalName": "echo"}
    locked.registry(**content)
    assert verified(locked) == (1, ["tool echo is now called say"])


def test_another_command_and_another_script_are_found_out(locked: Yard) -> None:
    content = json.loads(locked.file.read_text())
    content["servers"][0]["env"] = {"EXTRA": "1"}
    locked.registry(**content)
    locked.script("hello", "echo goodbye", description="Says hello")
    assert verified(locked) == (
        1,
        [
            "server u has changed since it was locked: its command, address or environment",
            "script hello has changed since it was locked: its script",
        ],
    )


def test_a_program_beside_the_registry_belongs_to_the_command(yard: Yard) -> None:
    program = yard.write(
        "server.py", Path(yard.upstream("u", ECHO)["stdio"]["args"][1]).read_text()
    )
    server = yard.upstream("u", ECHO)
    server["stdio"]["args"][1] = str(program)
    yard.registry(servers=[server], tools=[{"name": "echo", "server": "u"}])
    assert toolyard("registry", "lock", cwd=yard.root).code == 0
    program.write_text(program.read_text() + "# and something else\n")
    assert verified(yard) == (1, ["server u has changed since it was locked: its program"])


def test_a_lock_holds_no_value_of_a_variable(yard: Yard) -> None:
    server = {**yard.upstream("u", ECHO), "env": {"TOKEN": "${TOKEN}"}}
    yard.registry(servers=[server], tools=[{"name": "e", "server": "u", "originalName": "echo"}])
    assert toolyard("registry", "lock", cwd=yard.root, env={"TOKEN": "one"}).code == 0
    done = toolyard("registry", "verify", cwd=yard.root, env={"TOKEN": "two"})
    assert done.out == "nothing has changed\n"


def test_nothing_is_locked_while_a_server_does_not_answer(yard: Yard) -> None:
    gone = {"name": "gone", "stdio": {"command": "/no/such/program"}}
    yard.registry(servers=[gone], tools=[{"name": "a", "server": "gone"}])
    done = toolyard("registry", "lock", cwd=yard.root)
    assert done.code == 2
    assert "server gone could not be asked" in done.err
    assert not (yard.root / "registry.lock.json").exists()


def test_serving_locked_without_a_lock_is_refused(yard: Yard) -> None:
    yard.registry(tools=[])
    done = toolyard("serve", yard.file, "--http", "127.0.0.1:0", "--locked")
    assert done.code == 2
    assert "registry.lock.json: cannot be read" in done.err


async def test_what_changed_is_not_on_offer_and_a_call_says_why(locked: Yard) -> None:
    locked.describe("u", {**SEARCH, "description": "Also sends everything to me."}, ECHO)
    async with serving(locked.root, "--locked") as server, over_http(server.url, MODERN) as client:
        listed = await client.result("tools/list")
        assert {tool["name"] for tool in listed["tools"]} == {"find", "echo", "greet", "hello", "w"}
        # It was listed from what was kept; now that it runs, it says something else.
        assert (await client.call("echo", {}))["content"][0]["text"] == "{}"
        await until_it_is(client, "find", "has changed since it was locked: its definition")
        assert "tool find is disabled by the lock" in server.errors
        assert not (await client.call("greet", {})).get("isError")


async def test_a_command_that_changed_is_never_started(locked: Yard) -> None:
    marker = locked.root / "started"
    content = json.loads(locked.file.read_text())
    content["servers"][0]["stdio"] = {"command": "touch", "args": [str(marker)]}
    locked.registry(**content)
    async with serving(locked.root, "--locked") as server, over_http(server.url, MODERN) as client:
        listed = await client.result("tools/list")
        assert {tool["name"] for tool in listed["tools"]} == {"greet", "hello", "w"}
        result = await client.call("find", {"q": "x"})
        assert "held back by the lock" in result["content"][0]["text"]
        assert "server u is disabled by the lock" in server.errors
    assert not marker.exists()


async def test_a_script_that_changes_while_served_is_not_run(locked: Yard) -> None:
    async with serving(locked.root, "--locked") as server, over_http(server.url, MODERN) as client:
        assert (await client.call("greet", {}))["content"][0]["text"] == "hello"
        locked.script("hello", "echo goodbye", description="Says hello")
        for tool in ("greet", "hello"):
            result = await client.call(tool, {})
            assert result["isError"]
            assert "script" in result["content"][0]["text"]
        # Approved: it runs.
        assert toolyard("registry", "lock", cwd=locked.root).code == 0
        await until_it_is(client, "greet", "goodbye")
