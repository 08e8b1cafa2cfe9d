"""What an upstream may do wrong: a clear error, nothing run twice, nothing left, and recovery."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.processes import Started, alive_in
from tests.until import until
from tests.upstreams.conftest import MakePool
from tests.upstreams.seam import (
    QUICK,
    ClientSession,
    RecordingChannel,
    call_tool,
    fake,
    methods_sent,
    modern_call,
    session_call,
)
from toolyard.errors import UpstreamError
from toolyard.upstreams.definition import ServerDefinition
from toolyard.upstreams.pool import Pool

pytestmark = pytest.mark.long


async def went_down(pool: Pool, work: object) -> None:
    """Do something that ends the upstream, and wait until the pool knows."""
    changed = asyncio.Event()
    pool.on_change(lambda _: changed.set())
    assert callable(work)
    work()
    async with asyncio.timeout(10):
        await changed.wait()


async def pid_of(pool: Pool, file: Path) -> int:
    result = await call_tool(pool, "count", {"file": str(file)})
    return int(result["structuredContent"]["pid"])


@pytest.mark.parametrize("discover", ["answer", "error"])
async def test_an_upstream_killed_while_idle_is_back_for_the_next_call(
    make_pool: MakePool, tmp_path: Path, discover: str
) -> None:
    pool = make_pool(fake(discover=discover))
    first = await pid_of(pool, tmp_path / "count")
    await went_down(pool, lambda: os.kill(first, signal.SIGKILL))
    assert "SIGKILL" in str(pool.health()[0].last_error)
    assert await pid_of(pool, tmp_path / "count") != first
    assert pool.health()[0].restarts == 1


async def test_an_upstream_killed_in_a_call_fails_that_call_and_runs_it_once(
    make_pool: MakePool, tmp_path: Path
) -> None:
    file = tmp_path / "count"
    pool = make_pool(fake())
    with pytest.raises(
        UpstreamError, match=r"fake: was killed by SIGKILL; the request may have run"
    ):
        await call_tool(pool, "count", {"file": str(file), "how": "crash"})
    assert file.read_text() == "x"
    await pid_of(pool, file)
    assert file.read_text() == "xx"


async def test_an_upstream_that_crashes_in_every_call_is_started_again_after_growing_pauses(
    make_pool: MakePool, tmp_path: Path
) -> None:
    pool = make_pool(fake())
    crash = {"file": str(tmp_path / "count"), "how": "crash"}
    for _ in range(3):
        with pytest.raises(UpstreamError, match="was killed by SIGKILL"):
            await call_tool(pool, "count", crash)
        await until(lambda: pool.health()[0].state == "up")
        await pool.listing("fake")  # to list is not to have worked
    with pytest.raises(UpstreamError, match="was killed by SIGKILL"):
        await call_tool(pool, "count", crash)
    assert (pool.health()[0].retry_in or 0) > 0.5


async def test_a_crash_fails_every_call_in_flight_and_no_other_upstream(
    make_pool: MakePool, tmp_path: Path
) -> None:
    pool = make_pool(fake(), fake("other", slow=0.01))
    # Of one client, so that it is clear for whom the messages are.
    channels = [RecordingChannel(session=ClientSession()) for _ in range(3)]
    stalled = [
        asyncio.create_task(call_tool(pool, "stall", call=session_call(), channel=channel))
        for channel in channels
    ]
    await channels[-1].arrived.wait()
    healthy = asyncio.create_task(call_tool(pool, "echo", server="other"))
    with pytest.raises(UpstreamError):
        await call_tool(pool, "die", {"how": "crash"})
    results = await asyncio.gather(*stalled, return_exceptions=True)
    assert [type(result) for result in results] == [UpstreamError] * 3
    assert (await healthy)["structuredContent"]["name"] == "echo"


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("crash", "was killed by SIGKILL"),
        ("exit", "exited with status 3: giving up: no database"),
        ("hang", "was not ready within 3 s"),
    ],
)
async def test_an_upstream_that_cannot_start_says_why_and_then_fails_fast(
    make_pool: MakePool, tmp_path: Path, how: str, reason: str
) -> None:
    log = tmp_path / "log"
    limits = replace(QUICK, start=3)
    pool = make_pool(fake(initialize=how, log=str(log)), fake("other"), limits=limits)
    with pytest.raises(UpstreamError, match=f"fake: {reason}"):
        await call_tool(pool, "echo")
    started = methods_sent(log).count("initialize")
    with pytest.raises(UpstreamError, match=r"is down .* next attempt is in"):
        await call_tool(pool, "echo")
    assert methods_sent(log).count("initialize") == started
    await call_tool(pool, "echo", server="other")
    assert {health.server: health.state for health in pool.health()} == {
        "fake": "down",
        "other": "up",
    }
    if how == "exit":
        assert pool.health()[0].stderr == "giving up: no database\n"


async def test_a_listing_of_an_upstream_that_is_down_is_the_last_known_with_the_reason(
    make_pool: MakePool,
) -> None:
    pool = make_pool(fake())
    tools = (await pool.listing("fake")).tools
    with pytest.raises(UpstreamError):
        await call_tool(pool, "die", {"how": "crash"})
    listing = await pool.listing("fake")
    assert listing.tools == tools


async def test_garbage_on_stdout_is_skipped(make_pool: MakePool) -> None:
    pool = make_pool(fake(initialize="garbage"))
    assert (await call_tool(pool, "echo"))["structuredContent"]["name"] == "echo"


async def test_an_upstream_that_hangs_is_found_out_and_replaced(make_pool: MakePool) -> None:
    limits = replace(QUICK, call=2.0, probe=1.0)
    pool = make_pool(fake(), limits=limits)
    await call_tool(pool, "echo")
    lost = asyncio.Event()
    pool.on_change(lambda _: lost.set())
    with pytest.raises(UpstreamError, match=r"did not answer tools/call within 2 s"):
        await call_tool(pool, "die", {"how": "hang"})
    await lost.wait()
    assert "does not answer any more" in str(pool.health()[0].last_error)
    await call_tool(pool, "echo")


async def test_a_slow_call_does_not_end_a_healthy_upstream(
    make_pool: MakePool, tmp_path: Path
) -> None:
    pool = make_pool(replace(fake(), timeout=2.0), limits=replace(QUICK, probe=30.0))
    first = await pid_of(pool, tmp_path / "count")
    with pytest.raises(UpstreamError, match="did not answer"):
        await call_tool(pool, "stall")
    assert await pid_of(pool, tmp_path / "count") == first


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"command": "no-such-program-anywhere"}, "no program named no-such-program-anywhere"),
        ({"cwd": "/no/such/folder"}, "there is no folder /no/such/folder"),
        ({"command": "/"}, "cannot start /: Permission denied"),
    ],
)
async def test_what_cannot_be_started_is_named(
    make_pool: MakePool, changes: dict[str, Any], reason: str
) -> None:
    pool = make_pool(replace(fake(), **changes))
    with pytest.raises(UpstreamError, match=reason):
        await call_tool(pool, "echo")


async def test_a_disabled_upstream_is_never_started(make_pool: MakePool) -> None:
    pool = make_pool(replace(fake(), disabled="${KEY} is not set"))
    with pytest.raises(UpstreamError, match=r"is disabled: \$\{KEY\} is not set"):
        await call_tool(pool, "echo")
    assert (await pool.listing("fake")).error == "${KEY} is not set"
    assert pool.health()[0].state == "disabled"


async def test_secrets_are_masked_in_what_is_shown_of_an_upstream(make_pool: MakePool) -> None:
    secret = frozenset({"database"})
    pool = make_pool(replace(fake(initialize="exit"), secrets=secret))
    with pytest.raises(UpstreamError):
        await call_tool(pool, "echo")
    health = pool.health()[0]
    assert health.stderr == "giving up: no ***\n"
    assert "database" not in f"{health.reason} {health.last_error}"


async def test_an_idle_upstream_is_stopped_and_started_again_on_use(
    make_pool: MakePool, tmp_path: Path
) -> None:
    started = Started()
    pool = make_pool(fake(), idle_stop=0.2)
    first = await pid_of(pool, tmp_path / "count")
    await until(lambda: not started.pids)
    assert pool.health()[0].state == "idle"
    assert await pid_of(pool, tmp_path / "count") != first


STUBBORN = """
import signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
import json
for line in sys.stdin:
    m = json.loads(line)
    if m.get("method") == "initialize":
        r = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {}}
        print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}), flush=True)
    elif "id" in m:
        e = {"code": -32601, "message": "no"}
        print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "error": e}), flush=True)
