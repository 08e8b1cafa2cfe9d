"""After calls, cancellations and crashes in any mixture, nothing is left."""

from __future__ import annotations

import asyncio
import gc
import os
import random

from tests.processes import Started
from tests.until import until
from tests.upstreams.fake_http import Handshake, fake_http, modern
from tests.upstreams.seam import (
    ClientSession,
    RecordingChannel,
    always,
    call_tool,
    fake,
    modern_call,
    session_call,
    setup,
)
from toolyard.errors import UpstreamError
from toolyard.upstreams.definition import ServerDefinition
from toolyard.upstreams.pool import Pool

ROUNDS, AT_ONCE = 10, 40


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


async def one_call(pool: Pool, dice: random.Random, number: int) -> None:
    server = dice.choice(("old", "new", "http", "http-old"))
    on_pipes = server in ("old", "new")
    tool = dice.choices(("echo", "stall", "die"), (20, 2, 0.3))[0] if on_pipes else "echo"
    call = dice.choice((modern_call(), modern_call({"roots": {}}), session_call({"roots": {}})))
    session = None if call.revision.modern else ClientSession(f"s{number % 5}")
    channel = RecordingChannel(always({"roots": []}), session)
    arguments = {"how": "crash"}
    work = call_tool(pool, tool, arguments, server=server, call=call, channel=channel)
    task = asyncio.create_task(work)
    if tool == "stall" or dice.random() < 0.1:
        await asyncio.sleep(dice.random() * 0.05)
        task.cancel()
    try:
        await task
    except (UpstreamError, asyncio.CancelledError):
        pass


async def test_no_process_descriptor_or_task_is_left() -> None:
    started, before = Started(), (descriptors(), len(asyncio.all_tasks()))
    dice = random.Random(7)
    async with fake_http(modern()) as http, fake_http(Handshake()) as old:
        pool = Pool(
            [
                fake("old"),
                fake("new", discover="answer"),
                ServerDefinition(name="http", url=http.url),
                ServerDefinition(name="http-old", url=old.url),
            ],
            setup(),
        )
        for _ in range(ROUNDS):
            await asyncio.gather(*(one_call(pool, dice, number) for number in range(AT_ONCE)))
        await pool.close()

    def closed() -> bool:
        """The servers of this test close their ends, too."""
        gc.collect()
        return descriptors() <= before[0]

    await until(closed)
    assert (descriptors(), len(asyncio.all_tasks())) == before
    assert not started.pids
