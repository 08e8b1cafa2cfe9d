"""One child process, run to completion."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest
import uvloop

from tests.runners.yard import open_files, until_dead, until_exists
from toolyard.runners.exits import ThreadExit, WatchExit, watch_exit
from toolyard.runners.process import Exit, Process
from toolyard.runners.spawn import Command

ENV = {b"PATH": os.environb[b"PATH"]}


def bash(body: str, **changes: object) -> Command:
    return Command(["/bin/bash", "-c", body], ENV, **changes)  # type: ignore[arg-type]


def start(command: Command, watch: WatchExit = watch_exit) -> Process:
    return Process(command, asyncio.get_running_loop(), lambda: None, watch)


async def run(command: Command, watch: WatchExit = watch_exit) -> Exit:
    process = start(command, watch)
    process.attend()
    return await process.done


async def test_what_it_prints_and_how_it_ends_are_known() -> None:
    assert await run(bash("echo out; echo err >&2; exit 3")) == Exit(3, b"out\n", b"err\n", False)


async def test_a_signal_that_ends_it_is_told_as_shells_do() -> None:
    assert (await run(bash("kill -9 $$"))).code == 128 + signal.SIGKILL


@pytest.mark.parametrize("folder", [None, "/"])
async def test_it_starts_in_its_folder(folder: str | None) -> None:
    ended = await run(bash("pwd", cwd=folder))
    assert ended.stdout.decode().strip() == (folder or os.getcwd())


async def test_it_leads_its_own_session() -> None:
    ended = await run(bash("ps -o sid= -p $$; echo $$"))
    session, pid = ended.stdout.split()
    assert session == pid


@pytest.mark.parametrize("folder", [None, "/"])
async def test_it_does_not_inherit_what_python_ignores(folder: str | None) -> None:
    ended = await run(bash("yes | head -1; echo ${PIPESTATUS[0]}", cwd=folder))
    assert ended.stdout == b"y\n%d\n" % (128 + signal.SIGPIPE)


@pytest.mark.parametrize("folder", [None, "/"])
async def test_files_we_have_open_stay_ours(folder: str | None) -> None:
    reading, writing = os.pipe()
    ended = await run(bash("ls /proc/self/fd | wc -l", cwd=folder))
    os.close(reading)
    os.close(writing)
    assert ended.stdout.strip() == b"4"  # stdin, stdout, stderr and the listing's own


async def test_stdin_is_empty_unless_given() -> None:
    assert (await run(bash("cat; echo end"))).stdout == b"end\n"


async def test_a_mebibyte_of_stdin_arrives_whole() -> None:
    given = os.urandom(1 << 20)
    assert (await run(Command(["/bin/cat"], ENV, stdin=given))).stdout == given


async def test_a_child_that_does_not_read_its_stdin_does_no_harm() -> None:
    ended = await run(bash("exec 0<&-; sleep 0.1; echo done", stdin=b"x" * (1 << 20)))
    assert ended == Exit(0, b"done\n", b"", False)


async def test_much_output_is_read_while_it_runs() -> None:
    ended = await run(bash("head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2; echo end"))
    assert len(ended.stdout) == 3_000_004
    assert len(ended.stderr) == 4096


async def test_little_output_needs_nobody_who_attends() -> None:
    ended = await start(bash("head -c 200000 /dev/zero; head -c 60000 /dev/zero >&2")).done
    assert (len(ended.stdout), len(ended.stderr)) == (200_000, 4096)


async def test_of_stderr_the_tail_is_kept() -> None:
    ended = await run(bash("seq 1 100000 >&2", stderr_tail=13))
    assert ended.stderr == b"99999\n100000\n"


async def test_too_much_output_ends_it() -> None:
    ended = await run(bash("yes", max_stdout=100_000))
    assert ended.overflowed
    assert ended.code > 128


async def test_a_grandchild_that_holds_stdout_open_does_not_hold_the_call() -> None:
    async with asyncio.timeout(5):
        ended = await run(bash("sleep 60 & echo $!"))
    await until_dead(int(ended.stdout))


async def test_an_endless_writer_left_behind_does_not_hold_the_call() -> None:
    async with asyncio.timeout(5):
        ended = await run(bash("yes & echo $! >&2", max_stdout=1 << 30))
    await until_dead(int(ended.stderr))


async def test_the_last_words_of_a_process_substitution_are_kept() -> None:
    ended = await run(bash("exec > >(sed s/in/out/); echo in"))
    assert ended.stdout == b"out\n"


async def test_a_silent_grandchild_is_ended_too(tmp_path: Path) -> None:
    ended = await run(bash("sleep 60 >/dev/null 2>&1 & echo $!", cwd=str(tmp_path)))
    await until_dead(int(ended.stdout))


async def test_terminate_asks_first(tmp_path: Path) -> None:
    body = "trap 'echo bye; exit 7' TERM; echo > ready; while :; do sleep 0.01; done"
    process = start(bash(body, cwd=str(tmp_path)))
    await until_exists(tmp_path / "ready")
    process.terminate(5.0)
    ended = await process.done
    assert (ended.code, ended.stdout) == (7, b"bye\n")


async def test_terminate_kills_who_does_not_listen(tmp_path: Path) -> None:
    process = start(
        bash("trap '' TERM; sleep 60 & echo $! > pid; while :; do sleep 1; done", cwd=str(tmp_path))
    )
    grandchild = int(await until_exists(tmp_path / "pid"))
    process.terminate(0.1)
    assert (await process.done).code == 128 + signal.SIGKILL
    await until_dead(grandchild)


async def test_terminate_closes_stdin_before_the_signal(tmp_path: Path) -> None:
    body = """trap '' TERM; head -c 1 > one; until [ -e go ]; do sleep 0.01; done; wc -c"""
    process = start(bash(body, cwd=str(tmp_path), stdin=b"x" * (1 << 24)))
    await until_exists(tmp_path / "one")
    process.terminate(5.0)
    (tmp_path / "go").touch()
    ended = await process.done
    assert ended.code == 0
    assert int(ended.stdout) < 1 << 20  # what was in the pipe, and no more


async def test_where_pidfds_are_missing_a_thread_waits(tmp_path: Path) -> None:
    assert await run(bash("echo out; exit 3"), ThreadExit) == Exit(3, b"out\n", b"", False)
    process = start(bash("sleep 60 & echo $! > pid; wait", cwd=str(tmp_path)), ThreadExit)
    grandchild = int(await until_exists(tmp_path / "pid"))
    process.terminate(1.0)
    await process.done
    await until_dead(grandchild)


async def test_what_cannot_be_started_leaves_no_file_open() -> None:
    await run(bash("true"))
    before = open_files()
    for folder in (None, "/", "/nowhere"):
        with pytest.raises(OSError, match="No such file"):
            start(Command(["/no/such/program"], ENV, cwd=folder, stdin=b"x"))
    assert open_files() == before


def test_it_runs_on_uvloop() -> None:
    async def both() -> tuple[Exit, Exit]:
        stopped = start(bash("sleep 60"))
        stopped.terminate(1.0)
        return await run(bash("cat; echo err >&2", stdin=b"in")), await stopped.done

    ended, stopped = uvloop.run(both())
    assert ended == Exit(0, b"in", b"err\n", False)
    assert stopped.code == 128 + signal.SIGTERM
