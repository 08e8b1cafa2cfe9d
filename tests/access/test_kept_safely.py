"""Credentials through accidents: two processes, a full disk, a killed writer, a stranger."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.access.test_whole_way import Hours, follow
from tests.peers.authority import Authority
from tests.peers.serving import environment, toolyard
from toolyard.access.oauth.accounts import Accounts
from toolyard.access.oauth.browser import Headless, Loopback
from toolyard.access.oauth.vault import SealedVault
from toolyard.files.whole import ABANDONED, replacing, write_whole
from toolyard.http.fetching.fetch import GuardedFetch
from toolyard.protocol.call import Caller
from toolyard.upstreams.definition import ServerDefinition

# Ends every write as a full disk does.
FULL = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
from toolyard.access.oauth.vault import SealedVault
try:
    SealedVault(sys.argv[1]).put("ada", {})
except OSError as error:
    print(error.strerror)
"""


async def test_of_two_processes_with_one_login_one_renews_it(
    tmp_path: Path, issuer: Authority, server: ServerDefinition
) -> None:
    clock = Hours()
    clock.now = time.time()
    # As two processes have them: nothing shared but the folder.
    mine, other = (Accounts(SealedVault(tmp_path), clock=clock) for _ in range(2))
    account = mine.account(server, Caller())
    browser = Headless(GuardedFetch(server.url or ""))
    await account.log_in(await mine.wanted_by(server), browser)
    for _ in range(5):
        clock.now += issuer.lifetime
        asked = issuer.site.count("/token")
        first, second = await asyncio.gather(
            account.headers(), other.account(server, Caller()).headers()
        )
        assert first == second != {}
        assert issuer.site.count("/token") == asked + 1


def full_disk(folder: Path) -> str:
    command = [sys.executable, "-c", FULL, str(folder)]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_a_full_disk_at_the_first_login_breaks_none_that_follows(tmp_path: Path) -> None:
    assert full_disk(tmp_path) == "File too large"
    assert list(tmp_path.iterdir()) == []
    SealedVault(tmp_path).put("ada", {"access": "x"})
    assert SealedVault(tmp_path).get("ada") == {"access": "x"}
    before = sorted(tmp_path.iterdir())
    assert full_disk(tmp_path) == "File too large"
    assert sorted(tmp_path.iterdir()) == before
    assert SealedVault(tmp_path).get("ada") == {"access": "x"}


def test_an_empty_key_that_a_full_disk_left_is_made_anew(tmp_path: Path) -> None:
    (tmp_path / "key").touch(0o600)
    SealedVault(tmp_path).put("ada", {"access": "x"})
    assert SealedVault(tmp_path).get("ada") == {"access": "x"}


def test_what_a_killed_writer_left_is_taken_away_by_the_next(tmp_path: Path) -> None:
    left, recent, foreign = (tmp_path / name for name in (".a.1.new", ".a.2.new", ".b.1.new"))
    for path in (left, recent, foreign):
        path.touch()
    for path in (left, foreign):
        os.utime(path, (0, time.time() - ABANDONED - 1))
    write_whole(str(tmp_path / "a"), b"whole")
    assert {path.name for path in tmp_path.iterdir()} == {"a", ".a.2.new", ".b.1.new"}
    assert (tmp_path / "a").read_bytes() == b"whole"


def test_what_fails_while_it_is_written_leaves_the_old_file_and_nothing_else(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a"
    path.write_text("old")
    with pytest.raises(OSError, match="full"), replacing(str(path)) as temporary:
        Path(temporary).write_text("half")
        raise OSError("full")
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [("a", "old")]
    with replacing(str(path)) as temporary:
        Path(temporary).write_text("new")
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [("a", "new")]


async def test_tokens_made_at_the_same_time_are_all_kept(tmp_path: Path) -> None:
    async def make(name: str) -> int:
        command = toolyard("token", "new", name)
        quiet = asyncio.subprocess.DEVNULL
        process = await asyncio.create_subprocess_exec(
            *command, cwd=tmp_path, env=environment(), stdout=quiet, stderr=quiet
        )
        return await process.wait()

    names = [f"n{number}" for number in range(8)]
    assert await asyncio.gather(*map(make, names)) == [0] * len(names)
    kept = json.loads((tmp_path / "toolyard.json").read_text())["tokens"]
    assert sorted(token["name"] for token in kept) == names
    assert [path.name for path in tmp_path.iterdir()] == ["toolyard.json"]


@pytest.mark.parametrize("wrong", ["state=other&code=c", "code=c", "error=access_denied", ""])
async def test_an_answer_with_a_wrong_state_does_not_end_a_login(wrong: str) -> None:
    opened: asyncio.Queue[str] = asyncio.Queue()
    browser = Loopback(opened.put_nowait, wait=10)
    back = await browser.ready()
    visit = asyncio.create_task(browser.visit("http://login.example/?state=mine"))
    try:
        assert parse_qs(urlsplit(await opened.get()).query)["state"] == ["mine"]
        with pytest.raises(OSError, match="404"):
            await follow(f"{back}?{wrong}")
        assert "close this page" in await follow(f"{back}?state=mine&code=c")
        assert await visit == {"state": "mine", "code": "c"}
    finally:
        visit.cancel()
        await browser.close()
