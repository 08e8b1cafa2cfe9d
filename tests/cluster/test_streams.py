"""Streams across replicas: what was said on one is had again from the other, once."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.resuming import begun, counting, numbers, some_of
from tests.cluster.test_sessions import killed
from tests.cluster.yard import Replicas, replicas, text, yard
from tests.peers.nginx import needs_nginx
from tests.peers.raw_http import over_http
from tests.peers.redis import needs_redis
from tests.until import until, until_dead, until_exists
from tests.workers.yard import project

pytestmark = [needs_redis, needs_nginx]
NOW = "2025-11-25"
COUNT = 200


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    yard(tmp_path / "yard")
    project(tmp_path / "more", {"count": counting(COUNT)})
    (tmp_path / "more" / "tools" / "count").rename(tmp_path / "yard" / "tools" / "count")
    return tmp_path / "yard"


MANY = {"MCPBASH_MAX_PROGRESS_PER_MIN": "100000"}


async def test_a_stream_that_is_cut_again_and_again_is_resumed_without_loss(folder: Path) -> None:
    async with replicas(folder, env=MANY) as both, over_http(both.url, NOW) as client:
        events = await begun(client, 30)
        while len(events) < COUNT // 2 - 1:
            left = COUNT // 2 - 1 - len(events)
            events += await some_of(client, events[-1].id or "", min(30, left))
        (folder / "tools" / "count" / "go").touch()
        while len(events) <= COUNT:
            events += await some_of(client, events[-1].id or "", min(30, COUNT + 1 - len(events)))
        assert numbers(events) == list(range(1, COUNT + 1))
        assert "done" in (events[-1].data or "")


async def test_the_stream_of_a_finished_call_outlives_its_replica(folder: Path) -> None:
    async with replicas(folder, env=MANY) as both, over_http(both.url, NOW) as client:
        (folder / "tools" / "count" / "go").touch()
        events = await begun(client, 10)
        home = int((folder / "tools" / "count" / "began").read_text())
        await until(lambda: written(both, COUNT + 1))
        await killed(both, home)
        events += await some_of(client, events[-1].id or "", COUNT + 1)
        assert numbers(events) == list(range(1, COUNT + 1))
        assert "done" in (events[-1].data or "")


def written(both: Replicas, count: int) -> bool:
    """Are there so many events of one call in the store?"""
    names = both.redis.ask("KEYS", "toolyard:stream:*:r*").split("\r\n")
    streams = [name for name in names if name.startswith("toolyard:")]
    return any(both.redis.ask("XLEN", name).strip() == f":{count}" for name in streams)


async def test_the_stream_of_a_call_that_died_with_its_replica_says_so(folder: Path) -> None:
    async with replicas(folder, env=MANY) as both, over_http(both.url, NOW) as client:
        events = await begun(client, 10)
        home = int(await until_exists(folder / "tools" / "count" / "began"))
        await until(lambda: written(both, COUNT // 2 - 1))
        await killed(both, home)
        events += await some_of(client, events[-1].id or "", COUNT)
        assert numbers(events) == list(range(1, COUNT // 2))
        last: dict[str, Any] = json.loads(events[-1].data or "")
        assert "may have run" in last["error"]["message"]
        assert last["id"] == client._next_id


async def test_a_replica_that_is_told_to_end_hands_its_sessions_over(folder: Path) -> None:
    async with replicas(folder) as both, over_http(both.url, NOW) as client:
        home = int(text(await client.call("who")))
        await client.open_get()
        held = folder / "tools" / "held"
        calling = asyncio.create_task(client.post(client.message("tools/call", {"name": "held"})))
        await until_exists(held / "began")
        os.kill(home, signal.SIGTERM)
        async with over_http(both.url, NOW) as newcomer:  # opened where nobody is about to end
            assert text(await newcomer.call("who")) != str(home)
        (held / "go").touch()
        assert text((await calling).messages[0]["result"]) == str(home)
        await until_dead(home)
        assert int(text(await client.call("who"))) != home


async def test_a_replica_that_was_stopped_has_lost_its_sessions_when_it_goes_on(
    folder: Path,
) -> None:
    async with replicas(folder) as both:
        one, other = both.servers
        async with over_http(one.url, NOW) as client:
            os.kill(one.process.pid, signal.SIGSTOP)
            client.url = other.url
            assert text(await client.call("who")) == str(other.process.pid)
            os.kill(one.process.pid, signal.SIGCONT)
            client.url = one.url
            for _ in range(5):
                assert text(await client.call("who")) == str(other.process.pid)


async def test_sessions_go_on_while_the_store_is_away_and_are_written_when_it_is_back(
    folder: Path,
) -> None:
    async with replicas(folder) as both, over_http(both.url, NOW) as client:
        home = text(await client.call("who"))
        both.redis.kill()
        for _ in range(6):
            assert text(await client.call("who")) == home
            await asyncio.sleep(0.5)  # longer than any lease
        both.redis.start()
        await until(lambda: "session" in both.redis.ask("KEYS", "toolyard:record:session*"))
        await killed(both, int(home))
        assert text(await client.call("who")) != home
