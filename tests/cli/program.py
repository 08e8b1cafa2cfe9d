"""Start the program as a user does and look at what it leaves behind."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.peers.serving import environment

WITHIN = 60.0
MCP_BASH = "import sys; from toolyard.cli import mcp_bash; sys.exit(mcp_bash())"


@dataclass(frozen=True, slots=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def text(self) -> str:
        """The text of the result that was printed."""
        return "\n".join(block["text"] for block in self.json["content"])


def toolyard(
    *arguments: str | Path,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdin: str = "",
) -> Done:
    return _run([sys.executable, "-m", "toolyard", *map(str, arguments)], cwd, env, stdin)


def mcp_bash(
    *arguments: str | Path,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdin: str = "",
) -> Done:
    return _run([sys.executable, "-c", MCP_BASH, *map(str, arguments)], cwd, env, stdin)


def _run(
    command: Sequence[str], cwd: Path | None, env: Mapping[str, str] | None, stdin: str
) -> Done:
    done = subprocess.run(
        command,
        cwd=cwd,
        env=environment(env),
        input=stdin,
        capture_output=True,
        text=True,
        timeout=WITHIN,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def shown_at_a_terminal(
    *arguments: str | Path, cwd: Path, env: Mapping[str, str] | None = None
) -> Done:
    """Run with a terminal for everything; what it shows is in `out`."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "toolyard", *map(str, arguments)],
        cwd=cwd,
        env=environment({"TERM": "xterm", **(env or {})}),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    try:
        return Done(out=_rest(ours), code=process.wait(WITHIN), err="")
    finally:
        process.kill()
        os.close(ours)


def at_a_terminal(*arguments: str | Path, typed: Sequence[tuple[str, str]], cwd: Path) -> Done:
    """Run with a terminal as stdin and stderr; each line is typed once its prompt is there."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "toolyard", *map(str, arguments)],
        cwd=cwd,
        env=environment(),
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=theirs,
        text=True,
        start_new_session=True,
    )
    os.close(theirs)
    try:
        seen = "".join(_typed(ours, prompt, line) for prompt, line in typed)
        out, _ = process.communicate(timeout=WITHIN)
        return Done(process.returncode, out, seen + _rest(ours))
    finally:
        process.kill()
        os.close(ours)


def _typed(terminal: int, prompt: str, line: str) -> str:
    seen = ""
    while prompt not in seen:
        assert select.select([terminal], [], [], WITHIN)[0], f"no {prompt!r} in {seen!r}"
        seen += os.read(terminal, 4096).decode()
    os.write(terminal, line.encode() + b"\n")
    return seen


def _rest(terminal: int) -> str:
    seen = b""
    try:
        while chunk := os.read(terminal, 4096):
            seen += chunk
    except OSError:  # the other side has closed it
        pass
    return seen.decode()
