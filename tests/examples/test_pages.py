"""What the pages of the examples tell you to type works."""

from __future__ import annotations

import re
import shlex

import pytest

from tests.cli.program import toolyard
from tests.examples.conftest import EXAMPLES
from tests.peers.serving import copied

COMMAND = re.compile(r"^    toolyard ((?:run-tool|request|list|validate)\b.*)$", re.MULTILINE)
# Commands that are there to fail, to take long, or that need something built first.
REMARK = re.compile(r"\s+# (.*)$")
NOT_RUN = {"times out", "Ctrl-C cancels it"}


def commands() -> list[tuple[str, str]]:
    return [
        (page.parent.name, command)
        for page in sorted(EXAMPLES.glob("[0-9]*/README.md"))
        for command in COMMAND.findall(page.read_text())
        if page.parent.name != "12-compiled-tool"
    ]


@pytest.mark.parametrize(("example", "command"), commands())
def test_a_command_of_a_page_works(example: str, command: str) -> None:
    remark = REMARK.search(command)
    if remark and remark[1] in NOT_RUN:
        pytest.skip(f"not run here: {remark[1]}")
    words = shlex.split(REMARK.sub("", command))
    with copied(EXAMPLES / example) as project:
        done = toolyard(*words, cwd=project)
    expected = 1 if (remark and remark[1] == "refused") or "parsec" in command else 0
    assert done.code == expected, done.out + done.err
