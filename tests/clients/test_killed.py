"""Killed at any point, a link leaves the old file or the new one; the next link clears up."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.clients.conftest import Desk
from tests.peers.serving import environment
from toolyard.clients.linking import ClientFile
from toolyard.clients.records import LinkRecords
from toolyard.clients.table import CLIENTS
from toolyard.files.whole import ABANDONED

KILLER = Path(__file__).with_name("killer.py")
OLD = {
    "cursor": json.dumps({"mcpServers": {"other": {"command": "x"}}, "a": list(range(999))}),
    "codex": "# mine\nmodel = 'x'\n",
    "goose": "# mine\nextensions:\n  other:\n    type: stdio\n",
}


@pytest.mark.parametrize("client", OLD)
def test_a_kill_at_any_point_leaves_the_old_file_or_the_new_one(
    client: str, tmp_path: Path
) -> None:
    path = tmp_path / "settings"
    path.write_text(OLD[client])
    done = subprocess.run(
        [sys.executable, str(KILLER), str(path), client],
        env=environment({"PYTHONPATH": str(KILLER.parents[2])}),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    *lines, last = done.stdout.splitlines()
    new = last.split()[1]
    outcomes = [line.split()[1] for line in lines]
    # Some were killed before the file was replaced, some after it.
    assert outcomes[-1] == "done"
    assert outcomes.count("old") > 10
    assert new in outcomes
    assert set(outcomes) == {"old", new, "done"}


def test_what_a_killed_link_left_is_cleared_by_the_next_one(desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.write_text("{}")
    leftover = path.with_name(".mcp.json.0123456789ab.new")
    leftover.write_text("half of")
    long_ago = time.time() - ABANDONED - 1
    os.utime(leftover, (long_ago, long_ago))
    desk.link(desk.file(CLIENTS["cursor"]))
    assert not leftover.exists()


def test_a_record_without_an_entry_is_forgotten(desk: Desk) -> None:
    """A link that was killed between its record and its file."""
    file = ClientFile(CLIENTS["cursor"], str(desk.home / "mcp.json"))
    Path(file.path).write_text("{}")
    desk.link(file)
    (record,) = desk.records.all()
    desk.unlink(file)
    desk.records.keep(record)
    desk.unlink(file)
    assert Path(file.path).read_text() == "{}"
    assert list(LinkRecords(desk.machine.state).all()) == []
