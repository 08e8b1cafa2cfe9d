"""A registry file that names ourselves: noticed, not started over and over."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.cli.program import toolyard
from tests.gateway.yard import Yard
from toolyard.sources.registry.format.ourselves import registries_read_by

pytestmark = pytest.mark.long


def _serving(*words: str) -> dict[str, object]:
    return {"command": sys.executable, "args": ["-m", "toolyard", "serve", *words]}


def test_a_server_that_would_read_the_same_file_is_disabled(tmp_path: Path) -> None:
    yard = Yard(tmp_path)
    good = yard.upstream("good", {"name": "fetch", "inputSchema": {"type": "object"}}, expose="all")
    yard.registry(servers=[good, {"name": "us", "stdio": _serving(str(tmp_path)), "expose": "all"}])
    done = toolyard("list", cwd=tmp_path)
    assert "fetch" in done.out
    assert "server us is disabled: it would start this server again" in done.err


def test_two_files_that_name_each_other_start_each_server_once(tmp_path: Path) -> None:
    first, second = Yard(tmp_path / "first"), Yard(tmp_path / "second")
    tool = {"name": "fetch", "inputSchema": {"type": "object"}}
    own = second.upstream("own", tool, expose="all")
    first.registry(servers=[{"name": "second", "stdio": _serving("../second"), "expose": "all"}])
    back = {"name": "first", "stdio": _serving(str(first.root)), "expose": "all"}
    second.registry(servers=[own, back])
    done = toolyard("list", cwd=first.root)
    assert done.out == "Tools (1)\n  fetch\n"


def test_a_client_s_settings_that_name_us_are_noticed(tmp_path: Path) -> None:
    settings = Yard(tmp_path).write(
        "mcp.json", {"mcpServers": {"us": _serving(str(tmp_path / "mcp.json"))}}
    )
    done = toolyard("registry", "check", "--live", "--registry", settings, cwd=tmp_path)
    assert done.code == 1
    assert done.out == "mcp.json: 1 server, 0 tools; 1 server cannot be used\n"


def test_what_a_command_line_would_read(tmp_path: Path) -> None:
    project = tmp_path / "project"
    file = project / "registry.json"
    Yard(project).registry()
    here, paths = str(project), frozenset({str(file)})
    assert registries_read_by(["toolyard", "serve"], here) == paths
    assert registries_read_by(["mcp-bash"], here) == paths
    assert registries_read_by(["uvx", "toolyard", "serve", ".", "--http", "80"], here) == paths
    assert (
        registries_read_by(["/usr/bin/python3", "/bin/toolyard", "debug", str(file)], "/") == paths
    )
    assert not registries_read_by(["toolyard", "list"], here)
    assert not registries_read_by(["toolyard", "serve"], "/")
    assert paths.isdisjoint(registries_read_by(["toolyard", "serve", "no/such"], here))
    assert not registries_read_by(["node", "server.js", "serve"], here)
