"""Garbage is collected, however often a project is scanned: memory stays as it is."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import weakref
from pathlib import Path

from tests.attacks.memory import MIB
from tests.peers.serving import ROOT, environment
from tests.project.conftest import Folder, runner_of, source_of

# 10,000 on request.
ROUNDS = os.environ.get("REBUILDS", "1000")


class Busy:
    """A call in flight, which knows itself as tasks and their frames do."""

    def __init__(self) -> None:
        self.itself = self


def test_what_was_in_flight_during_a_scan_is_collected_afterwards(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.tool("a")
    source = source_of(folder, runner_of(tmp_path))
    source.read()
    call = Busy()
    gone = weakref.ref(call)
    folder.tool("b")
    frozen = gc.get_freeze_count()
    assert len(source.read().tools) == 2
    assert gc.get_freeze_count() <= frozen
    assert gc.isenabled()
    del call
    gc.collect()
    assert gone() is None


def test_memory_is_flat_over_many_scans_and_rebuilds(tmp_path: Path) -> None:
    program = [sys.executable, "-m", "tests.attacks.rebuilding", str(tmp_path), ROUNDS]
    done = subprocess.run(
        program, cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    sizes = json.loads(done.stdout)
    print(f"{ROUNDS} rebuilds: {[size // 1024 for size in sizes]} KiB")
    assert sizes[-1] - sizes[1] < 3 * MIB
