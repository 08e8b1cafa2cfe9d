"""What commands show to a person at a terminal, and only there."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Yard
from tests.cli.program import WITHIN, mcp_bash, shown_at_a_terminal, toolyard
from tests.gateway.yard import Yard as Gateway
from tests.peers.serving import environment

pytestmark = pytest.mark.long


def test_run_tool_prints_the_text_for_people_and_json_for_programs(yard: Yard) -> None:
    yard.tool("greet", "echo Hello there")
    assert shown_at_a_terminal("run-tool", "greet", cwd=yard.root).out == "Hello there\r\n"
    assert (
        '"content":[{"type":"text"'
        in shown_at_a_terminal("run-tool", "greet", "--json", cwd=yard.root).out
    )
    assert toolyard("run-tool", "greet", cwd=yard.root).text == "Hello there"
    allowed = {"MCPBASH_TOOL_ALLOWLIST": "*"}
    assert mcp_bash("run-tool", "greet", cwd=yard.root, env=allowed).text == "Hello there\n"


def test_a_failure_is_shown_in_red_unless_colour_is_unwanted(yard: Yard) -> None:
    yard.tool("fail", "echo it is broken >&2; exit 3")
    shown = shown_at_a_terminal("run-tool", "fail", cwd=yard.root)
    assert shown.code == 1
    assert shown.out.startswith("\x1b[31m") and "it is broken" in shown.out
    plain = shown_at_a_terminal("run-tool", "fail", cwd=yard.root, env={"NO_COLOR": "1"})
    assert "\x1b" not in plain.out and "it is broken" in plain.out
    misspelt = shown_at_a_terminal("run-tool", "fial", cwd=yard.root, env={"NO_COLOR": "1"})
    assert misspelt.out == "Tool 'fial' not found (did you mean 'fail'?) (-32602)\r\n"


def test_headings_and_signs_have_colour_at_a_terminal_alone(yard: Yard) -> None:
    assert "\x1b[1mTools (1)\x1b[0m" in shown_at_a_terminal("list", cwd=yard.root).out
    assert "\x1b[32m✓\x1b[0m" in shown_at_a_terminal("doctor", cwd=yard.root).out
    assert "\x1b" not in toolyard("list", cwd=yard.root).out
    assert "\x1b" not in toolyard("doctor", cwd=yard.root).out


def test_a_line_says_which_server_is_being_started_and_what_it_says(tmp_path: Path) -> None:
    gateway = Gateway(tmp_path)
    server = gateway.upstream("slow", {"name": "fetch", "inputSchema": {"type": "object"}})
    command = server["stdio"]
    words = " ".join(f"'{word}'" for word in (command["command"], *command["args"]))
    server["stdio"] = {
        "command": "sh",
        "args": ["-c", f"echo fetching parts >&2; sleep 2; exec {words}"],
    }
    gateway.registry(servers=[{**server, "expose": "all"}])
    shown = shown_at_a_terminal("list", cwd=tmp_path)
    assert "starting slow (1 s): fetching parts" in shown.out
    # The line is taken away again before the list is printed.
    assert "\r\x1b[K\x1b[1mTools (1)" in shown.out
    assert "starting slow" not in toolyard("list", cwd=tmp_path).err


def test_serving_at_a_terminal_says_what_it_waits_for_and_ends_with_ctrl_d(yard: Yard) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "toolyard", "serve"],
        cwd=yard.root,
        env=environment(),
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    os.close(theirs)
    try:
        os.write(ours, b"\x04")
        shown = process.communicate(timeout=WITHIN)[1].decode()
    finally:
        process.kill()
        os.close(ours)
    assert shown.startswith("yard is served over stdin and stdout: it waits for a client")
    assert "toolyard serve --http 8080" in shown
    assert "waits for a client" not in toolyard("serve", cwd=yard.root).err
