"""Failed authentications in the audit log: each of a few, a count of the many, no secrets."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.peers.http1 import fetch
from tests.peers.raw import RawClient, over_stdio
from tests.peers.raw_http import over_http
from tests.peers.serving import Listening, serving, toolyard
from toolyard.access import refusals
from toolyard.access.audit_file import AuditFile
from toolyard.access.refusals import MOST, Refusals
from toolyard.access.tokens import hash_of

NEW = "2026-07-28"
RIGHT, WRONG = "a-right-token", "a-guessed-token"
ROUTES = [("POST", "mcp"), ("GET", "mcp"), ("DELETE", "mcp"), ("GET", "sse"), ("GET", "status"),
          ("POST", "oauth/connect"), ("GET", "registry"), ("GET", "api/overview")]  # fmt: skip


@dataclass(frozen=True)
class Guarded:
    server: Listening
    audit: Path

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.audit.read_text().splitlines()]

    async def try_in_vain(self, method: str, route: str) -> None:
        headers = {"Authorization": f"Bearer {WRONG}", "Content-Type": "application/json"}
        url = f"{self.server.origin}/{route}?key={WRONG}"
        async with fetch(method, url, headers, b"{}" if method == "POST" else None) as reply:
            assert reply.status == 401, route


@asynccontextmanager
async def guarded(folder: Path) -> AsyncIterator[Guarded]:
    audit, registry, config = (folder / name for name in ("audit.jsonl", "r.json", "config.json"))
    registry.write_text('{"servers": [], "tools": []}')
    tokens = [{"name": "ada", "hash": hash_of(RIGHT)}]
    config.write_text(json.dumps({"tokens": tokens, "auditLog": str(audit)}))
    async with serving(registry, "--config", str(config)) as server:
        yield Guarded(server, audit)


async def test_each_is_written_down_on_every_route_and_nothing_of_what_was_sent(
    tmp_path: Path,
) -> None:
    async with guarded(tmp_path) as yard:
        for method, route in ROUTES:
            await yard.try_in_vain(method, route)
        lines = yard.lines()
        assert len(lines) == len(ROUTES)
        for line in lines:
            assert line.pop("time").endswith("+00:00")
            assert line == {"outcome": "unauthorized", "address": "127.0.0.1"}
        async with over_http(
            yard.server.url, NEW, headers={"Authorization": f"Bearer {RIGHT}"}
        ) as client:
            await client.result("tools/list")
        assert yard.lines()[-1]["outcome"] == "ok"
    text = yard.audit.read_text()
    assert WRONG not in text and RIGHT not in text and hash_of(WRONG) not in text


async def test_a_flood_is_counted_and_told_of_when_the_server_ends(tmp_path: Path) -> None:
    async with guarded(tmp_path) as yard:
        for _ in range(10):
            await asyncio.gather(*(yard.try_in_vain("POST", "mcp") for _ in range(20)))
        assert len(yard.lines()) == MOST
    *_, last = yard.lines()
    assert len(yard.lines()) == MOST + 1
    assert (last["outcome"], last["more"]) == ("unauthorized", 200 - MOST)


REMOTE = {"MCPBASH_REMOTE_TOKEN": "r" * 32}


@pytest.mark.parametrize("way", ["http", "stdio"])
async def test_a_refused_remote_token_has_a_line_and_a_flood_of_them_a_count(
    tmp_path: Path, way: str
) -> None:
    audit, registry = tmp_path / "audit.jsonl", tmp_path / "registry.json"
    registry.write_text('{"servers": [], "tools": []}')
    env = {**REMOTE, "MCPBASH_AUDIT_LOG": str(audit)}
    async with asking(way, registry, env) as client:
        for _ in range(MOST + 5):
            refused = await client.error("tools/list", meta={"remoteToken": WRONG})
            assert refused["message"].startswith("Remote token missing or invalid")
        await client.result("tools/list", meta={"remoteToken": "r" * 32})
    lines = [json.loads(line) for line in audit.read_text().splitlines()]
    for line in lines:
        del line["time"]
    address = "127.0.0.1" if way == "http" else None
    assert lines[:MOST] == [{"outcome": "unauthorized", "address": address}] * MOST
    assert lines[MOST]["outcome"] == "ok"
    assert lines[MOST + 1 :] == [{"outcome": "unauthorized", "more": 5}]
    assert WRONG not in audit.read_text()


@asynccontextmanager
async def asking(way: str, registry: Path, env: dict[str, str]) -> AsyncIterator[RawClient]:
    if way == "stdio":
        async with over_stdio(toolyard("serve", registry), NEW, env=env, start=False) as client:
            yield client
        return
    async with (
        serving(registry, "--no-page", env=env) as server,
        over_http(server.url, NEW, start=False) as one,
    ):
        yield one


class Heard(AuditFile):
    """In memory; `count` is set by the line that sums up."""

    def __init__(self) -> None:
        self.said: list[dict[str, Any]] = []
        self.count: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def write(self, said: dict[str, Any]) -> None:
        self.said.append(said)
        if "more" in said:
            self.count.set_result(said["more"])


async def test_the_next_minute_has_lines_of_its_own_after_the_sum_of_the_last() -> None:
    lines, now = Heard(), 0.0
    noted = Refusals(lines, clock=lambda: now)
    for _ in range(MOST + 2):
        noted.note("192.0.2.7")
    now = 60.0
    noted.note(None)
    assert lines.said[MOST:] == [
        {"outcome": "unauthorized", "more": 2},
        {"outcome": "unauthorized", "address": None},
    ]


async def test_the_sum_comes_by_itself_when_the_flood_has_stopped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(refusals, "WITHIN", 0.05)
    lines = Heard()
    noted = Refusals(lines, clock=lambda: 0.0)
    for _ in range(MOST + 3):
        noted.note("192.0.2.7")
    assert await asyncio.wait_for(lines.count, 60) == 3
