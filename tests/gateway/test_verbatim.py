"""Results that nothing has to change in arrive byte for byte, whatever JSON they are made of."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import WITHIN
from tests.gateway.yard import Yard
from tests.peers.serving import environment

pytestmark = pytest.mark.long

# Answers the call number n with line n of a file, as it stands there.
SERVER = """
import json, sys
lines = open(sys.argv[1], encoding="utf-8").read().split("\\n")
TOOL = {"name": "say", "inputSchema": {"type": "object"}}
for line in sys.stdin:
    message = json.loads(line)
    method, number = message.get("method"), message.get("id")
    if number is None:
        continue
    if method == "initialize":
        text = json.dumps({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                           "serverInfo": {"name": "odd", "version": "1"}})
    elif method == "tools/list":
        text = json.dumps({"tools": [TOOL]})
    elif method == "tools/call":
        text = lines[message["params"]["arguments"]["n"]]
    else:
        text = None
    answer = '"result":' + text if text else '"error":{"code":-32601,"message":"no"}'
    print('{"jsonrpc":"2.0","id":%d,%s}' % (number, answer), flush=True)
"""
TEXTS = (
    "",
    "é😀",
    "\\u00e9",
    "\\/",
    "\\n\\t\\\\",
    "\\ud83d\\ude00",
    "\\ud800",
    "\\u0000",
    "a" * 5000,
)
NUMBERS = ("0", "-0", "1.0", "1e5", "1E-7", str(2**63), str(-(10**40)), "3.14159265358979323846")


def _text(chance: random.Random, depth: int) -> str:
    """JSON as nobody would write it: names twice, odd numbers, escapes, spaces."""
    kind = chance.randrange(7 if depth else 4)
    if kind == 0:
        return f'"{chance.choice(TEXTS)}"'
    if kind == 1:
        return chance.choice(NUMBERS)
    if kind < 4:
        return chance.choice(("true", "false", "null"))
    inside = [_text(chance, depth - 1) for _ in range(chance.randrange(4))]
    if kind == 4:
        return "[" + ", ".join(inside) + "]"
    return "{" + ",".join(f'"{chance.choice("ab")}" :{part}' for part in inside) + "}"


def _results() -> list[str]:
    chance = random.Random(2026)
    return [
        f'{{"content":[{{"type":"text","text":"{chance.choice(TEXTS)}",'
        f'"vendor":{_text(chance, 3)}}}],"x-more":{_text(chance, 4)},"isError":false}}'
        for _ in range(300)
    ]


def _answers(registry: Path, revision: str, count: int) -> list[bytes]:
    """The lines that a client over stdio reads, in the order of its calls."""
    opening = {
        "protocolVersion": revision,
        "capabilities": {},
        "clientInfo": {"name": "c", "version": "1"},
    }
    messages: list[dict[str, Any]] = [
        {"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": opening},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        *(
            {
                "jsonrpc": "2.0",
                "id": n,
                "method": "tools/call",
                "params": {"name": "say", "arguments": {"n": n}},
            }
            for n in range(count)
        ),
    ]
    done = subprocess.run(
        [sys.executable, "-m", "toolyard", "serve", str(registry)],
        input="".join(json.dumps(message) + "\n" for message in messages).encode(),
        env=environment(),
        capture_output=True,
        timeout=WITHIN,
    )
    lines = [line for line in done.stdout.splitlines() if b'"method"' not in line[:60]]
    return sorted((line for line in lines if b'"hello"' not in line[:60]), key=_number)


def _number(line: bytes) -> int:
    return int(line.split(b",")[1].split(b":")[1])


def test_odd_results_arrive_as_they_were_sent(tmp_path: Path) -> None:
    yard, results = Yard(tmp_path), _results()
    (tmp_path / "server.py").write_text(SERVER)
    (tmp_path / "results.txt").write_text("\n".join(results), encoding="utf-8")
    command = {
        "command": sys.executable,
        "args": [str(tmp_path / "server.py"), str(tmp_path / "results.txt")],
    }
    registry = yard.registry(servers=[{"name": "odd", "stdio": command, "expose": "all"}])
    lines = _answers(registry, "2025-11-25", len(results))
    assert lines == [
        b'{"jsonrpc":"2.0","id":%d,"result":%b}' % (n, result.encode())
        for n, result in enumerate(results)
    ]
