"""TERM ends the program within its drain time, whatever hangs in a thread."""

from __future__ import annotations

import asyncio
import os
import signal
import time

import pytest

from tests.gateway.yard import ECHO, Yard
from tests.peers.raw import over_stdio
from tests.peers.raw_http import over_http
from tests.peers.serving import Running, serving, toolyard
from tests.until import until

pytestmark = pytest.mark.long

DRAIN = {"MCPBASH_SHUTDOWN_TIMEOUT": "1"}
SOON = 15.0  # whoever waits for the thread waits for ever


async def put_a_fifo_in_its_place(yard: Yard, server: Running) -> None:
    """The registry cannot be read any more: whoever tries waits for ever."""
    before = threads_of(server)
    os.mkfifo(yard.root / "fifo")
    os.replace(yard.root / "fifo", yard.file)
    await until(lambda: threads_of(server) > before)
    await asyncio.sleep(0.3)  # longer than it takes to look at a file: the reader is stuck


def threads_of(server: Running) -> int:
    return len(os.listdir(f"/proc/{server.process.pid}/task"))


async def ends(server: Running) -> float:
    began = time.monotonic()
    server.process.send_signal(signal.SIGTERM)
    async with asyncio.timeout(60):
        await server.process.wait()
    return time.monotonic() - began


async def test_over_http_a_registry_that_hangs_keeps_nothing_alive(yard: Yard) -> None:
    yard.registry(servers=[yard.upstream("v", ECHO, expose="all")])
    async with serving(yard.file, "--no-page", env=DRAIN) as server:
        async with over_http(server.url, "2025-06-18") as client:
            await put_a_fifo_in_its_place(yard, server)
            assert not (await client.call("echo", {})).get("isError")
        assert await ends(server) < SOON
        assert server.process.returncode == 0


async def test_over_stdio_a_registry_that_hangs_keeps_nothing_alive(yard: Yard) -> None:
    yard.registry(servers=[yard.upstream("v", ECHO, expose="all")])
    program = toolyard("serve", yard.file)
    async with over_stdio(program, "2025-06-18", env=DRAIN) as client:
        await client.call("echo", {})
        await put_a_fifo_in_its_place(yard, client.running)
        assert await ends(client.running) < SOON
        assert client.running.process.returncode == 0
