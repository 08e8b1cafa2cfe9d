"""A process that is alone pays for nothing of this."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.peers.serving import environment
from tests.workers.yard import project

PARTS = (
    *("toolyard.cluster", "toolyard.transports.endpoint.keeping", "redis", "cryptography"),
    *("toolyard.app.workers.clustering", "toolyard.app.workers.crew", "toolyard.store.redis"),
    *("toolyard.transports.endpoint.elsewhere", "toolyard.access.limits.cluster"),
)
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "alone", "version": "1"},
}
MESSAGES: tuple[dict[str, object], ...] = (
    {"id": 1, "method": "initialize", "params": HELLO},
    {"method": "notifications/initialized"},
    {"id": 2, "method": "tools/list"},
    {"id": 3, "method": "tools/call", "params": {"name": "who", "arguments": {}}},
)


def loaded_by(program: str, *arguments: str, messages: str = "") -> tuple[str, set[str]]:
    """What a program writes, and the modules that it has loaded when it has ended."""
    at_exit = "import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr))"
    done = subprocess.run(
        [sys.executable, "-c", f"{at_exit}; {program}", *arguments],
        env=environment(),
        input=messages,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout, set(done.stderr.splitlines()[-1].split())


def test_what_serves_over_http_imports_nothing_of_a_cluster() -> None:
    _, modules = loaded_by("import toolyard.app.serving.over_http")
    assert "toolyard.app.serving.over_http" in modules
    assert [name for name in modules if name.startswith(PARTS)] == []


def test_a_call_over_stdio_imports_nothing_of_a_cluster_nor_of_a_store(tmp_path: Path) -> None:
    lines = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in MESSAGES)
    program = "from toolyard.cli import main; sys.exit(main(sys.argv[1:]))"
    folder = project(tmp_path / "yard")
    answers, modules = loaded_by(program, "serve", str(folder), messages=lines)
    assert json.loads(answers.splitlines()[-1])["result"]["content"][0]["text"].isdecimal()
    assert "toolyard.transports.stdio" in modules
    modules -= {"toolyard.store.seal"}  # of parked calls, as ever
    assert [name for name in modules if name.startswith((*PARTS, "toolyard.store."))] == []
