"""The script that starts nginx, Redis and two replicas does, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.examples.conftest import EXAMPLES
from tests.peers.nginx import needs_nginx
from tests.peers.ports import free_port
from tests.peers.raw_http import over_http
from tests.peers.redis import needs_redis
from tests.peers.serving import Running, followed, start
from tests.processes import processes
from tests.until import until

pytestmark = [needs_redis, needs_nginx, pytest.mark.long]


@pytest.fixture
def place() -> Iterator[Path]:
    """The path of a socket must be short."""
    with tempfile.TemporaryDirectory(prefix="ty-") as folder:
        yield Path(folder)


async def test_two_replicas_are_served_and_one_may_be_killed(place: Path) -> None:
    port = free_port(3)
    env = {"TMPDIR": str(place), "TOOLYARD": str(Path(sys.executable).parent / "toolyard")}
    command = [str(EXAMPLES / "cluster" / "serve.sh"), str(port)]
    running = Running(await start(command, env, None, asyncio.subprocess.DEVNULL))
    async with followed(running):
        victim = int((await running.says(r"kill -9 (\d+)")).group(1))
        async with over_http(f"http://127.0.0.1:{port}/mcp", "2025-11-25") as client:
            tools = await client.result("tools/list")
            os.kill(victim, signal.SIGKILL)
            await until(lambda: not is_there(victim))
            assert await client.result("tools/list") == tools
        group = running.process.pid
        os.kill(group, signal.SIGINT)
        assert await running.process.wait() == 0
    assert [pid for pid, fields in processes() if int(fields[2]) == group] == []
    assert list(place.iterdir()) == []


def is_there(pid: int) -> bool:
    return any(one == pid and fields[0] not in "ZX" for one, fields in processes())
