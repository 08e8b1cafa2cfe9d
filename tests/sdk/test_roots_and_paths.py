"""mcp_roots_*, mcp_require_path: files the client lets a tool touch."""

import json
from pathlib import Path

import pytest

from tests.sdk.sandbox import Ran, Sandbox


class Rooted:
    """Two roots, a file in the first, and links that lead out and around."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.one = sandbox.project / "root one"
        self.two = sandbox.project / "two"
        (self.one / "sub").mkdir(parents=True)
        self.two.mkdir()
        self.file = self.one / "sub" / "file.txt"
        self.file.write_text("x")
        (sandbox.project / "root one and more").mkdir()
        (sandbox.project / "secret").write_text("x")
        (self.one / "out").symlink_to(sandbox.project / "secret")
        (self.one / "up").symlink_to("..")
        (self.one / "alias").symlink_to("sub/file.txt")
        (self.one / "loop").symlink_to("loop")

    def run(self, script: str, path: str | None = None) -> Ran:
        return self.sandbox.run(
            script,
            {} if path is None else {"path": path},
            MCP_ROOTS_PATHS=f"{self.one}\n{self.two}",
            MCP_ROOTS_COUNT="2",
        )


@pytest.fixture
def rooted(sandbox: Sandbox) -> Rooted:
    return Rooted(sandbox)


def test_roots_are_listed_and_counted(rooted: Rooted) -> None:
    ran = rooted.run("mcp_roots_list; mcp_roots_count")
    assert ran.out == f"{rooted.one}\n{rooted.two}\n2\n"


def test_without_roots_there_are_none(sandbox: Sandbox) -> None:
    assert sandbox.run("mcp_roots_list; mcp_roots_count").out == "0\n"


INSIDE = ["root one", "root one/sub/file.txt", "two/", "root one/sub/../sub", "root one/alias"]
INSIDE += ["root one/new/deep/file", "two/./x"]
OUTSIDE = ["", ".", "secret", "root one and more", "root one/../secret", "root one/out"]
OUTSIDE += ["root one/up/secret", "root one/loop", "root one/nowhere/../../secret", "/etc/passwd"]


@pytest.mark.parametrize("path", INSIDE)
def test_a_path_in_a_root_is_contained(rooted: Rooted, path: str) -> None:
    assert rooted.run(f"mcp_roots_contains '{path}'").code == 0


@pytest.mark.parametrize("path", OUTSIDE)
def test_a_path_that_leads_out_is_not_contained(rooted: Rooted, path: str) -> None:
    assert rooted.run(f"mcp_roots_contains '{path}'").code == 1


def test_the_root_of_the_disk_contains_everything(sandbox: Sandbox) -> None:
    assert sandbox.run("mcp_roots_contains /etc/passwd", MCP_ROOTS_PATHS="/").code == 0


def test_a_required_path_is_printed_resolved(rooted: Rooted) -> None:
    ran = rooted.run("mcp_require_path .path", "root one/alias")
    assert ran.out == f"{Path(rooted.file).resolve()}\n"


@pytest.mark.parametrize(
    ("path", "said"),
    [
        (None, "Missing required argument: path"),
        ("secret", "outside the allowed roots"),
        ("root one/out", "outside the allowed roots"),
        ("root one/none", "does not exist"),
    ],
)
def test_a_required_path_is_refused_with_the_reason(
    rooted: Rooted, path: str | None, said: str
) -> None:
    assert rooted.run("x=$(mcp_require_path .path)", path).code == 1
    error = json.loads(rooted.sandbox.error_file.read_text())
    assert error["code"] == -32602
    assert said in error["message"]


def test_a_path_yet_to_be_made_can_be_allowed(rooted: Rooted) -> None:
    ran = rooted.run("mcp_require_path .path --allow-nonexistent", "two/new.txt")
    assert ran.out == f"{rooted.two.resolve()}/new.txt\n"
    assert rooted.run("mcp_require_path .path --allow-nonexistent", "new.txt").code == 1


def test_the_only_root_is_the_default_when_asked_for(rooted: Rooted) -> None:
    script = "mcp_require_path .path --default-to-single-root"
    assert rooted.run(script).code == 1
    ran = rooted.sandbox.run(script, MCP_ROOTS_PATHS=str(rooted.two), MCP_ROOTS_COUNT="1")
    assert ran.out == f"{rooted.two.resolve()}\n"


def test_a_server_without_roots_allows_no_path(rooted: Rooted) -> None:
    ran = rooted.sandbox.run("mcp_require_path .path", {"path": "two"}, MCP_ROOTS_COUNT="0")
    assert ran.code == 1


def test_a_script_run_by_hand_has_no_bounds(rooted: Rooted) -> None:
    ran = rooted.sandbox.run("mcp_require_path .path", {"path": "two"})
    assert ran.out == f"{rooted.two.resolve()}\n"


@pytest.mark.parametrize(
    "asked", ["./nested/../file.txt", "no/where/../../file.txt", "././file.txt", "file.txt/."]
)
def test_a_path_is_normalised_before_it_is_looked_for(sandbox: Sandbox, asked: str) -> None:
    (sandbox.project / "file.txt").touch()
    roots = {"MCP_ROOTS_PATHS": str(sandbox.project), "MCP_ROOTS_COUNT": "1"}
    ran = sandbox.run("mcp_require_path .path", {"path": asked}, **roots)
    assert ran.out == f"{sandbox.project}/file.txt\n"


def test_a_normalised_path_is_still_held_to_the_roots(sandbox: Sandbox) -> None:
    roots = {"MCP_ROOTS_PATHS": str(sandbox.project), "MCP_ROOTS_COUNT": "1"}
    for asked in ("nested/../../error", "../error", f"{sandbox.project}/../error"):
        ran = sandbox.run("mcp_require_path .path", {"path": asked}, **roots)
        assert ran.json == {
            "code": -32602,
            "message": f"Path is outside the allowed roots: {sandbox.error_file}",
        }
