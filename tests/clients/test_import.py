"""toolyard import: eight clients, thirty servers, one registry that serves."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import Done, toolyard
from tests.clients.conftest import LOCAL, Desk
from tests.clients.workplace import LITTLE, PYTHON, SECRETS, furnish
from tests.peers.serving import environment
from tests.peers.serving import toolyard as command
from toolyard.clients.entries import Local, Remote
from toolyard.clients.table import CLIENTS
from toolyard.errors import ConfigError

NAMES = {
    *("github", "filesystem", "memory", "stripe", "odd", "linear", "remote", "off", "database"),
    *("github-claude-code", "query", "local", "slack", "hosted", "time", "postgres", "later"),
    "bridge",
}

OTHER = Local("/opt/bin/other", ("run", "x"), {"MODE": "plain"})


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    furnish(folder)
    return folder


def run_import(home: Path, *words: str, cwd: Path | None = None) -> Done:
    done = toolyard("import", *words, "--home", home, cwd=cwd or home)
    for name, secret in SECRETS.items():
        assert secret not in done.out + done.err, name
    return done


def servers_of(path: Path) -> dict[str, dict[str, Any]]:
    return {server["name"]: server for server in json.loads(path.read_text())["servers"]}


def test_thirty_servers_of_eight_clients_become_one_registry(home: Path) -> None:
    report = run_import(home, "--json").json
    outcomes = [line["outcome"] for line in report["servers"]]
    assert len(outcomes) == 30
    assert len({line["client"] for line in report["servers"]}) == 8
    assert outcomes.count("imported") == len(NAMES) == 18
    assert (outcomes.count("known"), outcomes.count("ours"), outcomes.count("skipped")) == (
        10,
        1,
        1,
    )
    servers = servers_of(home / "registry.json")
    assert set(servers) == NAMES
    assert all(server["expose"] in ("all", ["files-tool"]) for server in servers.values())


def test_no_secret_is_in_the_registry_and_each_has_a_variable(home: Path) -> None:
    report = run_import(home, "--json", "--env-file", "secrets.env").json
    text = (home / "registry.json").read_text()
    for name, secret in SECRETS.items():
        assert secret not in text, name
    assert "hunter2" not in text
    env = home / "secrets.env"
    assert env.stat().st_mode & 0o777 == 0o600
    shell = subprocess.run(
        ["bash", "-c", f"set -a; . {env}; env -0"], capture_output=True, text=True, check=True
    )
    values = {line.partition("=")[2] for line in shell.stdout.split("\0")}
    assert set(SECRETS.values()) <= values
    names = {variable["name"] for variable in report["variables"]}
    assert {"GITHUB_TOKEN", "GITHUB_GITHUB_TOKEN", "LINEAR_API_KEY", "PG_TOKEN"} <= names


def test_each_client_is_read_in_its_own_words(home: Path) -> None:
    run_import(home)
    servers = servers_of(home / "registry.json")
    assert servers["off"]["disabled"] == "off in Cursor"
    assert servers["later"]["disabled"] == "off in Gemini CLI"
    assert servers["slack"] == {
        "name": "slack",
        "stdio": {"command": PYTHON, "args": [LITTLE, "slack", "--token", "${SLACK_TOKEN}"]},
        "expose": "all",
        "timeoutSecs": 30,
        "disabled": "off in Codex",
    }
    assert servers["hosted"]["headers"] == {"Authorization": "Bearer ${HOSTED_TOKEN}"}
    assert servers["database"]["stdio"]["args"][-1] == "${INPUT_DB_URL}"
    assert servers["odd"]["stdio"]["args"][-1] == "${TOOLYARD_DOLLAR:-$}{NOT_MINE}"
    assert servers["bridge"]["url"] == "https://bridge.example/mcp"
    assert servers["bridge"]["headers"] == {"X-Token": "${BRIDGE_X_TOKEN}"}
    assert servers["query"] == {
        "name": "query",
        "url": "http://q.example/sse?key=${QUERY_KEY}",
        "transport": "sse",
        "expose": "all",
    }
    assert servers["local"]["stdio"]["cwd"] == "/srv/app"
    assert servers["time"]["timeoutSecs"] == 60


def test_a_second_import_writes_nothing(home: Path) -> None:
    run_import(home)
    before = (home / "registry.json").stat()
    report = run_import(home, "--json").json
    assert report["added"] == []
    run_import(home, "--env-file", "later.env")
    assert SECRETS["github"] in (home / "later.env").read_text()
    assert (home / "registry.json").stat().st_mtime_ns == before.st_mtime_ns


def test_an_import_into_a_registry_with_comments_keeps_them(home: Path) -> None:
    registry = home / "registry.json"
    own = '{"name": "own", "url": "http://own/mcp"} // last'
    text = f'{{\n  // mine\n  "servers": [\n    {own}\n  ]\n}}\n'
    registry.write_text(text)
    run_import(home, "codex")
    assert registry.read_text().endswith(text.partition("[\n")[2])
    assert "// mine" in registry.read_text()
    done = toolyard("registry", "check", "--registry", registry, cwd=home)
    assert done.code in (0, 1) and "4 servers" in done.out


def test_the_registry_serves_with_the_values_that_the_clients_had(home: Path) -> None:
    run_import(home, "--env-file", "secrets.env")
    words = command("serve", home / "registry.json", "--env-file", home / "secrets.env")
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t"}}
    requests = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
        {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "time-tool"}},
    ]
    done = subprocess.run(
        words,
        input="".join(json.dumps(request) + "\n" for request in requests),
        env=environment({"HOME": str(home), "INPUT_DB_URL": "db://x"}),
        cwd=home,
        capture_output=True,
        text=True,
        timeout=60,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    tools = next(a["result"]["tools"] for a in answers if a.get("id") == 2)
    seen = {tool["name"]: json.loads(tool["description"]) for tool in tools}
    assert seen["stripe-tool"][0] == [f"--api-key={SECRETS['stripe']}"]
    assert seen["odd-tool"][0] == ["${NOT_MINE}"]
    assert seen["linear-tool"][1]["LINEAR_API_KEY"] == SECRETS["linear"]
    assert seen["postgres-tool"][0] == [SECRETS["dsn"]]
    assert {"files-tool", "memory-tool", "time-tool", "database-tool"} <= set(seen)
    assert not {"off-tool", "slack-tool", "later-tool"} & set(seen)
    called = next(answer["result"] for answer in answers if answer.get("id") == 3)
    assert called["content"] == [{"type": "text", "text": "time here"}]


def test_clients_are_linked_to_the_registry_in_place_of_their_servers(home: Path) -> None:
    before = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}
    left = run_import(home, "--link")
    assert left.code == 0 and "could be replaced: say --yes" in left.err
    assert all(path.read_bytes() == data for path, data in before.items())
    (home / "registry.json").unlink()
    done = run_import(home, "--link", "--yes", "--env-file", "secrets.env")
    assert done.code == 0, done.err
    assert done.out.count("in place of") == 8
    cursor = (home / ".cursor" / "mcp.json").read_text()
    assert "// the same again" in cursor and "github" not in cursor
    code = json.loads((home / ".config/Code/User/mcp.json").read_text())
    assert list(code["servers"]) == ["toolyard"] and code["inputs"]
    goose = (home / ".config/goose/config.yaml").read_text()
    assert "developer:" in goose and "github" not in goose
    backups = list((home / ".cursor").glob("mcp.json.toolyard-backup-*"))
    assert [b.read_bytes() for b in backups] == [before[home / ".cursor" / "mcp.json"]]
    listing = toolyard("link", "--list", "--json", "--home", home, cwd=home).json
    works = {row["client"]: row.get("works") for row in listing if row["here"]}
    linked = ("claude-desktop", "cursor", "vscode", "codex", "goose", "opencode", "gemini")
    assert {works[client] for client in linked} == {"works"}
    dry = toolyard("unlink", "--all", "--dry-run", "--home", home, cwd=home)
    assert "+" in dry.out
    assert not [secret for secret in SECRETS.values() if secret in dry.out]
    unlinked = toolyard("unlink", "--all", "--home", home, cwd=home)
    assert unlinked.out.count("what it had replaced is back") == 8
    assert {path: path.read_bytes() for path in before} == before
    assert list(Desk(home).records.all()) == []


def test_files_are_named_by_path_and_broken_ones_said_to_be(home: Path, tmp_path: Path) -> None:
    plain = tmp_path / "servers.json"
    plain.write_text('{"mcpServers": {"a": {"command": "x", "timeout": 5}}}')
    broken = tmp_path / "broken.json"
    broken.write_text("{")
    done = run_import(home, str(plain), str(broken), "--json")
    assert done.code == 1
    outcomes = {line["file"]: line["outcome"] for line in done.json["servers"]}
    assert outcomes == {str(plain): "imported", str(broken): "broken"}
    assert servers_of(home / "registry.json")["a"]["timeoutSecs"] == 5
    assert run_import(home, "nobody").code == 2


def test_every_link_of_ours_is_noticed(memory: Path) -> None:
    desk = Desk(memory)
    for number, client in enumerate(CLIENTS.values()):
        if client.user and client.id != "librechat":
            has_http = number % 2 and client.remote is not None
            desk.link(desk.file(client), Remote("http://127.0.0.1:8080/mcp") if has_http else LOCAL)
    report = run_import(memory, "--json").json
    assert {line["outcome"] for line in report["servers"]} == {"ours"}
    assert len(report["servers"]) >= 28
    assert not (memory / "registry.json").exists()


def test_an_env_file_that_others_may_read_is_refused(home: Path) -> None:
    env = home / "open.env"
    env.write_text("A=1\n")
    os.chmod(env, 0o644)
    done = toolyard("serve", home, "--env-file", env, cwd=home)
    assert done.code == 2 and "chmod 600" in done.err


@pytest.mark.parametrize("server", [OTHER, Remote("https://other.example/mcp", "OTHER_TOKEN")])
def test_what_every_client_has_in_its_own_words_is_one_server(
    memory: Path, server: Local | Remote
) -> None:
    """Linked everywhere and imported again, thirty spellings mean the same."""
    desk = Desk(memory)
    clients = []
    for client in CLIENTS.values():
        if client.user and client.id != "librechat":
            try:
                desk.link(desk.file(client), server, "other")
                clients.append(client.id)
            except ConfigError:
                continue
    for record in list(desk.records.all()):
        desk.records.forget(record)  # somebody else's server, as far as we know
    report = run_import(memory, "--json").json
    assert len(clients) >= 19
    assert [line["client"] for line in report["servers"]] == clients
    assert [line["lost"] for line in report["servers"] if line["lost"]] == []
    assert report["added"] == ["other"]
    expected = (
        {"stdio": {"command": server.command, "args": list(server.args)}}
        if isinstance(server, Local)
        else {
            "url": server.url,
            "headers": {"Authorization": "Bearer ${OTHER_TOKEN}"},
            "transport": "streamablehttp",
        }
    )
    imported = servers_of(memory / "registry.json")["other"]
    assert {key: imported[key] for key in expected} == expected
