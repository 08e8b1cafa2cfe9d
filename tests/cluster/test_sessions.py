"""A session is opened on one replica and used on all of them, and outlives the one it was on."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.yard import YES, Replicas, replica, replicas, text, yard
from tests.peers.nginx import needs_nginx
from tests.peers.raw import EVERYTHING
from tests.peers.raw_http import over_http
from tests.peers.redis import needs_redis, redis_server
from tests.until import until, until_exists

pytestmark = [needs_redis, needs_nginx]
HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
NOW = "2025-11-25"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return yard(tmp_path / "yard")


async def killed(both: Replicas, pid: int) -> None:
    """And its port is closed: what still gets in would be reset."""
    os.kill(pid, signal.SIGKILL)
    (server,) = [server for server in both.servers if server.process.pid == pid]
    place = server.origin.removeprefix("http://").split(":")
    await until(lambda: is_closed(place[0], int(place[1])))


def is_closed(host: str, port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((host, port)) != 0


@pytest.mark.parametrize("revision", HANDSHAKE)
async def test_requests_round_robin_are_all_answered_by_the_owner(
    folder: Path, revision: str
) -> None:
    async with replicas(folder) as both, over_http(both.url, revision) as client:
        assert len({text(await client.call("who")) for _ in range(6)}) == 1


async def test_questions_progress_and_parked_calls_pass_between_replicas(folder: Path) -> None:
    manner: dict[str, Any] = {"capabilities": EVERYTHING, "answers": YES}
    async with replicas(folder) as both:
        for revision in (NOW, "2026-07-28"):
            async with over_http(both.url, revision, **manner) as client:
                for number in range(3):
                    assert '"accept"' in text(await client.call("ask"))
                    await client.call("steps", meta={"progressToken": number})
                said = [one for one in client.notifications if "progress" in one["method"]]
                assert len(said) == 9


async def test_a_session_goes_on_within_two_seconds_after_its_replica_was_killed(
    folder: Path,
) -> None:
    """One of three times: what else the machine does may come in between."""
    for _ in range(3):
        if await seconds_to_go_on(folder) < 2.0:
            return
    pytest.fail("it never took less than two seconds")


async def seconds_to_go_on(folder: Path) -> float:
    async with replicas(folder) as both, over_http(both.url, NOW) as client:
        home = int(text(await client.call("who")))
        await client.result("logging/setLevel", {"level": "error"})
        uri = (await client.result("resources/list"))["resources"][0]["uri"]
        await client.result("resources/subscribe", {"uri": uri})
        await killed(both, home)
        began = time.monotonic()
        other = int(text(await client.call("who")))
        assert other != home
        took = time.monotonic() - began
        await client.open_get()
        await client.notification("notifications/tools/list_changed")
        notes = folder / "resources" / "notes" / "notes.txt"
        notes.write_text(notes.read_text() + "two\n")
        await client.notification("notifications/resources/updated")
        return took


async def test_a_call_that_ran_on_a_killed_replica_fails_once_and_is_not_run_again(
    folder: Path,
) -> None:
    async with replicas(folder) as both, over_http(both.url, NOW) as client:
        home = int(text(await client.call("who")))
        calling = asyncio.gather(
            *(client.post(client.message("tools/call", {"name": "held"})) for _ in range(2)),
            return_exceptions=True,
        )
        await until_exists(folder / "tools" / "held" / "began")
        await killed(both, home)
        through_owner, through_other = await calling
        outcomes = [
            one for one in (through_owner, through_other) if not isinstance(one, BaseException)
        ]
        assert any("may have run" in str(one.messages) for one in outcomes)
        assert text(await client.call("who")) != str(home)


async def test_a_replica_that_has_just_come_is_reached_at_once(folder: Path) -> None:
    """Its name comes in a requestState before anybody has read that it is there."""
    manner: dict[str, Any] = {"capabilities": EVERYTHING, "answers": YES}
    with redis_server() as redis:
        async with (
            replica(folder, redis) as old,
            replica(folder, redis) as new,
            over_http(new.url, "2026-07-28", **manner) as client,
        ):
            asked = await client.result("tools/call", {"name": "ask", "arguments": {}})
            client.url = old.url
            again = {
                "name": "ask",
                "arguments": {},
                "inputResponses": client.responses_to(asked),
                "requestState": asked["requestState"],
            }
            assert '"accept"' in text(await client.result("tools/call", again))
