"""Many mixed calls with cancels, disconnects and kills: is every answer that of its request, and
is anything left afterwards?

    python -m bench.soak                   200,000 calls
    python -m bench.soak 20000 --seconds 300
    python -m bench.soak 100000 --connections 1000

With --connections so many clients are connected at once, each with a call in flight, and all of
them ask upstreams: two over stdio, and another gateway over HTTP. Nothing is killed then, so that
no call may fail.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import resource
import secrets
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.load import Connection, connect, post
from bench.soak_yard import FAR, MARK, TOOLS, behind, laid_out
from bench.usage import command_line, family
from tests.peers.serving import Listening, serving

OLD, NEW = "2025-11-25", "2026-07-28"
PREFIX = "io.modelcontextprotocol/"
META = {PREFIX + "protocolVersion": NEW, PREFIX + "clientCapabilities": {}}
AT_ONCE = 32
WARM_UP = 500
KILL_EVERY = 500  # calls
# Of a hundred calls: to upstreams, to scripts, cancelled, broken off.
WEIGHTS = {"upstream": 84, "script": 10, "cancelled": 3, "left": 3}
# A crowd asks no scripts: those that wait for one of the few that run at a time measure nothing.
CROWD = {"upstream": 94, "cancelled": 3, "left": 3}
PATIENCE = 60.0
SETTLE = 15.0
KEPT = 2 * AT_ONCE  # descriptors and files of exchange folders that are used again


@dataclass(frozen=True, slots=True)
class Footprint:
    """What a server takes at one moment."""

    megabytes: float
    descriptors: int
    processes: int
    files: int

    @classmethod
    def of(cls, pid: int, scratch: Path) -> Footprint:
        status = Path(f"/proc/{pid}/status").read_text()
        resident = next(line for line in status.splitlines() if line.startswith("VmRSS"))
        return cls(
            int(resident.split()[1]) / 1024,
            len(os.listdir(f"/proc/{pid}/fd")),
            len(list(family(pid))),
            sum(len(files) for _, _, files in os.walk(scratch)),
        )

    def __str__(self) -> str:
        return (
            f"{self.megabytes:.1f} MB, {self.descriptors} descriptors, "
            f"{self.processes} processes, {self.files} files"
        )


@dataclass(slots=True)
class Soak:
    """What is known so far. `wrong` and `lost` must stay empty."""

    server: Listening
    outcomes: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    answered: Counter[str] = field(default_factory=Counter)  # by tool
    failures: Counter[str] = field(default_factory=Counter)  # by what was said
    connections: int = AT_ONCE
    upstreams: Sequence[str] = TOOLS[1:]
    weights: Mapping[str, int] = field(default_factory=lambda: WEIGHTS)
    kill_every: int = KILL_EVERY  # calls; 0: never
    session: str = ""
    count: int = 0
    kills: int = 0

    # -- calls ---------------------------------------------------------------------------

    def request(self, tool: str, arguments: dict[str, Any], *, modern: bool) -> tuple[str, bytes]:
        """Its id, and its bytes."""
        self.count += 1
        name = f"r{self.count}"
        params: dict[str, Any] = {"name": tool, "arguments": arguments}
        if modern:
            params["_meta"] = META
        body = {"jsonrpc": "2.0", "id": name, "method": "tools/call", "params": params}
        return name, post(self.server.url, json.dumps(body).encode(), self.headers(tool, modern))

    def headers(self, tool: str, modern: bool) -> dict[str, str]:
        if modern:
            return {"MCP-Protocol-Version": NEW, "Mcp-Method": "tools/call", "Mcp-Name": tool}
        return {"MCP-Protocol-Version": OLD, "Mcp-Session-Id": self.session}

    async def greet(self) -> None:
        hello = {
            "protocolVersion": OLD,
            "capabilities": {},
            "clientInfo": {"name": "soak", "version": "1"},
        }
        first = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}
        connection = await connect(self.server.url)
        head, _ = await connection.send(post(self.server.url, json.dumps(first).encode(), {}))
        named = next(line for line in head.split(b"\r\n") if line.lower().startswith(b"mcp-sess"))
        self.session = named.partition(b":")[2].strip().decode()
        await self.tell(connection, "notifications/initialized", {})
        connection.close()

    async def tell(self, connection: Connection, method: str, params: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode()
        await connection.send(post(self.server.url, body, self.headers("", modern=False)))

    async def call(self, connection: Connection, tool: str) -> None:
        mine = secrets.token_hex(12)
        arguments = {"mine": mine, "late": random.random() < 0.2}
        name, request = self.request(tool, arguments, modern=random.random() < 0.5)
        try:
            async with asyncio.timeout(PATIENCE):
                _, body = await connection.send(request)
        except TimeoutError:
            self.lost.append(f"{name} to {tool}")
            raise
        self.judge(name, tool, mine, body)

    def judge(self, name: str, tool: str, mine: str, body: bytes) -> None:
        """Is this the answer to that request, whole, once, and nobody else's?"""
        answer = answer_in(body)
        if answer is None or answer.get("id") != name:
            self.wrong.append(f"{name}: {body[:300]!r}")
            return
        result = answer.get("result", {})
        text = "".join(part.get("text", "") for part in result.get("content", ()))
        if "error" in answer or result.get("isError"):
            self.outcomes["failed"] += 1  # who was to answer was killed
            self.failures[text or str(answer.get("error"))] += 1
        elif json.loads(text)["mine"] == mine:
            self.outcomes["answered"] += 1
            self.answered[tool] += 1
        else:
            self.wrong.append(f"{name}: {text[:300]}")

    async def cancelled(self, connection: Connection, tool: str) -> None:
        name, request = self.request(tool, {"slow": True}, modern=False)
        slow, began = await connect(self.server.url), time.monotonic()
        waiting = asyncio.ensure_future(slow.send(request))
        await asyncio.sleep(random.random() * 0.05)
        with suppress(asyncio.IncompleteReadError, ConnectionError, ValueError):
            while time.monotonic() < began + PATIENCE:  # what overtakes its request cancels nothing
                await self.tell(connection, "notifications/cancelled", {"requestId": name})
                if (await asyncio.wait([waiting], timeout=1))[0]:
                    break
            # It may have been killed before it was cancelled, and then it is answered.
            answer = answer_in(waiting.result()[1]) if waiting.done() else None
            if answer is not None and answer["id"] != name:
                self.wrong.append(f"{name} was cancelled and got {answer}")
        if not waiting.done():
            self.lost.append(f"{name} to {tool}, which was cancelled")
        waiting.cancel()
        slow.close()
        self.outcomes["cancelled"] += 1

    async def left(self, _connection: Connection, tool: str) -> None:
        _, request = self.request(tool, {"slow": True}, modern=True)
        leaving = await connect(self.server.url)
        waiting = asyncio.ensure_future(leaving.send(request))
        await asyncio.wait([waiting], timeout=random.random() * 0.05)
        waiting.cancel()
        leaving.close()
        self.outcomes["left"] += 1

    # -- everything together -------------------------------------------------------------

    async def run(self, calls: int, until: float) -> None:
        kinds, weights = list(self.weights), list(self.weights.values())
        left = iter(range(calls))

        async def work() -> None:
            connection = await connect(self.server.url)
            for number in left:
                if time.monotonic() > until:
                    break
                (kind,) = random.choices(kinds, weights)
                await self.one(kind, connection)
                if self.kill_every and number % self.kill_every == self.kill_every - 1:
                    self.kill()
            connection.close()

        await asyncio.gather(*(work() for _ in range(self.connections)))

    def one(self, kind: str, connection: Connection) -> Awaitable[None]:
        ways: dict[str, Callable[[Connection, str], Awaitable[None]]] = {
            "cancelled": self.cancelled,
            "left": self.left,
        }
        some = [TOOLS[0]] if kind == "script" else list(self.upstreams)
        if kind in ways and "script" in self.weights:
            some.append(TOOLS[0])
        tool = random.choice(some)
        return ways.get(kind, self.call)(connection, tool)

    def kill(self) -> None:
        """One of those that work for the server, whichever it is."""
        pid = self.server.process.pid
        workers = [
            one
            for one in family(pid)
            if one != pid and (MARK in (line := command_line(one)) or "tool.sh" in line)
        ]
        if workers:
            with suppress(ProcessLookupError):
                os.kill(random.choice(workers), signal.SIGKILL)
                self.kills += 1


