"""Odd requests: each gets a clear error of a few words, and never an internal one."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.yard import Yard
from tests.peers.raw import over_stdio
from tests.peers.serving import toolyard
from toolyard.errors import ProtocolError
from toolyard.protocol.eras.headers import check_parameters

pytestmark = pytest.mark.long

Json = Any
LONG = "x" * 3_000_000
INVALID = -32602
PROMPTS = Path(__file__).with_name("odd_prompts.py")

ODD: dict[str, tuple[str, Json, int | None]] = {
    "a list for a ref's type": (
        "completion/complete",
        {"ref": {"type": ["x"], "name": "p"}, "argument": {"name": "a", "value": "b"}},
        INVALID,
    ),
    "an object for a ref's type": (
        "completion/complete",
        {"ref": {"type": {"a": 1}}, "argument": {"name": "a", "value": "b"}},
        INVALID,
    ),
    "a number for a ref": ("completion/complete", {"ref": 7}, INVALID),
    "an unknown ref": (
        "completion/complete",
        {"ref": {"type": "ref/prompt", "name": LONG}, "argument": {"name": "a", "value": "b"}},
        INVALID,
    ),
    "a list for a prompt's name": ("prompts/get", {"name": ["p"]}, INVALID),
    "a list for a prompt's arguments": ("prompts/get", {"name": "p", "arguments": [1]}, INVALID),
    "an unknown prompt": ("prompts/get", {"name": LONG}, INVALID),
    "an unknown resource": ("resources/read", {"uri": f"x://{LONG}"}, -32002),
    "an unknown tool": ("tools/call", {"name": LONG}, INVALID),
    "an unknown method": (LONG, {}, -32601),
    "a cursor that is an object": ("tools/list", {"cursor": {}}, INVALID),
    "a limit beyond everything": ("tools/list", {"limit": 10**40}, None),
    "a level that is a list": ("logging/setLevel", {"level": []}, INVALID),
    "arguments that are repeated": ("tools/call", {"name": "t", "arguments": {"a": LONG}}, None),
    "a name that is repeated": ("tools/call", {"name": "t", "arguments": {LONG: 1}}, None),
}


@pytest.mark.parametrize("what", ODD)
async def test_an_odd_request_gets_a_short_clear_answer(yard: Yard, what: str) -> None:
    method, params, code = ODD[what]
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    yard.script("t", "echo", inputSchema={**schema, "additionalProperties": False})
    yard.write("prompts/p.txt", "Hello {{name}}")
    program = toolyard("serve", yard.root)
    async with over_stdio(program, "2025-06-18", checked=False) as client:
        answer = await client.request(method, params, within=20)
        assert answer.get("error", {}).get("code") == code
        assert len(json.dumps(answer)) < 3000
        assert "Traceback" not in client.running.errors


PROMPT_ARGUMENTS: dict[str, Json] = {
    "a number": 5,
    "an object": {"name": "x"},
    "a list of numbers": [1, None, "x"],
    "no names": [{"required": True}, {"name": 7, "required": True}],
}


@pytest.mark.parametrize("what", PROMPT_ARGUMENTS)
async def test_a_prompt_whose_arguments_are_listed_oddly_can_be_got(yard: Yard, what: str) -> None:
    listed = json.dumps([{"name": "p", "arguments": PROMPT_ARGUMENTS[what]}])
    command = {"command": sys.executable, "args": ["-S", str(PROMPTS), listed]}
    yard.registry(servers=[{"name": "u", "stdio": command, "expose": "all"}])
    program = toolyard("serve", yard.file)
    async with over_stdio(program, "2025-06-18", checked=False) as client:
        assert len((await client.result("prompts/list"))["prompts"]) == 1
        assert (await client.request("prompts/get", {"name": "p"}))["result"] == {"messages": []}


@pytest.mark.parametrize(
    ("header", "value", "same"),
    [
        (str(2**53 + 1), 2**53 + 1, True),
        (str(2**53), 2**53 + 1, False),
        (str(10**30), 10**30, True),
        (str(10**30), 10**30 + 1, False),
        ("1" + "0" * 400, 10**400, True),
        ("1", 10**400, False),
        ("9" * 5000, 10**400, False),
        ("7", 7, True),
        ("7.0", 7, True),
        ("nan", 7, False),
        ("x", 10**30, False),
    ],
)
def test_integers_in_headers_are_compared_as_integers(header: str, value: int, same: bool) -> None:
    headers = {"mcp-param-n": header}
    try:
        check_parameters(headers, {("n",): "N"}, {"n": value})
    except ProtocolError:
        assert not same
    else:
        assert same


async def test_the_watcher_comes_back_however_often_it_is_killed(yard: Yard) -> None:
    yard.script("t", "echo")
    async with over_stdio(toolyard("serve", yard.root), "2025-06-18", checked=False) as client:
        await client.call("t", {})
        killed: set[int] = set()
        while len(killed) < 7:
            watchers = watchers_of(client.running.process.pid) - killed
            for pid in watchers:
                os.kill(pid, signal.SIGKILL)
            killed |= watchers
            await client.result("ping")
        while not watchers_of(client.running.process.pid) - killed:
            await client.result("ping")
        assert "starting another" in client.running.errors


def watchers_of(parent: int) -> set[int]:
    found = set()
    for place in Path("/proc").glob("[0-9]*"):
        try:
            fields = (place / "stat").read_text().rpartition(")")[2].split()
            line = (place / "cmdline").read_bytes()
        except OSError:
            continue
        if int(fields[1]) == parent and fields[0] != "Z" and b"toolyard-watcher" in line:
            found.add(int(place.name))
    return found
