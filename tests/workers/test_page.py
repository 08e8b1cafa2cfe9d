"""The page of several workers is one page, whichever of them a request comes to."""

from __future__ import annotations

import os
import re
import signal
import socket
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.peers.http1 import fetch
from tests.peers.redis import needs_redis, redis_server
from tests.peers.serving import Listening
from tests.until import until
from tests.workers.doors import doors, workers_of
from tests.workers.yard import crewed, project, who, worker_at


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return project(tmp_path / "yard")


async def asked(server: Listening, path: str) -> tuple[int, Any]:
    found = re.search(r"#token=(\S+)", server.errors)
    assert found is not None
    headers = {"Authorization": f"Bearer {found.group(1)}"}
    async with fetch("GET", f"{server.origin}/api/{path}", headers) as got:
        return got.status, await got.json()


async def test_the_token_opens_the_page_at_every_worker_and_nothing_else_does(folder: Path) -> None:
    async with crewed(folder) as server, doors(server) as urls:
        for door in (replace(server, url=url) for url in urls.values()):
            status, document = await asked(door, "overview")
            assert status == 200
            pids = [process["pid"] for process in document["processes"]]
            assert set(pids) == workers_of(server) and len(pids) == 2
            assert document["store"] is None
            async with fetch("GET", f"{door.origin}/api/overview", {}) as got:
                assert got.status == 401


@needs_redis
async def test_the_overview_has_all_workers_of_all_replicas_and_the_store(folder: Path) -> None:
    with redis_server() as redis:
        env = {"TOOLYARD_STORE": redis.url, "TOOLYARD_CLUSTER_KEY": "k" * 32}
        async with crewed(folder, env=env) as one, crewed(folder, env=env) as other:
            pids = workers_of(one) | workers_of(other)
            await who(one)
            for server in (one, other):
                document = await until(lambda s=server: overview_of(s, pids))  # type: ignore[misc]
                processes = document["processes"]
                assert [process["self"] for process in processes].count(True) == 1
                assert all(process["host"] == socket.gethostname() for process in processes)
                assert sum(process["calls"] for process in processes) >= 1
                assert all(process["errors"] == 0 for process in processes)
                store = document["store"]
                assert store["reachable"] and store["error"] is None and not store["differences"]
                assert len(store["processes"]) == len(pids)
                named = {process["name"] for process in store["processes"]}
                assert named == {process["process"] for process in processes}


async def overview_of(server: Listening, pids: set[int]) -> Any:
    """Once all of them are known there: replicas hear of each other twice a second."""
    _, document = await asked(server, "overview")
    known = document["store"]["processes"]
    shown = {process["pid"] for process in document["processes"]}
    return document if shown == pids and len(known) == len(pids) else None


async def test_calls_at_every_worker_are_shown_each_with_its_process(folder: Path) -> None:
    async with crewed(folder) as server, doors(server) as urls:
        assert [await worker_at(url) for url in [*urls.values()] * 3] == [*urls] * 3
        for door in (replace(server, url=url) for url in urls.values()):
            _, document = await asked(door, "traffic")
            calls = [line for line in document["lines"] if line["method"] == "tools/call"]
            assert len(calls) == 6
            assert len({line["process"] for line in calls}) == 2
            times = [line["at"] for line in document["lines"]]
            assert times == sorted(times, reverse=True)
            for line in calls:
                status, record = await asked(door, f"traffic/{line['number']}")
                assert (status, record["number"]) == (200, line["number"])
                assert record["params"]["name"] == "who"


async def test_the_page_goes_on_when_the_worker_that_answered_for_it_dies(folder: Path) -> None:
    async with crewed(folder) as server:
        for victim in workers_of(server):
            os.kill(victim, signal.SIGKILL)
            await until(partial(is_gone, server, victim))
            assert await until(lambda: opens(server))


def is_gone(server: Listening, pid: int) -> bool:
    return pid not in workers_of(server)


async def opens(server: Listening) -> bool:
    try:
        return (await asked(server, "overview"))[0] == 200
    except (OSError, ValueError, IndexError, EOFError):
        return False


async def test_the_pictures_are_drawn_from_the_calls_of_all_workers(folder: Path) -> None:
    async with crewed(folder) as server, doors(server) as urls:
        assert [await worker_at(url) for url in [*urls.values()] * 3] == [*urls] * 3
        for door in (replace(server, url=url) for url in urls.values()):
            _, document = await asked(door, "history")
            assert sum(point["calls"] for point in document["tools"]["who"]) == 6
