"""Nothing outlives its call or the server: no process, no open file, no temporary file."""

from __future__ import annotations

import asyncio
import os
import random
import resource
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.processes import Started, alive
from tests.scripting.conftest import MakeYard
from tests.scripting.yard import (
    Yard,
    calling,
    open_files,
    run,
    text_of,
)
from tests.until import until, until_dead, until_exists
from toolyard.errors import ToolError

pytestmark = pytest.mark.long

SERVER = """
import asyncio, sys
from pathlib import Path
from tests.scripting.yard import make_yard, run

async def main():
    yard = make_yard(Path(sys.argv[1]))
    tool = yard.bash("stay.sh", sys.argv[2])
    await run(tool)

asyncio.run(main())
"""
STAY = """
echo $$ > leader
sleep 600 & echo $! > grandchild
bash -c 'trap "" TERM; echo $$ > deaf; while :; do sleep 1; done' &
setsid bash -c 'echo $$ > escaped; sleep 600' > /dev/null 2>&1 &
env -i /bin/bash -c 'echo $$ > bare; /bin/sleep 600' &
wait
"""
NAMES = ("leader", "grandchild", "deaf", "escaped", "bare")


def serve(root: Path, body: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", SERVER, str(root), body]
    return subprocess.Popen(command, cwd=Path(__file__).parents[2])


async def pids_in(root: Path) -> list[int]:
    return [int(await until_exists(root / name)) for name in NAMES]


async def until_empty(folder: Path) -> None:
    await until(lambda: not list(folder.iterdir()))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
async def test_a_killed_server_leaves_neither_process_nor_file(tmp_path: Path, number: int) -> None:
    root = tmp_path.resolve()
    server = serve(root, STAY)
    pids = await pids_in(root)
    (run_folder,) = (root / "tmp").iterdir()
    assert run_folder.stat().st_mode & 0o777 == 0o700
    server.send_signal(number)
    server.wait()
    for pid in pids:
        await until_dead(pid)
    await until_empty(root / "tmp")
    assert not watchers_of(run_folder)


def watchers_of(run_folder: Path) -> list[str]:
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    return [line for line in listed.stdout.splitlines() if str(run_folder) in line]


def prepared_for(pid: int, numbers: Iterable[signal.Signals]) -> bool:
    """Does the process ignore or catch these signals? A shell takes a moment to say so."""
    status = dict(
        line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines()
    )
    mask = int(status["SigIgn"], 16) | int(status["SigCgt"], 16)
    return all(mask >> (number - 1) & 1 for number in numbers)


async def test_the_watcher_cannot_be_ended_by_a_signal_to_the_terminal(yard: Yard) -> None:
    await run(yard.bash("a.sh", "echo a"))
    pid = yard.runner.open().watcher.pid
    assert os.getsid(pid) == pid
    numbers = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
    await until(lambda: prepared_for(pid, numbers))
    for number in numbers:
        os.kill(pid, number)
    await asyncio.sleep(0.05)
    assert alive(pid)


async def test_a_watcher_that_was_killed_is_replaced(yard: Yard) -> None:
    await run(yard.bash("a.sh", "echo a"))
    watcher = yard.runner.open().watcher
    first = watcher.pid
    os.kill(first, signal.SIGKILL)
    await until(lambda: watcher.pid != first)
    assert alive(watcher.pid)


ESCAPE = """setsid sh -c 'echo $$ > {0}; exec sleep 600' > /dev/null 2>&1 &
    until [ -s {0} ]; do sleep 0.01; done; cat {0}"""


async def test_who_left_its_group_ends_with_its_call(yard: Yard) -> None:
    pid = int(text_of(await run(yard.bash("escape.sh", ESCAPE.format("escaped")))))
    await until_dead(pid)


async def test_who_left_its_group_is_left_alone_while_its_call_runs(yard: Yard) -> None:
    """Also when it has no parent any more, and other calls end meanwhile."""
    stay = f"({ESCAPE.format('staying')}); until [ -e end ]; do sleep 0.02; done; echo over"
    call = asyncio.create_task(run(yard.bash("stay.sh", stay)))
    staying = int(await until_exists(yard.root / "staying"))
    other = yard.bash("other.sh", ESCAPE.format("other"))
    for _ in range(2):
        await until_dead(int(text_of(await run(other)).splitlines()[-1]))
        (yard.root / "other").unlink()
        assert alive(staying)
    (yard.root / "end").touch()
    assert text_of(await call).endswith("over")
    await until_dead(staying)


async def test_whom_an_escaped_process_has_started_ends_too(yard: Yard) -> None:
    body = """setsid bash -c 'setsid sleep 600 & echo $! > second; echo $$ > first; wait' \
        > /dev/null 2>&1 &
    until [ -s first ]; do sleep 0.01; done"""
    await run(yard.bash("escape.sh", body))
    for name in ("first", "second"):
        await until_dead(int(await until_exists(yard.root / name)))


async def test_who_left_its_group_ends_with_the_server(yard: Yard) -> None:
    pid = int(text_of(await run(yard.bash("escape.sh", ESCAPE.format("escaped")))))
    await yard.runner.close()
    await until_dead(pid)


async def test_a_closed_runner_leaves_no_child(yard: Yard) -> None:
    started = Started()
    await run(yard.bash("a.sh", "echo a"))
    assert len(started.pids) == 1  # the watcher
    await yard.runner.close()
    assert not started.pids


async def test_three_hundred_calls_leave_nothing(a_yard: MakeYard) -> None:
    yard = a_yard(kill_grace=0.05)
    quick = yard.bash("quick.sh", "sleep 600 & echo quick")
    slow = yard.bash("slow.sh", "sleep 600 & sleep 600 > /dev/null & wait")
    await run(quick)
    folder = yard.run_folders[0]
    started, files, before = Started(), open_files(), len(list(folder.iterdir()))

    async def one(kind: int) -> None:
        if kind == 0:
            assert text_of(await run(quick)) == "quick"
        elif kind == 1:
            assert (await run(slow, call=calling(params={"timeoutSecs": 0.1})))["isError"]
        else:
            task = asyncio.create_task(run(slow))
            await asyncio.sleep(random.random() * 0.1)
            task.cancel()

    for start in range(0, 300, 30):
        await asyncio.gather(*(one(number % 3) for number in range(start, start + 30)))
    await yard.runner.open().until_idle(10)
    groups = (folder / "groups").read_text().split()
    assert groups == []
    assert not started.pids
    pooled = len(list(folder.iterdir())) - before
    assert open_files() == files + pooled  # one FIFO each, kept for the next calls
    assert pooled <= 64


def fill_up(free: int) -> Iterator[None]:
    """As many descriptors as can still be opened, and no more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    used = {int(name) for name in os.listdir("/proc/self/fd")}
    limit = next(n for n in range(3, soft) if len(set(range(n)) - used) == free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize("free", range(12))
async def test_a_start_that_fails_for_want_of_descriptors_leaves_nothing(
    a_yard: MakeYard, free: int
) -> None:
    yard = a_yard(max_concurrent=2, kill_grace=0.05)
    tool = yard.bash("a.sh", "cat", stdin="arguments")
    shared = yard.runner.open()
    started, before = Started(), open_files()
    folder = len(list(yard.run_folders[0].iterdir()))
    with contextmanager(fill_up)(free):
        for _ in range(4):  # more than there are places at the gate
            with suppress(ToolError):
                await run(tool)
                break
    await shared.until_idle(5)
    shared.pool.close()
    assert (open_files(), started.pids) == (before, set())
    assert len(list(yard.run_folders[0].iterdir())) == folder
    assert text_of(await run(tool, {"n": 1})) == '{"n":1}'


@pytest.mark.parametrize("free", range(8))
async def test_a_first_start_that_fails_for_want_of_descriptors_leaves_nothing(
    a_yard: MakeYard, free: int
) -> None:
    yard = a_yard()
    tool = yard.bash("a.sh", "echo ran")
    before = open_files()
    with contextmanager(fill_up)(free), suppress(ToolError):
        yard.runner.open()
    if not yard.run_folders:
        assert open_files() == before
    assert text_of(await run(tool)) == "ran"
