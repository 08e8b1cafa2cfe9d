"""One child process, run to completion."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import uvloop

from tests.scripting.yard import open_files
from tests.until import WITHIN, until, until_dead, until_exists
from toolyard.processes.ending.exits import Exits, ThreadExits, exits_of
from toolyard.processes.once import Command, Exit, Process

ENV = {b"PATH": os.environb[b"PATH"]}


def bash(body: str, **changes: object) -> Command:
    return Command(["/bin/bash", "-c", body], ENV, **changes)  # type: ignore[arg-type]


def start(command: Command, exits: Exits) -> Process:
    return Process(command, asyncio.get_running_loop(), exits, lambda: None)


async def run(command: Command, exits: Exits) -> Exit:
    process = start(command, exits)
    process.attend()
    return await process.done


@pytest.fixture
async def exits() -> AsyncIterator[Exits]:
    watching = exits_of(asyncio.get_running_loop())
    yield watching
    watching.close()


async def test_what_it_prints_and_how_it_ends_are_known(exits: Exits) -> None:
    assert await run(bash("echo out; echo err >&2; exit 3"), exits) == Exit(
        3, b"out\n", b"err\n", False
    )


async def test_a_signal_that_ends_it_is_told_as_shells_do(exits: Exits) -> None:
    assert (await run(bash("kill -9 $$"), exits)).code == 128 + signal.SIGKILL


@pytest.mark.parametrize("folder", [None, "/"])
async def test_it_starts_in_its_folder(exits: Exits, folder: str | None) -> None:
    ended = await run(bash("pwd", cwd=folder), exits)
    assert ended.stdout.decode().strip() == (folder or os.getcwd())


async def test_it_leads_its_own_session(exits: Exits) -> None:
    ended = await run(bash("ps -o sid= -p $$; echo $$"), exits)
    session, pid = ended.stdout.split()
    assert session == pid


@pytest.mark.parametrize("folder", [None, "/"])
async def test_it_does_not_inherit_what_python_ignores(exits: Exits, folder: str | None) -> None:
    ended = await run(bash("yes | head -1; echo ${PIPESTATUS[0]}", cwd=folder), exits)
    assert ended.stdout == b"y\n%d\n" % (128 + signal.SIGPIPE)


@pytest.mark.parametrize("folder", [None, "/"])
async def test_files_we_have_open_stay_ours(exits: Exits, folder: str | None) -> None:
    reading, writing = os.pipe()
    ended = await run(bash("ls /proc/self/fd | wc -l", cwd=folder), exits)
    os.close(reading)
    os.close(writing)
    assert ended.stdout.strip() == b"4"  # stdin, stdout, stderr and the listing's own


async def test_stdin_is_empty_unless_given(exits: Exits) -> None:
    assert (await run(bash("cat; echo end"), exits)).stdout == b"end\n"


async def test_a_mebibyte_of_stdin_arrives_whole(exits: Exits) -> None:
    given = os.urandom(1 << 20)
    assert (await run(Command(["/bin/cat"], ENV, stdin=given), exits)).stdout == given


async def test_a_child_that_does_not_read_its_stdin_does_no_harm(exits: Exits) -> None:
    ended = await run(bash("exec 0<&-; sleep 0.1; echo done", stdin=b"x" * (1 << 20)), exits)
    assert ended == Exit(0, b"done\n", b"", False)


async def test_much_output_is_read_while_it_runs(exits: Exits) -> None:
    ended = await run(
        bash("head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2; echo end"), exits
    )
    assert len(ended.stdout) == 3_000_004
    assert len(ended.stderr) == 4096


async def test_looking_now_and_then_is_enough_for_much_output(exits: Exits) -> None:
    process = start(bash("head -c 3000000 /dev/zero >&2; seq 400000"), exits)

    def looked() -> bool:
        process.look()
        return process.over

    await until(looked)
    ended = await process.done
    assert (len(ended.stdout), len(ended.stderr)) == (2_688_895, 4096)


async def test_little_output_needs_nobody_who_attends(exits: Exits) -> None:
    ended = await start(bash("head -c 200000 /dev/zero; head -c 60000 /dev/zero >&2"), exits).done
    assert (len(ended.stdout), len(ended.stderr)) == (200_000, 4096)


async def test_of_stderr_the_tail_is_kept(exits: Exits) -> None:
    ended = await run(bash("seq 1 100000 >&2", stderr_tail=13), exits)
    assert ended.stderr == b"99999\n100000\n"


async def test_too_much_output_ends_it(exits: Exits) -> None:
    ended = await run(bash("yes", max_stdout=100_000), exits)
    assert ended.overflowed
    assert ended.code > 128


async def test_a_grandchild_that_holds_stdout_open_does_not_hold_the_call(exits: Exits) -> None:
    async with asyncio.timeout(WITHIN):
        ended = await run(bash("sleep 600 & echo $!"), exits)
    await until_dead(int(ended.stdout))


async def test_an_endless_writer_left_behind_does_not_hold_the_call(exits: Exits) -> None:
    async with asyncio.timeout(WITHIN):
        ended = await run(bash("yes & echo $! >&2", max_stdout=1 << 30), exits)
    await until_dead(int(ended.stderr))


async def test_the_last_words_of_a_process_substitution_are_kept(exits: Exits) -> None:
    ended = await run(bash("exec > >(sed s/in/out/); echo in"), exits)
    assert ended.stdout == b"out\n"


async def test_a_silent_grandchild_is_ended_too(exits: Exits, tmp_path: Path) -> None:
    ended = await run(bash("sleep 60 >/dev/null 2>&1 & echo $!", cwd=str(tmp_path)), exits)
    await until_dead(int(ended.stdout))


async def test_terminate_asks_first(exits: Exits, tmp_path: Path) -> None:
    body = "trap 'echo bye; exit 7' TERM; echo > ready; while :; do sleep 0.01; done"
    process = start(bash(body, cwd=str(tmp_path)), exits)
    await until_exists(tmp_path / "ready")
    process.terminate(5.0)
    ended = await process.done
    assert (ended.code, ended.stdout) == (7, b"bye\n")


async def test_terminate_kills_who_does_not_listen(exits: Exits, tmp_path: Path) -> None:
    body = "trap '' TERM; sleep 60 & echo $! > pid; while :; do sleep 1; done"
    process = start(bash(body, cwd=str(tmp_path)), exits)
    grandchild = int(await until_exists(tmp_path / "pid"))
    process.terminate(0.1)
    assert (await process.done).code == 128 + signal.SIGKILL
    await until_dead(grandchild)


async def test_terminate_closes_stdin_before_the_signal(exits: Exits, tmp_path: Path) -> None:
    body = """trap '' TERM; head -c 1 > one; until [ -e go ]; do sleep 0.01; done; wc -c"""
    process = start(bash(body, cwd=str(tmp_path), stdin=b"x" * (1 << 24)), exits)
    await until_exists(tmp_path / "one")
    process.terminate(5.0)
    (tmp_path / "go").touch()
    ended = await process.done
    assert ended.code == 0
    assert int(ended.stdout) < 1 << 20  # what was in the pipe, and no more


async def test_where_pidfds_are_missing_a_thread_waits(tmp_path: Path) -> None:
    exits = ThreadExits(asyncio.get_running_loop())
    assert await run(bash("echo out; exit 3"), exits) == Exit(3, b"out\n", b"", False)
    process = start(bash("sleep 60 & echo $! > pid; wait", cwd=str(tmp_path)), exits)
    grandchild = int(await until_exists(tmp_path / "pid"))
    process.terminate(1.0)
    await process.done
    await until_dead(grandchild)


async def test_what_cannot_be_started_leaves_no_file_open(exits: Exits) -> None:
    await run(bash("true"), exits)
    before = open_files()
    for folder in (None, "/", "/nowhere"):
        with pytest.raises(OSError, match="No such file"):
            start(Command(["/no/such/program"], ENV, cwd=folder, stdin=b"x"), exits)
    assert open_files() == before


def test_it_runs_on_uvloop() -> None:
    async def both() -> tuple[Exit, Exit]:
        exits = exits_of(asyncio.get_running_loop())
        process = start(bash("sleep 60"), exits)
        process.terminate(1.0)
        ended, stopped = (
            await run(bash("cat; echo err >&2", stdin=b"in"), exits),
            await process.done,
        )
        exits.close()
        return ended, stopped

    ended, stopped = uvloop.run(both())
    assert ended == Exit(0, b"in", b"err\n", False)
    assert stopped.code == 128 + signal.SIGTERM
