"""However many tools and callers there are, what is counted takes a bounded memory."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from pathlib import Path
from time import perf_counter

import pytest

from tests.gateway.yard import ECHO, Yard
from tests.peers.serving import environment
from toolyard.observation.metrics import Metrics
from toolyard.observation.operations import ServerOperations
from toolyard.protocol.call import Call, Caller, Result
from toolyard.protocol.revisions import LATEST

MOST = 2000


RESULT: Result = {"content": [{"type": "text", "text": "ok"}]}


async def call_all(operations: ServerOperations, tools: int, callers: int) -> None:
    """Every tool, and every caller; more pairs than anybody could keep."""
    for number in range(tools):
        caller = Caller(id=f"token:{number % callers}", name="")
        params = {"name": f"tool-{number}", "arguments": {}}
        operations.note(Call("tools/call", params, LATEST, caller=caller), RESULT, perf_counter())


async def test_ten_thousand_tools_and_a_thousand_callers_take_bounded_memory() -> None:
    metrics = Metrics("tcp", MOST)
    metrics.server.knows = lambda _name: True
    tracemalloc.start()
    await call_all(metrics.server, 10_000, 1_000)
    full = tracemalloc.get_traced_memory()[0]
    await call_all(metrics.server, 10_000, 1_000)
    again = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert full < 8_000_000 and again - full < 100_000
    for metric in metrics.read():
        assert len(metric.points) <= MOST + 1
    assert metrics.server.folded_counts["mcp_server_operation_duration_seconds"] == 16_000


@pytest.mark.parametrize("way", ["--http", "--stdio"])
def test_switched_off_nothing_of_it_is_loaded(tmp_path: Path, way: str) -> None:
    """The list of modules after a start: neither ours nor OpenTelemetry's."""
    yard = Yard(tmp_path)
    yard.registry(servers=[yard.upstream("u", ECHO, expose="all")])
    flags = ["--http", "127.0.0.1:0", "--no-page"] if way == "--http" else ["--stdio"]
    program = (
        "import atexit, signal, sys, threading, os;"
        "atexit.register(lambda: print(*sys.modules, file=sys.stderr));"
        "timer = threading.Timer(3.0, os.kill, (os.getpid(), signal.SIGTERM));"
        "timer.daemon = True; timer.start();"
        f"sys.argv[1:] = ['serve', {str(yard.file)!r}, *{flags!r}];"
        "from toolyard.cli import main; sys.exit(main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment({"TOOLYARD_METRICS": "false"}),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=30,
    )
    modules = done.stderr.split()
    assert "toolyard.app.build" in modules, done.stderr[-500:]
    extra = [m for m in modules if m.startswith(("toolyard.observation", "opentelemetry"))]
    assert extra == []
