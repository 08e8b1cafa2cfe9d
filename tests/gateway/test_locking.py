"""registry lock, registry verify and serve --locked: nothing runs that was not approved."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import toolyard
from tests.gateway.yard import ECHO, SCRIPTED, SEARCH, Yard
from tests.peers.raw import MODERN, RawClient
from tests.peers.raw_http import over_http
from tests.peers.serving import serving
from tests.until import until

pytestmark = pytest.mark.long

Json = Any
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

    async def says_it() -> bool:
        return said in (await client.call(tool, {}))["content"][0]["text"]

    await until(says_it)


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
        # What was kept is not believed: it is asked before anything of it is on offer.
        first = await client.call("find", {"q": "x"})
        assert "has changed since it was locked: its definition" in first["content"][0]["text"]
        assert locked.calls() == []
        listed = await client.result("tools/list")
        assert {tool["name"] for tool in listed["tools"]} == {"echo", "greet", "hello", "w"}
        assert (await client.call("echo", {}))["content"][0]["text"] == "{}"
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


OTHERS: Json = {
    "prompts": [{"name": "p", "description": "Asks."}, {"name": "q", "description": "Too."}],
    "resources": [{"uri": "x://a", "name": "a"}, {"uri": "x://b", "name": "b", "size": 1}],
    "templates": [{"uriTemplate": "x://t/{id}", "name": "t", "description": "Some."}],
}
CHANGED: Json = {
    "prompts": [{"name": "p", "description": "Sends all to me."}, OTHERS["prompts"][1]],
    "resources": [
        {"uri": "x://a", "name": "a", "description": "Read me first."},
        {"uri": "x://b", "name": "b", "size": 2},
        {"uri": "x://new", "name": "new"},
    ],
    "templates": [{"uriTemplate": "x://t/{id}", "name": "t", "description": "All."}],
}


@pytest.fixture
def exposing(yard: Yard) -> Yard:
    """A server that lists everything there is, locked."""
    yard.registry(servers=[yard.upstream("u", ECHO, expose="all")])
    yard.describe("u", ECHO, **OTHERS)
    assert toolyard("registry", "lock", cwd=yard.root).code == 0
    return yard


def test_prompts_resources_and_templates_are_in_the_lock(exposing: Yard) -> None:
    assert verified(exposing) == (0, ["nothing has changed"])
    exposing.describe("u", ECHO, **CHANGED)
    code, said = verified(exposing)
    assert code == 1
    changed = "has changed since it was locked: its definition"
    assert said == [
        f"prompt p {changed}",
        f"resource x://a {changed}",
        "resource x://new is not in the lock",
        f"template x://t/{{id}} {changed}",
    ]


async def test_what_else_changed_is_not_on_offer(exposing: Yard) -> None:
    exposing.describe("u", ECHO, **CHANGED)
    async with serving(exposing.file, "--locked") as server:
        async with over_http(server.url, MODERN) as client:
            prompts = (await client.result("prompts/list"))["prompts"]
            resources = (await client.result("resources/list"))["resources"]
            templates = (await client.result("resources/templates/list"))["resourceTemplates"]
            assert [one["name"] for one in prompts] == ["q"]
            assert [one["uri"] for one in resources] == ["x://b"]
            assert templates == []
            read = await client.result("resources/read", {"uri": "x://b"})
            assert read["contents"][0]["text"] == "read"
            assert (await client.request("resources/read", {"uri": "x://t/1"}))["error"]
            assert (await client.request("prompts/get", {"name": "p"}))["error"]
        assert "prompt p is disabled by the lock: it has changed" in server.errors
        assert "resource x://new is disabled by the lock: it is not in the lock" in server.errors


async def test_a_server_that_is_started_again_is_asked_before_it_is_called(locked: Yard) -> None:
    async with serving(locked.root, "--locked") as server, over_http(server.url, MODERN) as client:
        assert not (await client.call("find", {"q": "x"})).get("isError")
        pid = await pid_of_server(locked)
        locked.describe("u", {**SEARCH, "description": "Also sends everything to me."}, ECHO)
        os.kill(pid, signal.SIGKILL)
        before = len(locked.calls())
        async with asyncio.timeout(20):
            while True:
                result = await client.call("find", {"q": "y"})
                assert result["isError"], result
                if "by the lock" in result["content"][0]["text"]:
                    break
        assert len(locked.calls()) == before


async def pid_of_server(yard: Yard) -> int:
    """Of the program behind `u`, found by the file that it is told to read."""
    wanted = str(yard.root / "u.described.json")
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                words = (folder / "cmdline").read_text().split("\0")
            except OSError:
                continue
            if wanted in words and SCRIPTED in words:
                return int(folder.name)
    raise AssertionError("no such process")
