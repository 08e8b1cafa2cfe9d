"""A session lives in one worker; whatever worker a request comes to, it is answered there."""

from __future__ import annotations

import asyncio
import itertools
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
from tests.until import until, until_exists
from tests.workers.doors import doors, in_turn, workers_of
from tests.workers.yard import NEW, TOOLS, crewed, place_of, project, worker_at

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
    async with crewed(folder) as server, doors(server) as urls:
        assert [await worker_at(url) for url in urls.values()] == list(urls)
        for home in urls:
            async with over_http(urls[home], revision) as client:
                for url in urls.values():
                    client.url = url
                    assert text(await client.call("who")) == str(home)


async def test_progress_and_questions_pass_both_ways(folder: Path) -> None:
    manner: dict[str, Any] = {"capabilities": EVERYTHING, "answers": YES}
    async with (
        crewed(folder) as server,
        in_turn(server) as url,
        over_http(url, "2025-11-25", **manner) as client,
    ):
        for number in range(4):  # three connections each: begun by one worker, then by the other
            await client.call("steps", meta={"progressToken": number})
            steps = [one["params"] for one in client.notifications if "progress" in one["method"]]
            assert [step["progress"] for step in steps if step["progressToken"] == number] == [
                *(1, 2, 3)
            ]
            assert '"accept"' in text(await client.call("ask"))


async def test_a_parked_call_is_resumed_through_any_worker(folder: Path) -> None:
    manner: dict[str, Any] = {"capabilities": EVERYTHING, "answers": YES}
    async with crewed(folder) as server, doors(server) as urls:
        for parked, resumed in (list(urls.values()), list(urls.values())[::-1]):
            async with over_http(parked, NEW, **manner) as client:
                asked = await client.result("tools/call", {"name": "ask", "arguments": {}})
                client.url = resumed
                again = {
                    "name": "ask",
                    "arguments": {},
                    "inputResponses": client.responses_to(asked),
                    "requestState": asked["requestState"],
                }
                assert '"accept"' in text(await client.result("tools/call", again))


async def test_a_call_is_cancelled_through_any_worker(folder: Path) -> None:
    async with (
        crewed(folder) as server,
        doors(server) as urls,
        over_http(server.url, "2025-11-25") as client,
    ):
        for called, cancelled in itertools.product(urls.values(), repeat=2):
            client.url = called
            began = place_of(folder, "held") / "began"
            held = client.message("tools/call", {"name": "held"}, id=f"{called} {cancelled}")
            posting = asyncio.create_task(client.post(held))
            await until_exists(began)
            client.url = cancelled
            await client.notify("notifications/cancelled", {"requestId": held["id"]})
            posted = await posting
            assert posted.messages == []
            began.unlink()


async def test_a_stream_is_opened_resumed_and_deleted_through_any_worker(folder: Path) -> None:
    async with crewed(folder) as server, doors(server) as urls:
        one, other = urls.values()
        for opened, used in ((one, one), (one, other), (other, one)):
            async with over_http(opened, "2025-11-25") as client:
                client.url = used
                await client.open_get()
                await client.result("tools/list")
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
    async with (
        crewed(folder) as server,
        in_turn(server) as url,
        over_sse(url.replace("/mcp", "/sse")) as client,
    ):
        assert len({text(await client.call("who")) for _ in range(4)}) == 1


async def test_a_forged_session_and_another_callers_are_not_found(folder: Path) -> None:
    async with (
        crewed(folder) as server,
        in_turn(server) as url,
        over_http(url, "2025-11-25") as client,
    ):
        session = client.session or ""
        for forged in ("x", session[:-2], session[::-1], "A" * len(session)):
            for _ in range(2):  # once at each worker
                posted = await client.post(client.message("ping"), {"Mcp-Session-Id": forged})
                assert posted.status == 404, forged


async def test_a_session_whose_worker_died_is_not_found_and_the_others_go_on(folder: Path) -> None:
    async with crewed(folder) as server, doors(server) as urls:
        clients = {pid: HttpClient(url, "2025-11-25") for pid, url in urls.items()}
        for client in clients.values():
            await client.start()
            client.url = server.url
        victim = min(clients)
        os.kill(victim, signal.SIGKILL)
        await until(lambda: victim not in workers_of(server))
        for home, client in clients.items():
            posted = await until(partial(answered, client))
            assert posted.status == (404 if home == victim else 200)


async def answered(client: HttpClient) -> Any:
    """A connection that came to the worker just as it died is nobody's."""
    try:
        return await client.post(client.message("ping"))
    except (ConnectionError, asyncio.IncompleteReadError, IndexError, ValueError):
        return None


async def test_a_call_whose_worker_dies_is_said_to_have_run_perhaps(folder: Path) -> None:
    async with crewed(folder) as server, doors(server) as urls:
        (home, at_home), (_, elsewhere) = urls.items()
        client = HttpClient(at_home, "2025-11-25")
        await client.start()
        client.url = elsewhere
        calling = asyncio.create_task(client.post(client.message("tools/call", {"name": "held"})))
        await until_exists(place_of(folder, "held") / "began")
        os.kill(home, signal.SIGKILL)
        posted = await calling
        assert "may have run" in posted.messages[0]["error"]["message"]


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
