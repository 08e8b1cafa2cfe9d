"""How commands end when the system refuses them something: a sentence, never a traceback."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Yard
from tests.cli.program import WITHIN, toolyard
from tests.peers.serving import environment

pytestmark = pytest.mark.long

PRINTING = (
    "--version",
    "--help",
    "list",
    "run-tool echo",
    "request tools/list",
    "schema registry",
    "registry status",
    "completion bash",
)
WRITING = {
    "scaffold tool fresh": "/tools/fresh",
    "scaffold test": "/test",
    "bundle": "yard-1.2.3.mcpb",
    "new fresh": "/fresh",
    "init --name fresh": "/server.d",
}


def _command(words: str) -> list[str]:
    return [sys.executable, "-m", "toolyard", *words.split()]


@pytest.mark.parametrize("words", PRINTING)
def test_a_full_disk_is_said_in_one_line(words: str, yard: Yard) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            _command(words),
            cwd=yard.root,
            env=environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=WITHIN,
        )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "toolyard: No space left on device"
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("words", PRINTING)
def test_a_reader_that_goes_away_ends_a_command_quietly(words: str, yard: Yard) -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    try:
        done = subprocess.run(
            _command(words),
            cwd=yard.root,
            env=environment(),
            stdout=theirs,
            stderr=subprocess.PIPE,
            text=True,
            timeout=WITHIN,
        )
    finally:
        os.close(theirs)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.parametrize("words", WRITING)
def test_a_folder_that_cannot_be_written_is_named(words: str, yard: Yard, tmp_path: Path) -> None:
    folder = tmp_path / "closed"
    if words.startswith(("new", "init")):
        folder.mkdir()
    else:
        shutil.copytree(yard.root, folder)
    folders = [folder, *(path for path in folder.rglob("*") if path.is_dir())]
    for path in folders:
        path.chmod(0o555)
    try:
        done = subprocess.run(
            [*_as_nobody_special(), *_command(words)],
            cwd=folder,
            env=environment(),
            capture_output=True,
            text=True,
            timeout=WITHIN,
        )
    finally:
        for path in folders:
            path.chmod(0o755)
    assert done.returncode in (1, 2)
    assert f"{WRITING[words]}: Permission denied" in done.stderr
    assert "Traceback" not in done.stderr and ".new" not in done.stderr


def _as_nobody_special() -> list[str]:
    """Root may write anywhere, unless it gives that up."""
    if os.geteuid():
        return []
    return ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]


@pytest.mark.parametrize(
    ("words", "suggestion"),
    [
        ("lst", "Unknown command: lst (did you mean 'list'?)"),
        ("serve --htp 80", "unrecognized arguments: --htp (did you mean --http?)"),
        ("registry chek", "(did you mean check?)"),
        ("registry check --lvie", "unrecognized arguments: --lvie (did you mean --live?)"),
        ("list --log-format jsn", "(did you mean json?)"),
    ],
)
def test_a_misspelt_word_is_recognised(words: str, suggestion: str, tmp_path: Path) -> None:
    done = toolyard(*words.split(), cwd=tmp_path)
    assert done.code == 2
    assert suggestion in done.err
