"""Several workers behind one address: who takes a connection, crashes, signals, the end."""

from __future__ import annotations

import asyncio
import os
import signal
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.peers.http1 import fetch
from tests.peers.raw_http import over_http
from tests.peers.serving import Listening, serving, start, toolyard
from tests.processes import alive
from tests.until import until, until_dead, until_exists
from tests.workers.doors import workers_of
from tests.workers.yard import NEW, crewed, group_of, place_of, project, who


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return project(tmp_path / "yard")


async def test_connections_are_dealt_out_evenly_whether_they_stay_or_not(folder: Path) -> None:
    """Ten of twenty, where nothing else keeps the machine busy; where it does, now and then.

    `tests/workers/test_turnstile.py` has it without any other process that could interfere.
    """
    async with crewed(folder) as server:
        await until(lambda: short_ones_are_shared(server))
        await until(lambda: lasting_ones_are_shared(server))


async def short_ones_are_shared(server: Listening) -> bool:
    dealt = Counter([await who(server) for _ in range(20)])
    return all(dealt[pid] >= 5 for pid in workers_of(server))


async def lasting_ones_are_shared(server: Listening) -> bool:
    before = {pid: sockets_of(pid) for pid in workers_of(server)}
    async with AsyncExitStack() as open_ones:
        for _ in range(20):
            await open_ones.enter_async_context(connected(server))
        return all(sockets_of(pid) - count >= 5 for pid, count in before.items())


def connected(server: Listening) -> Connected:
    host, port = server.origin.removeprefix("http://").split(":")
    return Connected(host, int(port))


class Connected:
    """A connection that is known to have been accepted, and stays."""

    def __init__(self, host: str, port: int) -> None:
        self._place = host, port

    async def __aenter__(self) -> None:
        reader, self._writer = await asyncio.open_connection(*self._place)
        self._writer.write(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n")
        await reader.readuntil(b"ok\n")

    async def __aexit__(self, *_: object) -> None:
        self._writer.close()


def sockets_of(pid: int) -> int:
    links = [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")]
    return sum(link.startswith("socket:") for link in links)


async def test_a_worker_that_crashes_is_started_again_after_pauses_that_grow(folder: Path) -> None:
    async with crewed(folder) as server:
        victim, other = workers_of(server)
        for pause in ("0.1", "0.2", "0.4"):
            seen = len(server.stderr)
            os.kill(victim, signal.SIGKILL)
            await server.says(rf"ended with signal 9: it is started again in {pause} s", seen)
            victim = await successor(server, {other, victim})
        await until(lambda: served_by(server, other))
        await until(lambda: served_by(server, victim))


async def successor(server: Listening, known: set[int]) -> int:
    (pid,) = await until(lambda: workers_of(server) - known)
    return pid


async def served_by(server: Listening, pid: int) -> bool:
    return await who(server) == pid


async def test_a_term_lets_calls_finish_and_leaves_no_process(folder: Path) -> None:
    async with crewed(folder) as server:
        held = place_of(folder, "held")
        async with over_http(server.url, NEW, start=False) as client:
            calling = asyncio.create_task(client.call("held"))
            runs = int(await until_exists(held / "began"))
            (idle,) = workers_of(server) - {runs}
            server.process.send_signal(signal.SIGTERM)
            await until_dead(idle)
            assert alive(runs), "the worker with a running call went first"
            await until(lambda: refuses(server))
            (held / "go").touch()
            assert (await calling)["content"][0]["text"] == str(runs)
        assert await server.process.wait() == 0
        assert group_of(server.process.pid) == set()


async def refuses(server: Listening) -> bool:
    try:
        async with fetch("GET", f"{server.origin}/healthz", {}):
            return False
    except ConnectionRefusedError:
        return True
    except (ConnectionError, EOFError):
        return False  # it was waiting to be accepted when the last listener went


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 0), (signal.SIGTERM, 0), (signal.SIGHUP, 129)]
)
async def test_a_signal_ends_all_of_them(folder: Path, number: signal.Signals, code: int) -> None:
    async with crewed(folder) as server:
        server.process.send_signal(number)
        assert await server.process.wait() == code
        assert group_of(server.process.pid) == set()


async def test_workers_leave_when_their_supervisor_is_killed(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    async with crewed(folder, env={"TMPDIR": str(tmp_path / "tmp")}) as server:
        workers = workers_of(server)
        server.process.kill()
        for pid in workers:
            await until_dead(pid)


async def test_what_is_wrong_is_said_once_and_ends_everything(folder: Path) -> None:
    command = toolyard("serve", folder, "--http", "0.0.0.0:0", "--workers", "3")
    process = await start(command, None, None, asyncio.subprocess.PIPE)
    _, errors = await process.communicate()
    assert process.returncode == 2
    assert errors.decode().count("without authentication") == 1


async def test_a_wrong_number_of_workers_is_refused(folder: Path) -> None:
    for flags, wrong in (
        (["--http", "0", "--workers", "0"], "expected 1 to 64, or auto"),
        (["--http", "0", "--workers", "many"], "expected 1 to 64, or auto"),
        (["--workers", "2"], "--workers: a stdio server has one client"),
    ):
        process = await start(
            toolyard("serve", folder, *flags), None, None, asyncio.subprocess.PIPE
        )
        _, errors = await process.communicate()
        assert process.returncode == 2
        assert wrong in errors.decode()


async def test_the_supervisor_carries_no_server_around(folder: Path) -> None:
    async with crewed(folder) as server:
        loaded = Path(f"/proc/{server.process.pid}/maps").read_text()
        assert "uvloop" not in loaded
        assert "httptools" not in loaded
        assert "_asyncio" not in loaded


async def test_one_worker_is_served_without_a_supervisor(folder: Path) -> None:
    async with serving(folder, "--workers", "1") as server:
        assert await who(server) == server.process.pid
        assert "uvloop" in Path(f"/proc/{server.process.pid}/maps").read_text()