time.sleep(600)
"""


async def test_an_upstream_that_ignores_everything_is_killed_with_its_group(
    make_pool: MakePool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolyard.processes.lasting.STDIN_GRACE", 0.2)
    monkeypatch.setattr("toolyard.processes.lasting.TERM_GRACE", 0.2)
    wrapper = f"sleep 600 & exec {sys.executable} -c '{STUBBORN}'"
    started = Started()
    pool = make_pool(ServerDefinition(name="fake", command="sh", args=("-c", wrapper)))
    assert (await pool.listing("fake")).error is None
    (group,) = started.pids
    await pool.close()
    assert not alive_in(group)


async def test_the_exit_counts_and_not_the_end_of_output(make_pool: MakePool) -> None:
    wrapper = "sleep 600 & echo dying >&2; exit 7"
    pool = make_pool(ServerDefinition(name="fake", command="sh", args=("-c", wrapper)))
    assert (await pool.listing("fake")).error == "exited with status 7: dying"


async def test_many_upstreams_start_at_the_same_time(make_pool: MakePool, tmp_path: Path) -> None:
    names, started, gate = [f"fake{n}" for n in range(5)], Started(), tmp_path / "gate"
    pool = make_pool(*(fake(name, gate=str(gate), n=n) for n, name in enumerate(names)))
    listing = asyncio.gather(*map(pool.listing, names))
    await until(lambda: len(started.pids) == 5)  # none of them answers yet
    gate.touch()
    assert [each.error for each in await listing] == [None] * 5


async def test_a_changed_registry_stops_what_it_no_longer_names(make_pool: MakePool) -> None:
    started = Started()
    pool = make_pool(fake("one"), fake("two", n=2), retire_after=0)
    await asyncio.gather(pool.listing("one"), pool.listing("two"))
    both = started.pids
    assert len(both) == 2
    pool.update([fake("renamed")])
    await until(lambda: len(started.pids) == 1)
    assert started.pids < both
    with pytest.raises(UpstreamError, match="two: is not defined any more"):
        await call_tool(pool, "echo", server="two", call=modern_call())
    await call_tool(pool, "echo", server="renamed")


ORPHAN = """
import asyncio, sys
from toolyard.upstreams.definition import ServerDefinition
from toolyard.upstreams.pool import Pool
async def main():
    pool = Pool([ServerDefinition(name="fake", command=sys.argv[1], args=tuple(sys.argv[2:]))])
    await pool.listing("fake")
    print("ready", flush=True)
    await asyncio.Event().wait()
asyncio.run(main())
"""


async def test_an_upstream_ends_when_we_are_killed(tmp_path: Path) -> None:
    log = tmp_path / "log"
    command = fake(log=str(log))
    ours = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", ORPHAN, str(command.command), *command.args),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert ours.stdout is not None
    assert await ours.stdout.readline() == b"ready\n"
    (child,) = (
        int(pid) for pid in Path(f"/proc/{ours.pid}/task/{ours.pid}/children").read_text().split()
    )
    pidfd = os.pidfd_open(child)
    gone = asyncio.Event()
    asyncio.get_running_loop().add_reader(pidfd, gone.set)
    ours.kill()
    await ours.wait()
    async with asyncio.timeout(10):
        await gone.wait()
    asyncio.get_running_loop().remove_reader(pidfd)
    os.close(pidfd)
