"""TERM: balancers are given time to notice, and nothing is lost meanwhile or afterwards."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.yard import replicas, text
from tests.peers.http1 import fetch
from tests.peers.nginx import needs_nginx
from tests.peers.raw_http import over_http
from tests.peers.redis import needs_redis
from tests.peers.serving import Listening, serving
from tests.until import WITHIN, until, until_dead
from tests.workers.doors import doors, workers_of
from tests.workers.test_readiness import knows
from tests.workers.yard import NEW, crewed, group_of, project, who, worker_at

OLD = "2025-11-25"
# Longer than any test: whoever ends sooner did not wait for it to be over.
LONG = {"TOOLYARD_DRAIN_PAUSE": "600"}
SHORT = {"TOOLYARD_DRAIN_PAUSE": "0.1"}
ABOUT_TO_END = {"ready": False, "because": ["it is about to end"], "remarks": []}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return project(tmp_path / "yard")


async def readiness(server: Listening) -> tuple[int, Any]:
    async with fetch("GET", f"{server.origin}/readyz") as reply:
        return reply.status, json.loads(await reply.body())


async def is_ready(server: Listening) -> bool:
    return (await readiness(server))[0] == 200


async def hangs_up(server: Listening) -> bool:
    """On somebody who would go on after an answer."""
    host, port = server.origin.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        writer.write(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n")
        async with asyncio.timeout(WITHIN):
            return b"connection: close" in await reader.read()
    finally:
        writer.close()


async def is_leaving(server: Listening) -> bool:
    return await readiness(server) == (503, ABOUT_TO_END)


async def opened(url: str) -> int:
    """The status of an answer to somebody who would open a session."""
    params = {
        "protocolVersion": OLD,
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }
    body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    async with fetch("POST", url, headers, json.dumps(body).encode()) as reply:
        await reply.body()
        return reply.status


async def test_after_a_term_balancers_are_told_and_everything_but_new_sessions_is_served(
    folder: Path,
) -> None:
    async with serving(folder, env=LONG) as server, over_http(server.url, OLD) as client:
        await until(lambda: is_ready(server))
        server.process.send_signal(signal.SIGTERM)
        await until(lambda: is_leaving(server))
        assert await hangs_up(server)  # nobody keeps a connection for later
        assert await who(server) == server.process.pid
        assert text(await client.call("who")) == str(server.process.pid)
        assert await opened(server.url) == 503
        async with fetch("GET", f"{server.origin}/sse") as reply:
            assert reply.status == 503 and reply.headers["retry-after"] == "1"
        server.process.send_signal(signal.SIGTERM)  # there is nobody to wait for
        assert await server.process.wait() == 0


async def test_a_pause_comes_to_its_end_by_itself(folder: Path) -> None:
    async with serving(folder, env=SHORT) as server:
        await until(lambda: is_ready(server))
        server.process.send_signal(signal.SIGTERM)
        assert await server.process.wait() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_process_that_no_balancer_asks_ends_at_once_and_so_does_one_at_a_keyboard(
    folder: Path, number: signal.Signals
) -> None:
    async with serving(folder, env=LONG) as server:
        await who(server)  # it serves
        if number == signal.SIGINT:
            await until(lambda: is_ready(server))
        server.process.send_signal(number)
        assert await server.process.wait() == 0


async def test_workers_serve_on_together_until_the_pause_is_over(folder: Path) -> None:
    async with crewed(folder, env=LONG) as server, doors(server) as urls:
        server.process.send_signal(signal.SIGTERM)
        for pid, url in urls.items():
            await until(partial(is_leaving, replace(server, url=url)))
            assert await opened(url) == 503
            assert await worker_at(url) == pid
        assert workers_of(server) == set(urls)
        server.process.send_signal(signal.SIGTERM)
        assert await server.process.wait() == 0
        assert group_of(server.process.pid) == set()


@needs_redis
@needs_nginx
async def test_a_balancer_that_does_not_look_loses_nothing_when_a_replica_leaves(
    folder: Path,
) -> None:
    async with replicas(folder, env=LONG) as both, over_http(both.url, OLD) as client:
        home = int(text(await client.call("who")))
        (leaver,) = [server for server in both.servers if server.process.pid == home]
        (stayer,) = [server for server in both.servers if server.process.pid != home]
        await until(lambda: knows(leaver, 2))
        os.kill(home, signal.SIGTERM)
        await until(lambda: is_leaving(leaver))
        for _ in range(2):
            async with over_http(leaver.url, OLD) as newcomer:
                assert text(await newcomer.call("who")) == str(stayer.process.pid)
            async with over_http(both.url, NEW, start=False) as modern:
                assert text(await modern.call("who")).isdecimal()
            assert text(await client.call("who")) == str(home)
        os.kill(home, signal.SIGTERM)
        await until_dead(home)
        for _ in range(4):
            assert text(await client.call("who")) == str(stayer.process.pid)
