"""Clients on pipes that do not read, or take back what they have just asked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.peers.raw import over_stdio
from tests.peers.serving import environment

PROGRAM = [sys.executable, "-m", "tests.transports.odd", "stdio"]
NEW = "2026-07-28"
PREFIX = "io.modelcontextprotocol/"
META = {
    PREFIX + "protocolVersion": NEW,
    PREFIX + "clientCapabilities": {},
    PREFIX + "logLevel": "debug",
    "progressToken": 1,
}
ANSWER = 1_000_000
CALLS = 60


def big(number: int) -> bytes:
    # So long that only a few are read before the answer to the first is there.
    arguments = {"size": ANSWER, "reports": 20, "padding": "x" * 100_000}
    params = {"name": "big", "arguments": arguments, "_meta": META}
    message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
    return json.dumps(message).encode() + b"\n"


@contextmanager
def running(
    tmp_path: Path, program: list[str] = PROGRAM
) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    said = tmp_path / "stderr"
    with (
        said.open("wb") as errors,
        subprocess.Popen(
            program, stdin=-1, stdout=-1, stderr=errors, env=environment(), bufsize=0
        ) as process,
    ):
        try:
            yield process, said
        finally:
            process.kill()


def write_until_it_waits(pipe: int, data: bytes, said: Path) -> bytes:
    """What it did not take before it said that it waits."""
    os.set_blocking(pipe, False)
    deadline = time.monotonic() + 30
    while data and time.monotonic() < deadline:
        try:
            data = data[os.write(pipe, data[:65536]) :]
        except BlockingIOError:
            if "does not read" in said.read_text():
                return data
            time.sleep(0.01)
    raise AssertionError("it took everything, and read on")


def megabytes(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    raise AssertionError("no such process")


def test_the_requests_of_a_client_that_does_not_read_wait_until_it_does(tmp_path: Path) -> None:
    with running(tmp_path) as (process, said):
        assert process.stdin is not None
        assert process.stdout is not None
        to, back = process.stdin.fileno(), process.stdout.fileno()
        rest = write_until_it_waits(to, b"".join(map(big, range(CALLS))), said)
        assert megabytes(process.pid) < 120
        os.set_blocking(back, False)
        answered, got = set[int](), b""
        deadline = time.monotonic() + 60
        while len(answered) < CALLS and time.monotonic() < deadline:
            try:
                if rest:
                    rest = rest[os.write(to, rest[:65536]) :]
            except BlockingIOError:
                pass
            try:
                got += os.read(back, 1 << 20)
            except BlockingIOError:
                time.sleep(0.001)
            *lines, got = got.split(b"\n")
            answered |= {json.loads(line)["id"] for line in lines if b'"id"' in line[:40]}
        assert answered == set(range(CALLS))


@pytest.mark.parametrize("revision", ["2025-11-25", NEW])
async def test_a_cancellation_in_the_same_read_as_its_request_counts(revision: str) -> None:
    async with over_stdio(PROGRAM, revision) as client:
        request = client.message("tools/call", {"name": "hang", "arguments": {}}, id="h")
        params = {"requestId": "h", "reason": "at once"}
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
        await client.send_line(b"\n".join(json.dumps(one).encode() for one in (request, cancel)))
        # The id is free again, and nothing was said about its first request.
        again = await client.request(
            "tools/call", {"name": "big", "arguments": {"size": 1}}, id="h"
        )
        assert again["result"]["content"] == [{"type": "text", "text": "x"}]
        assert [one for one in client.heard if one.get("id") == "h"] == [again]
