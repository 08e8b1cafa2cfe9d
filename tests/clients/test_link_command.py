"""toolyard link, unlink and link --list, as a user runs them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.program import Done, toolyard
from tests.clients.conftest import Desk
from tests.peers.serving import environment
from toolyard.cli import main

SECRET = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"
THEIRS = json.dumps({"mcpServers": {"gh": {"command": "x", "env": {"TOKEN": SECRET}}}})


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("example")
    assert toolyard("new", "demo", cwd=folder).code == 0
    return folder / "demo"


@pytest.fixture
def project(example: Path, tmp_path: Path) -> Path:
    return shutil.copytree(example, tmp_path / "demo")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    for name in (".cursor", ".codex", ".config/zed", ".claude"):
        (folder / name).mkdir(parents=True)
    (folder / ".cursor" / "mcp.json").write_text(THEIRS)
    return folder


def run(command: str, *words: str, home: Path, cwd: Path) -> Done:
    return toolyard(command, *words, "--home", home, cwd=cwd)


def test_all_clients_that_are_here_are_linked_and_unlinked(project: Path, home: Path) -> None:
    before = Desk(home).tree()
    done = run("link", "--all", home=home, cwd=project)
    assert (done.code, done.err) == (0, "")
    names = [line.split(":")[0] for line in done.out.splitlines()]
    assert names == ["cursor", "zed", "claude-code", "codex"]
    entry = json.loads((home / ".claude.json").read_text())["mcpServers"]["demo"]
    assert entry["args"][-2:] == ["serve", str(project)]
    again = run("link", "--all", home=home, cwd=project)
    assert again.out.count("has demo already") == 4
    unlinked = run("unlink", "--all", home=home, cwd=project)
    assert unlinked.code == 0
    codex = home / ".codex" / "config.toml"
    assert f"codex: {codex} is gone: it was made by link" in unlinked.out.splitlines()
    assert Desk(home).tree() == before
    assert (home / ".cursor" / "mcp.json").read_text() == THEIRS


def test_a_dry_run_shows_the_lines_and_no_secret_and_changes_nothing(
    project: Path, home: Path
) -> None:
    done = run("link", "cursor", "codex", "--dry-run", home=home, cwd=project)
    assert done.code == 0
    assert "+[mcp_servers.demo]" in done.out
    assert '"demo"' in done.out and SECRET not in done.out and "***" in done.out
    assert (home / ".cursor" / "mcp.json").read_text() == THEIRS
    assert not (home / ".codex" / "config.toml").exists()


def test_no_secret_of_a_file_is_kept_elsewhere(project: Path, home: Path) -> None:
    run("link", "cursor", home=home, cwd=project)
    state = home / ".local" / "state" / "toolyard" / "links"
    files = list(state.iterdir())
    assert len(files) == 1 and files[0].stat().st_mode & 0o777 == 0o600
    assert SECRET not in files[0].read_text()


def test_a_client_that_is_not_here_is_not_made_up(project: Path, home: Path) -> None:
    done = run("link", "windsurf", "cursor", home=home, cwd=project)
    assert done.code == 1
    assert "Windsurf does not seem to be installed" in done.err
    assert "cursor: demo is in" in done.out
    assert not (home / ".codeium").exists()
    assert run("link", "windsurf", "--force", home=home, cwd=project).code == 0
    assert (home / ".codeium" / "windsurf" / "mcp_config.json").stat().st_mode & 0o777 == 0o600


def test_over_http_each_client_gets_what_it_can(project: Path, home: Path) -> None:
    words = ("--all", "--http", "https://tools.example/mcp", "--token-env", "TOKEN")
    done = run("link", *words, home=home, cwd=project)
    assert done.code == 0
    assert "zed: demo is in" in done.out and "not over HTTP: Zed cannot" in done.err
    assert 'bearer_token_env_var = "TOKEN"' in (home / ".codex" / "config.toml").read_text()
    cursor = json.loads((home / ".cursor" / "mcp.json").read_text())["mcpServers"]["demo"]
    assert cursor["headers"] == {"Authorization": "Bearer ${env:TOKEN}"}


def test_a_projects_files_are_linked_in_the_folder(project: Path, home: Path) -> None:
    work = home / "work"
    work.mkdir()
    words = ("cursor", "claude-code", "visual-studio", "--project", "--http", "http://h/mcp")
    done = run("link", *words, home=home, cwd=work)
    assert done.code == 0
    assert json.loads((work / ".mcp.json").read_text())["mcpServers"]["toolyard"]["url"]
    assert (work / ".cursor" / "mcp.json").exists() and (work / ".vs" / "mcp.json").exists()
    unlinked = run(
        "unlink", "cursor", "claude-code", "visual-studio", "--project", home=home, cwd=work
    )
    assert unlinked.code == 0
    assert list(work.iterdir()) == []


def test_the_list_says_what_is_linked_and_whether_it_works(project: Path, home: Path) -> None:
    run("link", "cursor", "codex", home=home, cwd=project)
    (home / ".codex" / "config.toml").write_text("broken = \n")
    rows = {
        row["client"]: row for row in run("link", "--list", "--json", home=home, cwd=project).json
    }
    assert rows["cursor"]["works"] == "works"
    assert rows["cursor"]["to"].endswith(f"serve {project}")
    assert "is not TOML" in rows["codex"]["error"]
    assert rows["zed"] == {
        "client": "zed",
        "file": str(home / ".config/zed/settings.json"),
        "here": True,
    }
    assert rows["windsurf"]["here"] is False
    (project / "server.d" / "server.meta.json").unlink()
    for path in sorted(project.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    project.rmdir()
    shown = run("link", "--list", home=home, cwd=home)
    assert "does not work" in shown.out
    assert "not here: claude-desktop, vscode" in shown.out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("cursr",), 'did you mean "cursor"?'),
        ((), "which one? name some, or say --all"),
        (("cursor", "--http", "tools.example"), "expected an http(s) URL"),
        (("cursor", "--token-env", "X"), "goes with --http"),
        (("cursor", "codex", "--file", "x"), "goes with exactly one client"),
        (("cursor", "--name", "a b$(id)"), "takes no server named"),
        (("claude-desktop", "--project"), "has no file for a project"),
        (("tabnine",), "has no file of the user here"),
    ],
)
def test_a_wrong_command_line_is_explained(
    project: Path,
    home: Path,
    words: tuple[str, ...],
    sentence: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(project)
    assert main(["link", *words, "--home", str(home)]) in (1, 2)
    assert sentence in capsys.readouterr().err


def test_with_nothing_to_serve_it_says_so(tmp_path: Path, home: Path) -> None:
    done = run("link", "cursor", home=home, cwd=tmp_path)
    assert done.code == 1 and "there is nothing to serve" in done.err


def test_a_path_that_a_client_would_expand_is_refused(
    project: Path, tmp_path: Path, home: Path
) -> None:
    odd = project.rename(tmp_path / "a${HOME}b")
    done = run("link", "cursor", "codex", home=home, cwd=odd)
    assert done.code == 1 and "would replace '${'" in done.err
    assert '${HOME}b"' in (home / ".codex" / "config.toml").read_text()


def test_the_commands_import_no_yaml_unless_they_meet_some(project: Path, home: Path) -> None:
    code = (
        "import sys; from toolyard.cli import main;"
        f"main(['link', 'cursor', '--home', {str(home)!r}]); assert 'yaml' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], cwd=project, check=True, capture_output=True)


def test_links_that_are_made_at_the_same_time_are_all_there(project: Path, home: Path) -> None:
    names = [f"demo-{number}" for number in range(6)]
    words = [sys.executable, "-m", "toolyard", "link", "cursor", "--home", str(home), "--name"]
    running = [
        subprocess.Popen([*words, name], cwd=project, env=environment(), stdout=subprocess.PIPE)
        for name in names
    ]
    assert [process.communicate()[0] and process.returncode for process in running] == [0] * 6
    servers = json.loads((home / ".cursor" / "mcp.json").read_text())["mcpServers"]
    assert set(servers) == {"gh", *names}
    assert run("unlink", "--all", home=home, cwd=project).code == 0
    assert json.loads((home / ".cursor" / "mcp.json").read_text()) == json.loads(THEIRS)
