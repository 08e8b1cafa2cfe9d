"""What the pages of the examples tell you to type works."""

from __future__ import annotations

import re
import shlex
import signal
import subprocess
import sys

import pytest

from tests.cli.program import toolyard
from tests.examples.conftest import EXAMPLES
from tests.peers.serving import copied, environment

pytestmark = pytest.mark.long

COMMAND = re.compile(r"^    toolyard ((?:run-tool|request|list|validate)\b.*)$", re.MULTILINE)
# Commands that are there to fail, to take long, or that need something built first.
REMARK = re.compile(r"\s+# (.*)$")
CANCELLED = "Ctrl-C cancels it"
FAILS = {"times out", "refused"}


def commands() -> list[tuple[str, str]]:
    return [
        (page.parent.name, command)
        for page in sorted(EXAMPLES.glob("[0-9]*/README.md"))
        for command in COMMAND.findall(page.read_text())
        if page.parent.name != "12-compiled-tool" and not command.endswith(CANCELLED)
    ]


@pytest.mark.parametrize(("example", "command"), commands())
def test_a_command_of_a_page_works(example: str, command: str) -> None:
    remark = REMARK.search(command)
    words = shlex.split(REMARK.sub("", command))
    with copied(EXAMPLES / example) as project:
        done = toolyard(*words, cwd=project)
    expected = 1 if (remark and remark[1] in FAILS) or "parsec" in command else 0
    assert done.code == expected, done.out + done.err


def test_ctrl_c_cancels_where_a_page_says_so() -> None:
    page = EXAMPLES / "03-progress-and-cancellation" / "README.md"
    (command,) = (one for one in COMMAND.findall(page.read_text()) if one.endswith(CANCELLED))
    words = shlex.split(REMARK.sub("", command))
    with copied(page.parent) as project:
        process = subprocess.Popen(
            [sys.executable, "-m", "toolyard", *words, "--verbose"],
            cwd=project,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # As in a terminal, also where these tests run in the background.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        assert process.stderr is not None
        assert b"1" in process.stderr.readline()  # its first progress: it is at work
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=20)
    assert (process.returncode, out) == (130, b"")
