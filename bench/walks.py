"""How far one warm request walks through the program: calls, modules, changes of folder.

    python -m bench.walks [--source FOLDER] [--steps]

A call is a function of ours that is entered; a coroutine that goes on after a wait is not entered
again. A folder is one of those right below `src/toolyard`; it changes where a function of another
one is entered. Counted are the second request on a connection and the tenth. Another tree of
sources can be counted by the same counter (`--source ../before/src`); `--steps` prints the walk.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import TypeAlias

from bench.http import free_port, reachable
from bench.load import connect, modern_call, modern_request
from bench.peers import environment
from bench.proxies import upstream

COUNTED = (2, 10)
REVISION = "2025-11-25"
PAUSE = 1.0  # what the request before leaves to be done later is done by then
Walk: TypeAlias = list[str]  # "folder/module.py function", in order
Ask: TypeAlias = Callable[[], None]

# -- in the program that is counted ----------------------------------------------------------


class Counter:
    """Switched on and off by a signal; prints the walk when it is switched off."""

    def __init__(self) -> None:
        self._root = ""
        self._walk: Walk = []

    def switch(self, _signal: int, _frame: FrameType | None) -> None:
        if sys.getprofile() is None:
            self._walk = []
            print("walk begins", file=sys.stderr, flush=True)
            sys.setprofile(self._note)
        else:
            sys.setprofile(None)
            print("walk " + json.dumps(self._walk), file=sys.stderr, flush=True)

    def serve(self, words: list[str]) -> int:
        import toolyard  # noqa: PLC0415 - whichever tree of sources was asked for
        from toolyard.cli import main as toolyard_main  # noqa: PLC0415

        self._root = str(Path(toolyard.__file__).parent) + os.sep
        signal.signal(signal.SIGUSR2, self.switch)
        sys.argv = ["toolyard", *words]
        return toolyard_main()

    def _note(self, frame: FrameType, event: str, _argument: object) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(self._root):
            return
        if code.co_code[frame.f_lasti + 1]:  # RESUME says so: it goes on after a wait
            return
        module = code.co_filename.removeprefix(self._root)
        self._walk.append(f"{module} {code.co_qualname}")


# -- who asks --------------------------------------------------------------------------------


def walk_of(process: subprocess.Popen[bytes], ask: Ask) -> Walk:
    said = process.stderr
    assert said is not None
    time.sleep(PAUSE)
    process.send_signal(signal.SIGUSR2)
    _line_with(said, b"walk begins")
    ask()
    process.send_signal(signal.SIGUSR2)
    walk: Walk = json.loads(_line_with(said, b"walk [").partition(b" ")[2])
    return walk


def _line_with(stream: Iterator[bytes], words: bytes) -> bytes:
    for line in stream:
        if line.startswith(words):
            return line
    raise SystemExit("the program ended before it was counted")


def walks(process: subprocess.Popen[bytes], ask: Ask) -> dict[int, Walk]:
    counted = {}
    for number in range(1, max(COUNTED) + 1):
        if number in COUNTED:
            counted[number] = walk_of(process, ask)
        else:
            ask()
    return counted


@contextmanager
def counted_program(
    source: str, words: list[str], folder: Path
) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "bench.walks", "--serve", *words]
    variables = {**environment(), "PYTHONPATH": source, "XDG_STATE_HOME": str(folder / "state")}
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, env=variables, stdin=pipe, stdout=pipe, stderr=pipe)
    try:
        yield process
    finally:
        process.terminate()
        process.communicate()


def script_over_stdio(source: str, folder: Path) -> dict[int, Walk]:
    with counted_program(source, ["serve", str(project(folder))], folder) as process:
        ask = line_asker(process)
        hello = {"protocolVersion": REVISION, "capabilities": {}, "clientInfo": client_info()}
        ask("initialize", hello)
        ask("notifications/initialized", None)
        return walks(process, lambda: ask("tools/call", {"name": "hello", "arguments": {}}))


def line_asker(process: subprocess.Popen[bytes]) -> Callable[[str, object], None]:
    number = 0

    def ask(method: str, params: object) -> None:
        nonlocal number
        number += 1
        head: dict[str, object] = {"jsonrpc": "2.0", "method": method}
        is_request = params is not None
        message = {**head, "id": number, "params": params} if is_request else head
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.flush()
        answer = process.stdout.readline() if is_request else b'"result"'
        if b'"result"' not in answer or b'"isError":true' in answer:
            raise SystemExit(f"{method} was answered {answer!r}")

    return ask


def virtual_over_http(source: str, folder: Path) -> dict[int, Walk]:
    registry = folder / "registry.json"
    registry.write_text(json.dumps(registry_with_a_virtual_tool()))
    arguments: dict[str, object] = {"name": '{"name": "x"}'}  # the upstream says it back
    return over_http(
        source, folder, str(registry), lambda url: modern_call(url, "greet", arguments)
    )


def list_over_http(source: str, folder: Path) -> dict[int, Walk]:
    return over_http(
        source, folder, str(project(folder)), lambda url: modern_request(url, "tools/list", {}, {})
    )


def over_http(
    source: str, folder: Path, served: str, request_for: Callable[[str], bytes]
) -> dict[int, Walk]:
    port = free_port()
    url = f"http://127.0.0.1:{port}/mcp"
    words = ["serve", served, "--http", str(port), "--no-page"]
    with asyncio.Runner() as runner, counted_program(source, words, folder) as process:
        runner.run(reachable(port))
        connection = runner.run(connect(url))

        def ask() -> None:
            _, body = runner.run(connection.send(request_for(url)))
            if b'"result"' not in body or b'"isError":true' in body:
                raise SystemExit(f"answered {body!r}")

        return walks(process, ask)


# -- what is served --------------------------------------------------------------------------


def project(folder: Path) -> Path:
    tool = folder / "project" / "tools" / "hello"
    tool.mkdir(parents=True)
    (tool / "tool.sh").write_text("#!/bin/sh\necho hello\n")
    (tool / "tool.sh").chmod(0o755)
    (tool / "tool.meta.json").write_text('{"name": "hello", "description": "Says hello."}')
    (folder / "project" / "server.d").mkdir()
    (folder / "project" / "server.d" / "server.meta.json").write_text('{"name": "walked"}')
    return folder / "project"


def registry_with_a_virtual_tool() -> dict[str, object]:
    command, *words = upstream()
    shape = {"type": "object", "properties": {"text": {"type": "string", "source_field": "$.name"}}}
    return {
        "servers": [{"name": "up", "stdio": {"command": command, "args": words}}],
        "tools": [
            {"name": "echo", "server": "up", "hidden": True},
            {
                "name": "greet",
                "source": "echo",
                "defaults": {"style": "json"},
                "outputSchema": shape,
            },
        ],
    }


def client_info() -> dict[str, str]:
    return {"name": "walks", "version": "1"}


# -- the table -------------------------------------------------------------------------------

WAYS = {
    "script over stdio": script_over_stdio,
    "virtual tool over HTTP, stdio upstream": virtual_over_http,
    "tools/list over HTTP": list_over_http,
}


def figures(walk: Walk) -> str:
    modules = [step.partition(" ")[0] for step in walk]
    folders = [module.partition(os.sep)[0] for module in modules]
    switches = sum(here != before for before, here in pairwise(folders))
    return f"{len(walk)} | {len(set(modules))} | {switches}"


def measure(source: str, with_steps: bool) -> list[str]:
    rows = ["| way | request | calls | modules | folder switches |", "|---|---|---|---|---|"]
    for way, count in WAYS.items():
        with tempfile.TemporaryDirectory(prefix="toolyard-walks-") as folder:
            for number, walk in count(source, Path(folder)).items():
                rows.append(f"| {way} | {number} | {figures(walk)} |")
                if with_steps:
                    rows += [f"    {step}" for step in walk]
    return rows


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        sys.exit(Counter().serve(sys.argv[2:]))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", default=str(Path(__file__).parents[1] / "src"))
    parser.add_argument("--steps", action="store_true")
    options = parser.parse_args()
    print("\n".join(measure(options.source, options.steps)))
