"""A server that is a program: how many processes of it there are, and how others reach them."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.peers.raw_http import HttpClient, over_http
from tests.peers.redis import needs_redis, redis_server
from tests.peers.serving import Listening, serving
from tests.until import until, until_dead, until_exists
from tests.workers.doors import doors, in_turn, workers_of
from tests.workers.yard import NEW, crewed, project

COUNTER = str(Path(__file__).with_name("counter.py"))
OLD = "2025-11-25"
KEY = {"TOOLYARD_CLUSTER_KEY": "k" * 32}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return project(tmp_path / "yard")


def with_counter(folder: Path, **more: str) -> Path:
    stdio = {"command": sys.executable, "args": [COUNTER]}
    server = {"name": "counter", "stdio": stdio, "expose": "all", **more}
    (folder / "registry.json").write_text(json.dumps({"servers": [server]}))
    return folder


def said(result: Any) -> Any:
    return json.loads(result["content"][0]["text"])


async def pids_of(url: str, times: int = 6) -> set[int]:
    """Which processes answer, over a connection for each call."""
    return {said(await call(url, "pid"))[0] for _ in range(times)}


async def call(url: str, tool: str, **arguments: Any) -> Any:
    async with over_http(url, NEW, start=False) as client:
        return await client.call(tool, arguments)


@asynccontextmanager
async def sessions_of(server: Listening) -> AsyncIterator[list[HttpClient]]:
    """One in each worker."""
    async with doors(server) as urls, AsyncExitStack() as stack:
        yield [await stack.enter_async_context(over_http(url, OLD)) for url in urls.values()]


async def test_workers_share_one_process_unless_each_is_to_have_its_own(folder: Path) -> None:
    async with crewed(with_counter(folder)) as server, in_turn(server) as url:
        assert len(await pids_of(url)) == 1
        for number in range(1, 9):
            assert said(await call(url, "bump"))[1] == number
    async with crewed(with_counter(folder, copies="worker")) as server, in_turn(server) as url:
        assert len(await pids_of(url)) == 2


async def test_progress_logs_and_errors_come_through_from_the_other_worker(folder: Path) -> None:
    async with crewed(with_counter(folder)) as server, sessions_of(server) as clients:
        for client in clients:
            await client.call("steps", meta={"progressToken": "t"})
            progress = [one for one in client.notifications if "progress" in one["method"]]
            assert [one["params"]["progress"] for one in progress] == [1, 2, 3]
            await client.notification("notifications/message")
            error = await client.error("tools/call", {"name": "fail", "arguments": {}})
            assert (error["code"], error["data"]) == (-31999, {"big": 12345678901234567890123})


async def test_what_the_server_announces_reaches_the_clients_of_every_worker(folder: Path) -> None:
    async with crewed(with_counter(folder)) as server, sessions_of(server) as clients:
        for client in clients:
            await client.open_get()
            await client.result("tools/list")
            await client.result("resources/subscribe", {"uri": "mem://count"})
        await clients[0].call("grow", {"name": "new"})
        for client in clients:
            await client.notification("notifications/tools/list_changed")
            await until(lambda c=client: lists(c, "new"))  # type: ignore[misc]
        await clients[-1].call("bump")
        for client in clients:
            await client.notification("notifications/resources/updated")


async def lists(client: HttpClient, tool: str) -> bool:
    return tool in {one["name"] for one in (await client.result("tools/list"))["tools"]}


async def test_a_cancelled_call_is_cancelled_at_the_server_wherever_it_runs(
    folder: Path, tmp_path: Path
) -> None:
    async with (
        crewed(with_counter(folder)) as server,
        doors(server) as urls,
        AsyncExitStack() as stack,
    ):
        for number, url in urls.items():
            file = tmp_path / str(number)
            client = await stack.enter_async_context(over_http(url, NEW, start=False))
            running = asyncio.create_task(client.call("wait", {"file": str(file)}))
            await until_exists(Path(f"{file}.began"))
            running.cancel()
            assert await until_exists(Path(f"{file}.ended")) == "cancelled"
            await asyncio.gather(running, return_exceptions=True)


async def test_when_the_worker_that_runs_it_dies_another_one_does(folder: Path) -> None:
    async with crewed(with_counter(folder)) as server:
        for _ in range(2):
            (before,) = await pids_of(server.url)
            os.kill(parent_of(before), signal.SIGKILL)
            await until_dead(before)
            await until(lambda: len(workers_of(server)) == 2)
            (after,) = await until(lambda: only_one(server))
            assert after != before


async def only_one(server: Listening) -> set[int] | None:
    try:
        pids = await pids_of(server.url)
    except (AssertionError, OSError, ValueError, KeyError):
        return None  # a connection to the worker that was killed
    return pids if len(pids) == 1 else None


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


@needs_redis
async def test_a_cluster_has_one_process_and_another_when_its_replica_is_killed(
    folder: Path,
) -> None:
    with_counter(folder, copies="cluster")
    with redis_server() as redis:
        flags = ("--store", redis.url)
        async with (
            serving(folder, *flags, env=KEY) as one,
            serving(folder, *flags, env=KEY) as other,
        ):
            (before,) = await pids_of(one.url, 3)
            assert await pids_of(other.url, 3) == {before}
            runs_it = parent_of(before)
            os.kill(runs_it, signal.SIGKILL)
            await until_dead(before)
            left = other if runs_it == one.process.pid else one
            (after,) = await pids_of(left.url, 3)  # the first waits until it may run it
            assert after != before


@needs_redis
async def test_a_process_that_runs_it_no_more_ends_it(folder: Path) -> None:
    with_counter(folder, copies="cluster")
    with redis_server() as redis:
        flags = ("--store", redis.url)
        async with (
            serving(folder, *flags, env=KEY) as one,
            serving(folder, *flags, env=KEY) as other,
        ):
            (before,) = await pids_of(one.url, 1)
            name = redis.ask("KEYS", "*home*").splitlines()[-1]
            redis.ask("SET", name, "1 nobody", "PX", "1500")  # as if another had taken it
            await until(lambda: ran_by_another(other, before))
            assert len(await until(lambda: only_one(one))) == 1
            await until_dead(before)


async def ran_by_another(server: Listening, before: int) -> bool:
    pids = await only_one(server)
    return pids is not None and before not in pids
