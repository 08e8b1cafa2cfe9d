"""Starts, in units of `python3 -c pass` of the same environment, all in turns.

python -m bench.start [--rounds 15]
"""

from __future__ import annotations

import argparse
import http.client
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.gateway import over_stdio
from bench.http import free_port
from bench.peers import commands, environment

META = {
    "description": "A tool of the bench",
    "inputSchema": {"type": "object", "properties": {"name": {"type": "string"}}},
    "annotations": {"readOnlyHint": True},
}
HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}
OURS = [sys.executable, "-m", "toolyard", "serve"]


def make_project(folder: Path, tools: int) -> Path:
    for number in range(tools):
        tool = folder / "tools" / f"t{number:04}"
        tool.mkdir(parents=True)
        (tool / "tool.sh").write_text("#!/bin/bash\necho '{}'\n")
        (tool / "tool.sh").chmod(0o755)
        (tool / "tool.meta.json").write_text(json.dumps({"name": tool.name, **META}))
    return folder


def bare() -> float:
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], env=environment(), check=True)
    return time.perf_counter() - begun


def message(method: str, id: int | None = None, **params: Any) -> bytes:
    whole: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
    if id is not None:
        whole["id"] = id
    if params:
        whole["params"] = params
    return json.dumps(whole).encode() + b"\n"


def started(command: list[str], *, listing: bool) -> float:
    """Seconds from the start of the process to its answer."""
    begun = time.perf_counter()
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment(),
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(message("initialize", 1, **HELLO))
        process.stdin.flush()
        process.stdout.readline()
        cursor: str | None = None
        if listing:
            process.stdin.write(message("notifications/initialized"))
            while True:
                params = {"cursor": cursor} if cursor else {}
                process.stdin.write(message("tools/list", 2, **params))
                process.stdin.flush()
                cursor = json.loads(process.stdout.readline())["result"].get("nextCursor")
                if cursor is None:
                    break
        took = time.perf_counter() - begun
        process.stdin.close()
        process.wait()
    return took


def started_over_http(folder: Path) -> float:
    """Seconds from the start of a gateway with one upstream to its first answer over HTTP."""
    port = free_port()
    registry = folder / "registry.json"
    registry.write_text(json.dumps({"servers": over_stdio()}))
    body = message("initialize", 1, **HELLO)
    headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    begun = time.perf_counter()
    with subprocess.Popen(
        [*OURS, str(registry), "--http", str(port)], stderr=subprocess.DEVNULL, env=environment()
    ) as process:
        connection = http.client.HTTPConnection("127.0.0.1", port)
        while True:
            try:
                connection.connect()
                break
            except ConnectionRefusedError:
                time.sleep(0.001)
        connection.request("POST", "/mcp", body, headers)
        if connection.getresponse().status != 200:
            raise SystemExit("the gateway refused `initialize`")
        took = time.perf_counter() - begun
        connection.close()
        process.terminate()
    return took


def cold_list(project: Path) -> float:
    shutil.rmtree(project / ".registry", ignore_errors=True)
    return started([*OURS, str(project)], listing=True)


def measure(rounds: int) -> list[str]:
    with tempfile.TemporaryDirectory() as name:
        small = make_project(Path(name) / "small", 500)
        large = make_project(Path(name) / "large", 5000)
        peers = commands("stdio")
        taken: dict[str, list[float]] = {}
        for _ in range(rounds):
            taken.setdefault("bare", []).append(bare())
            taken.setdefault("init", []).append(started([*OURS, str(small)], listing=False))
            taken.setdefault("500", []).append(cold_list(small))
            taken.setdefault("http", []).append(started_over_http(Path(name)))
        for _ in range(max(3, rounds // 4)):
            taken.setdefault("5000", []).append(cold_list(large))
            for peer, command in peers.items():
                taken.setdefault(peer, []).append(started(command, listing=False))
    middle = {key: statistics.median(times) for key, times in taken.items()}
    floor = middle["bare"]
    rows = [
        "| from the start of the process | ms | times `python3 -c pass` | goal |",
        "|---|---|---|---|",
        f"| `python3 -c pass` | {floor * 1e3:.0f} | 1 | |",
        line("to the answer of `initialize`", middle["init"], floor, "at most 7, better 5"),
        line("to a full `tools/list` of 500 tools", middle["500"], floor, "at most 10, better 8"),
        line("to a full `tools/list` of 5,000 tools", middle["5000"], floor, "under 0.5 s"),
        line("a gateway, to `initialize` over HTTP", middle["http"], floor, "at most 8, 150 ms"),
    ]
    for peer in peers:
        ratio = f"ours is {middle[peer] / middle['init']:.0f} times faster"
        rows.append(line(f"{peer}, to `initialize`", middle[peer], floor, ratio))
    return rows


def line(what: str, took: float, floor: float, goal: str) -> str:
    return f"| {what} | {took * 1e3:.0f} | {took / floor:.1f} | {goal} |"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    print("\n".join(measure(parser.parse_args().rounds)))
