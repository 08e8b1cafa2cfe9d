"""What an upstream started outside of its process group ends with it, and nothing else does."""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.processes import alive
from tests.until import until, until_dead, until_exists
from tests.upstreams.conftest import MakePool
from tests.upstreams.seam import call_tool, fake
from toolyard.processes.ending import descendants as leftovers
from toolyard.upstreams.definition import ServerDefinition

# A session of its own, no pipe of ours.
CHILD = """setsid sh -c 'echo $$ > "$0"; exec sleep 600' "$0" </dev/null >/dev/null 2>&1 &
exec "$@" """
# Its environment is not ours, as with the servers that a proxy starts.
BARE = CHILD.replace("setsid sh", "setsid env -i sh")


def leaving(escape: str, note: Path) -> ServerDefinition:
    """The fake, started by a shell that leaves somebody behind whose number it notes."""
    definition = fake(note.name)
    started = (sys.executable, *definition.args)
    return replace(definition, command="sh", args=("-c", escape, str(note), *started))


@pytest.mark.parametrize("escape", [CHILD, BARE], ids=["child", "bare"])
async def test_who_left_the_group_ends_when_the_upstream_is_stopped(
    make_pool: MakePool, tmp_path: Path, escape: str
) -> None:
    pool = make_pool(leaving(escape, tmp_path / "one"))
    await call_tool(pool, "echo", server="one")
    pid = int(await until_exists(tmp_path / "one"))
    assert alive(pid)
    await pool.close()
    assert not alive(pid)


async def test_what_another_upstream_left_stays(make_pool: MakePool, tmp_path: Path) -> None:
    pools = [make_pool(leaving(CHILD, tmp_path / name)) for name in ("one", "two")]
    for pool, name in zip(pools, ("one", "two"), strict=True):
        await call_tool(pool, "echo", server=name)
    one, two = [int(await until_exists(tmp_path / name)) for name in ("one", "two")]
    await pools[0].close()
    assert (alive(one), alive(two)) == (False, True)


@pytest.mark.parametrize("escape", [CHILD, BARE], ids=["child", "bare"])
async def test_who_left_the_group_ends_when_the_upstream_is_killed(
    make_pool: MakePool, tmp_path: Path, escape: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leftovers, "LOOK_AFTER", 0.05)
    before = watched()
    pool = make_pool(leaving(escape, tmp_path / "one"))
    await call_tool(pool, "echo", server="one")
    escaped = int(await until_exists(tmp_path / "one"))

    async def both_are_watched() -> bool:
        """One for the upstream's own exit, one for who left."""
        await call_tool(pool, "echo", server="one")
        return watched() >= before + 2

    await until(both_are_watched)
    os.kill(parent_of(escaped), signal.SIGKILL)
    await until_dead(escaped)


def watched() -> int:
    """How many processes we hold on to."""
    links = [os.readlink(fd) for fd in Path("/proc/self/fd").iterdir() if fd.is_symlink()]
    return sum("[pidfd]" in link for link in links)


def parent_of(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("PPid:")[2].split()[0])
