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

from bench.built import BUILT, Unavailable
from bench.http import free_port
from bench.peers import commands, environment
from bench.proxies import upstream
from bench.standing import over_stdio

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
    return answered([*OURS, str(registry), "--http", str(port)], port, "/mcp")


def built_over_http(name: str) -> float:
    """The same of a gateway in Go or Rust."""
    port = free_port()
    return answered(BUILT[name].command(port, upstream()), port, BUILT[name].path)


def answered(command: list[str], port: int, path: str) -> float:
    body = message("initialize", 1, **HELLO)
    headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    begun = time.perf_counter()
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, stdout=quiet, stderr=quiet, env=environment()) as process:
        connection = http.client.HTTPConnection("127.0.0.1", port)
        while True:
            try:
                connection.connect()
                break
            except ConnectionRefusedError:
                if process.poll() is not None:
                    raise Unavailable(f"{command[0]} has ended") from None
                time.sleep(0.001)
        connection.request("POST", path, body, headers)
        if connection.getresponse().status != 200:
            process.kill()
            raise Unavailable(f"{command[0]} refused `initialize`")
        took = time.perf_counter() - begun
        connection.close()
        process.terminate()
    return took


def built_here() -> list[str]:
    """Those that can be had, tried once."""
    found = []
    for name in BUILT:
        try:
            built_over_http(name)
        except (Unavailable, OSError) as error:
            print(f"{name} is left out: {error}", file=sys.stderr)
        else:
            found.append(name)
    return found


def cold_list(project: Path) -> float:
    shutil.rmtree(project / ".registry", ignore_errors=True)
    return started([*OURS, str(project)], listing=True)


def measure(rounds: int) -> list[str]:
    with tempfile.TemporaryDirectory() as name:
        small = make_project(Path(name) / "small", 500)
        large = make_project(Path(name) / "large", 5000)
        peers, gateways = commands("stdio"), built_here()
        taken: dict[str, list[float]] = {}
        for _ in range(rounds):
            taken.setdefault("bare", []).append(bare())
            taken.setdefault("init", []).append(started([*OURS, str(small)], listing=False))
            taken.setdefault("500", []).append(cold_list(small))
            taken.setdefault("http", []).append(started_over_http(Path(name)))
            for peer in gateways:
                taken.setdefault(peer, []).append(built_over_http(peer))
        for _ in range(max(3, rounds // 4)):
            taken.setdefault("5000", []).append(cold_list(large))
            for peer, command in peers.items():
                taken.setdefault(peer, []).append(started(command, listing=False))
    return told(taken, list(peers), gateways)


def told(taken: dict[str, list[float]], peers: list[str], gateways: list[str]) -> list[str]:
    middle = {key: statistics.median(times) for key, times in taken.items()}

    def line(what: str, key: str, goal: str) -> str:
        best, usual, times = min(taken[key]) * 1e3, middle[key] * 1e3, middle[key] / middle["bare"]
        return f"| {what} | {usual:.0f} | {best:.0f} | {times:.1f} | {goal} |"

    rows = [
        "| from the start of the process | ms | at best | times `python3 -c pass` | goal |",
        "|---|---|---|---|---|",
        line("`python3 -c pass`", "bare", ""),
        line("to the answer of `initialize`", "init", "at most 7, better 5"),
        line("to a full `tools/list` of 500 tools", "500", "at most 10, better 8"),
        line("to a full `tools/list` of 5,000 tools", "5000", "under 0.5 s"),
        line("a gateway, to `initialize` over HTTP", "http", "at most 8, 150 ms"),
        *(line(f"{one}, to `initialize` over HTTP", one, "") for one in gateways),
    ]
    for peer in peers:
        ratio = f"ours is {middle[peer] / middle['init']:.0f} times faster"
        rows.append(line(f"{peer}, to `initialize`", peer, ratio))
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    print("\n".join(measure(parser.parse_args().rounds)))
