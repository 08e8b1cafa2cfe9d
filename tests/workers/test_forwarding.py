"""A session lives in one worker; whatever worker a request comes to, it is answered there."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import tempfile
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.peers.raw import EVERYTHING
from tests.peers.raw_http import HttpClient, over_http, over_sse
from tests.peers.serving import Listening
from tests.until import until, until_exists
from tests.workers.yard import NEW, TOOLS, crewed, place_of, project, who, workers_of

HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
SDK = '. "$MCP_SDK/tool-sdk.sh"\n'
MORE = {
    **TOOLS,
    "steps": f'{SDK}for i in 1 2 3; do mcp_progress "$i" "step $i" 3; done; echo $PPID',
    "ask": f"{SDK}mcp_elicit_confirm 'Really?'",
}
YES = {"elicitation/create": {"action": "accept", "content": {"confirmed": True}}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return project(tmp_path / "yard", MORE)


def text(result: dict[str, Any]) -> str:
    said: str = result["content"][0]["text"]
    return said


@pytest.mark.parametrize("revision", HANDSHAKE)
async def test_every_request_of_a_session_is_answered_by_the_worker_that_has_it(
    folder: Path, revision: str
) -> None:
    async with crewed(folder) as server, over_http(server.url, revision) as client:
        homes = {text(await client.call("who")) for _ in range(8)}
        assert len(homes) == 1
        assert {await who(server) for _ in range(8)} > {int(home) for home in homes}


async def test_progress_and_questions_pass_both_ways(folder: Path) -> None:
    manner: dict[str, Any] = {"capabilities": EVERYTHING, "answers": YES}
    async with crewed(folder) as server, over_http(server.url, "2025-11-25", **manner) as client:
        for number in range(4):  # each connection comes to another worker
            await client.call("steps", meta={"progressToken": number})
            steps = [one["params"] for one in client.notifications if "progress" in one["method"]]
            assert [step["progress"] for step in steps if step["progressToken"] == number] == [
                *(1, 2, 3)
            ]
            assert '"accept"' in text(await client.call("ask"))


async def test_a_parked_call_is_resumed_through_any_worker(folder: Path) -> None:
    manner: dict[str, Any] = {"capabilities": EVERYTHING, "answers": YES}
    async with crewed(folder) as server, over_http(server.url, NEW, **manner) as client:
        for _ in range(4):
            assert '"accept"' in text(await client.call("ask"))


async def test_a_call_is_cancelled_through_any_worker(folder: Path) -> None:
    async with crewed(folder) as server, over_http(server.url, "2025-11-25") as client:
        for number in range(4):
            began = place_of(folder, "held") / "began"
            held = client.message("tools/call", {"name": "held"}, id=f"held {number}")
            posting = asyncio.create_task(client.post(held))
            await until_exists(began)
            await client.notify("notifications/cancelled", {"requestId": held["id"]})
            posted = await posting
            assert posted.messages == []
            began.unlink()


async def test_a_stream_is_opened_resumed_and_deleted_through_any_worker(folder: Path) -> None:
    async with crewed(folder) as server:
        for _ in range(3):
            async with over_http(server.url, "2025-11-25") as client:
                await client.open_get()
                home = folder / "tools" / f"new-{client.session}"
                add_tool(folder, home.name)
                await client.notification("notifications/tools/list_changed")
                assert await client.delete() == 204
                await until(partial(is_over, client))


async def is_over(client: HttpClient) -> bool:
    return (await client.post(client.message("ping"))).status == 404


def add_tool(folder: Path, name: str) -> None:
    project(folder.parent / name, {name: "true"})
    (folder.parent / name / "tools" / name).rename(folder / "tools" / name)


async def test_the_older_pair_posts_to_any_worker(folder: Path) -> None:
    async with crewed(folder) as server, over_sse(f"{server.origin}/sse") as client:
        assert len({text(await client.call("who")) for _ in range(8)}) == 1


async def test_a_forged_session_and_another_callers_are_not_found(folder: Path) -> None:
    async with crewed(folder) as server, over_http(server.url, "2025-11-25") as client:
        session = client.session or ""
        for forged in ("x", session[:-2], session[::-1], "A" * len(session)):
            posted = await client.post(client.message("ping"), {"Mcp-Session-Id": forged})
            assert posted.status == 404, forged


async def test_a_session_whose_worker_died_is_not_found_and_the_others_go_on(folder: Path) -> None:
    async with crewed(folder) as server:
        clients = [HttpClient(server.url, "2025-11-25") for _ in range(6)]
        homes = {}
        for client in clients:
            await client.start()
            homes[client] = int(text(await client.call("who")))
        victim = homes[clients[0]]
        os.kill(victim, signal.SIGKILL)
        await until(lambda: victim not in workers_of(server))
        for client, home in homes.items():
            posted = await until(partial(answered, client))
            assert posted.status == (404 if home == victim else 200)


async def answered(client: HttpClient) -> Any:
    """A connection that came to the worker just as it died is nobody's."""
    try:
        return await client.post(client.message("ping"))
    except (ConnectionError, asyncio.IncompleteReadError, IndexError, ValueError):
        return None


async def test_a_call_whose_worker_dies_is_said_to_have_run_perhaps(folder: Path) -> None:
    async with crewed(folder) as server, over_http(server.url, "2025-11-25") as client:
        home = int(text(await client.call("who")))
        calling = [await through_another(client, server, home, folder)]
        os.kill(home, signal.SIGKILL)
        (posted,) = await asyncio.gather(*calling)
        assert "may have run" in posted.messages[0]["error"]["message"]
        client.session = None


async def through_another(
    client: HttpClient, server: Listening, home: int, folder: Path
) -> asyncio.Task[Any]:
    """A call that runs at home, and whose connection is another worker's."""
    began = place_of(folder, "held") / "began"
    (other,) = workers_of(server) - {home}
    before = sockets_in_use(other)
    while True:
        calling = asyncio.create_task(client.post(client.message("tools/call", {"name": "held"})))
        await until_exists(began)
        if sockets_in_use(other) > before:
            return calling
        await client.notify("notifications/cancelled", {"requestId": client._next_id})
        await calling
        began.unlink()


def sockets_in_use(pid: int) -> int:
    return sum(
        os.readlink(f"/proc/{pid}/fd/{fd}").startswith("socket:")
        for fd in os.listdir(f"/proc/{pid}/fd")
    )


async def test_a_peer_socket_answers_nothing_to_whoever_has_no_key(
    folder: Path,
) -> None:
    # Short: the path of a socket may have some hundred characters.
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        await _knock(folder, Path(name))


async def _knock(folder: Path, place: Path) -> None:
    async with crewed(folder, env={"TMPDIR": str(place)}):
        (crew,) = place.glob("toolyard-workers-*")
        assert crew.stat().st_mode & 0o777 == 0o700
        for path in crew.iterdir():
            with socket.socket(socket.AF_UNIX) as stranger:
                stranger.settimeout(10)
                stranger.connect(str(path))
                stranger.sendall(b"GET /alive HTTP/1.1\r\nhost: peer\r\n\r\n" + b"x" * 64)
                said = stranger.recv(100)
                assert not re.search(rb"HTTP", said)
                with suppress(ConnectionResetError):
                    assert stranger.recv(100) == b""
