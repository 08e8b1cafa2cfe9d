"""Completion in real shells: what is offered after a few letters."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Yard
from tests.cli.program import WITHIN, _typed, toolyard
from tests.peers.serving import environment

pytestmark = pytest.mark.long


def _shell(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"there is no {name} on this machine")
    return path


def _environment(tmp_path: Path) -> dict[str, str]:
    """With our command on the PATH, and a home without anybody's settings."""
    folder = tmp_path / "bin"
    folder.mkdir()
    command = folder / "toolyard"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m toolyard "$@"\n')
    command.chmod(0o755)
    return environment({"PATH": f"{folder}:{os.environ['PATH']}", "HOME": str(tmp_path)})


@pytest.mark.parametrize(
    ("words", "candidates"),
    [
        (["re"], ["registry", "request"]),
        (["registry", "ch"], ["check"]),
        (["registry", "check", "--li"], ["--live"]),
        (["run-tool", ""], ["echo"]),
        (["serve", "--log-format", ""], ["json", "text"]),
        (["list", "--config", ""], []),
        (["nonsense", ""], []),
    ],
)
def test_the_words_that_may_follow(words: list[str], candidates: list[str], yard: Yard) -> None:
    done = toolyard("completion", "words", *words, cwd=yard.root)
    assert (done.code, done.err) == (0, "")
    assert done.out.split() == candidates


def test_bash_completes_commands_flags_and_tools(yard: Yard, tmp_path: Path) -> None:
    script = """
        eval "$(toolyard completion bash)"
        ask() { COMP_WORDS=(toolyard "$@"); COMP_CWORD=$#; _toolyard; echo "${COMPREPLY[*]}"; }
        ask regi; ask serve --htt; ask run-tool e
    """
    done = subprocess.run(
        [_shell("bash"), "--norc", "-c", script],
        cwd=yard.root,
        env=_environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=WITHIN,
    )
    assert (done.stdout, done.stderr) == ("registry\n--http\necho\n", "")


def test_fish_completes_commands_flags_and_tools(yard: Yard, tmp_path: Path) -> None:
    script = (
        "toolyard completion fish | source; complete -C 'toolyard regi'; "
        "complete -C 'toolyard serve --htt'; complete -C 'toolyard run-tool e'"
    )
    done = subprocess.run(
        [_shell("fish"), "--no-config", "-c", script],
        cwd=yard.root,
        env=_environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=WITHIN,
    )
    assert done.stdout == "registry\n--http\necho\n"


def test_zsh_completes_at_the_press_of_a_key(yard: Yard, tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [_shell("zsh"), "-f", "-i"],
        cwd=yard.root,
        env={**_environment(tmp_path), "PS1": "ready> ", "TERM": "xterm"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    try:
        _typed(ours, "ready>", "autoload -U compinit; compinit -u")
        _typed(ours, "ready>", 'eval "$(toolyard completion zsh)"')
        _typed(ours, "ready>", "toolyard regi\tsta\t--help")
        assert "usage: toolyard registry status" in _typed(ours, "ready>", "exit")
    finally:
        process.kill()
        process.wait()
        os.close(ours)
