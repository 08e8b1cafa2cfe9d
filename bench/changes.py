"""A change in a large project: how soon clients hear of it, and who waits meanwhile.

    python -m bench.changes [--changes 15]

Over stdio, through the real program: one file of 5,000 tools is edited; then one file is
added to 50,000 resources while a call runs and pings are answered.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from queue import Empty, Queue
from typing import Any

from bench.peers import environment
from bench.start import HELLO, OURS, make_project, message
from bench.usage import megabytes

FOLDERS, FILES = 50, 1000
PING_EVERY = 0.005
SLEEPER = """#!/bin/bash
sleep 60
"""


class Server:
    """The program over stdio; what it says, with the time of each message."""

    def __init__(self, project: Path) -> None:
        self._process = subprocess.Popen(
            [*OURS, str(project)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment(),
        )
        self._heard: Queue[tuple[float, dict[str, Any]]] = Queue()
        threading.Thread(target=self._read, daemon=True).start()
        self.send("initialize", 1, **HELLO)
        self.until(lambda said: said.get("id") == 1)
        self.send("notifications/initialized")

    @property
    def pid(self) -> int:
        return self._process.pid

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._heard.put((time.perf_counter(), json.loads(line)))

    def send(self, method: str, id: int | None = None, **params: Any) -> float:
        assert self._process.stdin is not None
        self._process.stdin.write(message(method, id, **params))
        self._process.stdin.flush()
        return time.perf_counter()

    def until(self, wanted: Any, within: float = 60) -> float:
        """When the first such message came; everything before it is forgotten."""
        deadline = time.perf_counter() + within
        while True:
            came, said = self._heard.get(timeout=max(0.0, deadline - time.perf_counter()))
            if wanted(said):
                return came

    def changed(self, kind: str, within: float = 60) -> float:
        return self.until(
            lambda said: said.get("method") == f"notifications/{kind}/list_changed", within
        )

    def close(self) -> None:
        self._process.kill()
        self._process.wait()


def ready(server: Server, kind: str, touch: Any) -> None:
    """List, then change something until that is announced: from then on it is watched."""
    server.send(f"{kind}/list", 2)
    server.until(lambda said: said.get("id") == 2)
    for number in range(100):
        touch(-1 - number)
        try:
            server.changed(kind, within=1)
            return
        except Empty:
            continue
    raise SystemExit("no change was ever announced")


def announcements(changes: int) -> tuple[list[float], float]:
    """Seconds from the write to the notification, and the memory of the server."""
    with tempfile.TemporaryDirectory() as name:
        project = make_project(Path(name), 5000)
        meta = project / "tools" / "t2500" / "tool.meta.json"

        def touch(number: int) -> None:
            meta.write_text(json.dumps({"name": "t2500", "description": f"Version {number}"}))

        server = Server(project)
        try:
            ready(server, "tools", touch)
            taken = []
            for number in range(changes):
                time.sleep(0.3)
                touch(number)
                written = time.perf_counter()
                taken.append(server.changed("tools") - written)
            return taken, megabytes([server.pid])
        finally:
            server.close()


def stalls(changes: int) -> tuple[list[float], list[float]]:
    """The slowest ping of a quiet second, and the slowest of each rescan, while a call runs."""
    with tempfile.TemporaryDirectory() as name:
        project = make_project(Path(name), 1)
        (project / "tools" / "t0000" / "tool.sh").write_text(SLEEPER)
        fill(project / "resources")
        server = Server(project)
        try:
            ready(server, "resources", lambda number: add(project, number))
            server.send("tools/call", 3, name="t0000", arguments={})
            quiet = [slowest_ping(server, 1.0) for _ in range(3)]
            busy = []
            for number in range(changes):
                add(project, number)
                busy.append(slowest_ping(server, 1.0))
            return quiet, busy
        finally:
            server.close()


def fill(resources: Path) -> None:
    for folder in range(FOLDERS):
        place = resources / f"f{folder}"
        place.mkdir(parents=True)
        for number in range(FILES):
            (place / f"r{folder}-{number}.txt").write_text("text\n")


def add(project: Path, number: int) -> None:
    (project / "resources" / "f7" / f"new{number}.txt").write_text("text\n")


def slowest_ping(server: Server, seconds: float) -> float:
    slowest, end = 0.0, time.perf_counter() + seconds
    while time.perf_counter() < end:
        sent = server.send("ping", 9)
        slowest = max(slowest, server.until(lambda said: said.get("id") == 9) - sent)
        time.sleep(PING_EVERY)
    return slowest


def measure(changes: int) -> list[str]:
    taken, memory = announcements(changes)
    quiet, busy = stalls(max(3, changes // 3))
    return [
        "| in a large project | median, ms | worst, ms | goal |",
        "|---|---|---|---|",
        line("one of 5,000 tools is edited: until clients are told", taken, "200"),
        line("50,000 resources, a call runs: slowest ping of a second", quiet, "50"),
        line("the same while a file is added and what changed is scanned", busy, "50"),
        "",
        f"Memory of the server with 5,000 tools: {memory:.0f} MB.",
    ]


def line(what: str, taken: list[float], goal: str) -> str:
    return f"| {what} | {statistics.median(taken) * 1e3:.0f} | {max(taken) * 1e3:.0f} | {goal} |"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--changes", type=int, default=15)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    print("\n".join(measure(parser.parse_args().changes)))
    sys.exit(0)