def answer_in(body: bytes) -> dict[str, Any] | None:
    """The response in a body, which is JSON or a stream of events."""
    lines = [line.removeprefix(b"data:").strip() for line in body.splitlines()]
    for line in (body, *lines):
        with suppress(ValueError):
            message = json.loads(line)
            if isinstance(message, dict) and "method" not in message and "id" in message:
                return message
    return None


@dataclass(frozen=True, slots=True)
class Found:
    before: Footprint
    after: Footprint
    soak: Soak
    seconds: float

    def __str__(self) -> str:
        soak = self.soak
        done = ", ".join(f"{count} {what}" for what, count in sorted(soak.outcomes.items()))
        by = ", ".join(f"{count} {tool}" for tool, count in sorted(soak.answered.items()))
        return "\n".join(
            (
                f"{soak.count} calls in {self.seconds:.0f} s, {soak.kills} kills: {done} ({by})",
                f"wrong answers: {len(soak.wrong)}, lost: {len(soak.lost)}",
                *(f"{count} failed: {why[:200]}" for why, count in soak.failures.most_common(5)),
                *(soak.wrong[:5] + soak.lost[:5]),
                f"before: {self.before}",
                f"after:  {self.after}",
            )
        )


async def soak(
    calls: int, folder: Path, seconds: float = 1800, connections: int | None = None
) -> Found:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # a thousand clients are here as well
    scratch = folder / "scratch"
    scratch.mkdir()
    env = {"TMPDIR": str(scratch), "MCPBASH_TOOL_ALLOWLIST": "*"}
    async with AsyncExitStack() as stack:
        far = ""
        if connections is not None:
            far = (await stack.enter_async_context(serving(behind(folder), "--no-page"))).url
        server = await stack.enter_async_context(serving(laid_out(folder, far), env=env))
        running = Soak(server)
        if connections is not None:
            running = crowd(server, connections)
        await running.greet()
        warm_up = max(WARM_UP, 2 * (connections or 0))
        await running.run(warm_up, time.monotonic() + seconds)
        await asyncio.sleep(1)
        before = Footprint.of(server.process.pid, scratch)
        began = time.monotonic()
        await running.run(calls - warm_up, began + seconds)
        took = time.monotonic() - began
        spare = KEPT if connections is None else 0
        after = await settled(server.process.pid, scratch, before, spare)
        return Found(before, after, running, took)


def crowd(server: Listening, connections: int) -> Soak:
    upstreams = (*TOOLS[1:], f"{FAR}_echo")
    return Soak(server, connections=connections, upstreams=upstreams, weights=CROWD, kill_every=0)


async def settled(pid: int, scratch: Path, before: Footprint, spare: int) -> Footprint:
    """What is left once the last scripts and connections have ended."""
    deadline = time.monotonic() + SETTLE
    while True:
        now = Footprint.of(pid, scratch)
        back = now.descriptors <= before.descriptors + spare and now.processes <= before.processes
        if back or time.monotonic() > deadline:
            return now
        await asyncio.sleep(0.2)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("calls", type=int, nargs="?", default=200_000)
    parser.add_argument("--seconds", type=float, default=1800)
    parser.add_argument("--connections", type=int)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="toolyard-soak-") as folder:
        found = asyncio.run(soak(options.calls, Path(folder), options.seconds, options.connections))
    print(found)
    return 1 if found.soak.wrong or found.soak.lost else 0


if __name__ == "__main__":
    sys.exit(main())
