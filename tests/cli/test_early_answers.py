"""What is answered before the program is loaded equals what is answered after."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.peers.raw import over_stdio
from tests.peers.sdk_fixtures import PROJECT
from tests.peers.serving import copied, environment, toolyard

HELLO = {"capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
@pytest.mark.parametrize("limit", [None, 3])
async def test_the_first_list_equals_the_second(revision: str, limit: int | None) -> None:
    params = {} if limit is None else {"limit": limit}
    with copied(PROJECT) as project:
        async with over_stdio(toolyard("serve", project), revision) as client:
            early = await client.result("tools/list", params)
            await client.result("ping")
            later = await client.result("tools/list", params)
            if limit is not None:
                cursors = early.pop("nextCursor"), later.pop("nextCursor")
                pages = [await client.result("tools/list", {"cursor": c}) for c in cursors]
                assert pages[0] == pages[1]
    assert early == later


async def test_everything_sent_at_once_is_answered() -> None:
    messages: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", **HELLO}},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
        {"id": 3, "method": "ping"},
        {"id": 4, "method": "tools/list", "params": {"cursor": "stale"}},
    ]
    said = talk(toolyard("serve", PROJECT), messages)
    assert [answer["id"] for answer in said] == [1, 2, 3, 4]
    assert said[3]["error"]["code"] == -32602


def test_a_list_before_initialized_is_refused() -> None:
    messages: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", **HELLO}},
        {"id": 2, "method": "tools/list"},
    ]
    said = talk(toolyard("serve", PROJECT), messages)
    assert said[1]["error"]["code"] == -32000


def talk(command: list[str], messages: list[dict[str, Any]]) -> list[Any]:
    lines = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in messages)
    done = subprocess.run(
        command, input=lines, capture_output=True, text=True, env=environment(), timeout=30
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


# Each takes longer to load than the answer takes to be made.
HEAVY = {"mcp", "pydantic", "asyncio", "logging", "socket", "ssl", "shutil", "hashlib", "inspect"}
BEFORE_INITIALIZE = HEAVY | {"orjson", "dataclasses", "uuid", "datetime", "urllib.parse"}
# orjson brings these.
BEFORE_TOOLS_LIST = (HEAVY - {"inspect"}) | {"urllib.parse", "ipaddress"}
AT_THE_ANSWER = """
import os, sys
count, write = int(sys.argv.pop(1)), os.write
def probe(fd, data):
    global count
    count -= b'"jsonrpc"' in data
    if not count:
        write(2, "\\n".join(sys.modules).encode())
        os._exit(0)
    return write(fd, data)
os.write = probe
from toolyard.cli import main
main(sys.argv[1:])
"""


@pytest.mark.parametrize(("answers", "heavy"), [(1, BEFORE_INITIALIZE), (2, BEFORE_TOOLS_LIST)])
def test_the_first_answers_need_nothing_heavy(
    answers: int, heavy: set[str], tmp_path: Path
) -> None:
    (tmp_path / "tools").mkdir()
    hello = {"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", **HELLO}}
    messages = (hello, {"method": "notifications/initialized"}, {"id": 2, "method": "tools/list"})
    done = subprocess.run(
        [sys.executable, "-c", AT_THE_ANSWER, str(answers), "serve", str(tmp_path)],
        input="".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in messages),
        capture_output=True,
        text=True,
        env=environment(),
        timeout=30,
    )
    modules = set(done.stderr.split())
    assert "toolyard.app.early.greeting" in modules, done.stderr
    assert not modules & heavy


@pytest.mark.parametrize("heavy", ["mcp", "pydantic", "starlette", "uvicorn"])
def test_the_program_that_serves_knows_no_framework(heavy: str) -> None:
    source = (
        "import sys, toolyard.app.serving.over_stdio, toolyard.app.serving.over_http\n"
        "print(sys.argv[1] in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", source, heavy], capture_output=True, text=True, env=environment()
    )
    assert done.stdout.strip() == "False", done.stderr


def test_stray_prints_cannot_reach_stdout(tmp_path: Path) -> None:
    """What we or a library print by accident ends on stderr."""
    (tmp_path / "tools").mkdir()
    source = (
        "import sys\nfrom toolyard.app.early import greeting\nfrom toolyard.cli import main\n"
        "real = greeting.greet_early\n"
        "import toolyard.cli.serve as serve\n"
        "def noisy(*a, **k):\n    print('stray')\n    return real(*a, **k)\n"
        "serve.greet_early = noisy\n"
        f"sys.exit(main(['serve', {str(tmp_path)!r}]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", source],
        input='{"jsonrpc":"2.0","id":1,"method":"ping"}\n',
        capture_output=True,
        text=True,
        env=environment(),
        timeout=30,
    )
    assert done.stdout == '{"jsonrpc":"2.0","id":1,"result":{}}\n'
    assert "stray" in done.stderr
