"""Whatever a file holds, it is read or said to be unusable; no known secret gets through."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from toolyard.clients.importing.entries_in import ServerFile
from toolyard.clients.importing.gathering import Gathering
from toolyard.clients.importing.merging import Merging
from toolyard.clients.table import CLIENTS
from toolyard.sources.registry.format.load import read_registry

SECRET = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"
KEYS = st.sampled_from(
    [
        *("command", "args", "env", "url", "headers", "type", "transport", "cwd", "timeout"),
        *("disabled", "enabled", "tools", "cmd", "envs", "env_vars", "httpUrl", "serverUrl"),
        *("auth", "api_key_env", "apiKey", "requestOptions", "environment", "env_http_headers"),
    ]
)
TEXTS = st.one_of(
    st.text(max_size=6),
    st.sampled_from(
        [
            *(
                "npx",
                "-y",
                "mcp-remote",
                "http://h/mcp",
                "http://[",
                "http://u:p@h:x/",
                "${X}",
                "$X",
            ),
            *(
                "${input:a}",
                "{env:X}",
                "{file:/x}",
                "${{ secrets.X }}",
                "${file:x}",
                "--header",
                "a: b",
            ),
            *("http", "sse", "stdio", "builtin", "ws", "cmd", "/c", "Bearer x", "YOUR_KEY", "<x>"),
        ]
    ),
)
VALUES = st.recursive(
    st.one_of(TEXTS, st.none(), st.booleans(), st.integers(), st.floats(-9, 9)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.one_of(KEYS, TEXTS), inner, max_size=3)
    ),
    max_leaves=8,
)
ENTRIES = st.dictionaries(TEXTS, st.dictionaries(KEYS, VALUES, max_size=5), max_size=3)


@settings(
    max_examples=200,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@example({"s": {"command": "\0"}}, "cursor")
@example({"s": {"command": "\ud800"}}, "cursor")
@example({"s": {"command": ["", "x"]}}, "opencode")
@given(ENTRIES, st.sampled_from(["cursor", "gemini", "zed", "opencode", "claude-code"]))
def test_anything_under_a_clients_key_becomes_a_registry_that_loads(
    tmp_path: Path, entries: dict[str, Any], name: str
) -> None:
    client = CLIENTS[name]
    path = tmp_path / "file.json"
    path.write_text(json.dumps({client.container[0]: entries}))
    gathering = Gathering(Merging())
    gathering.gather([ServerFile(client, str(path))])
    assert len(gathering.lines) == max(len(entries), 1)
    registry = json.dumps({"servers": gathering.servers}).encode()
    assert len(read_registry(registry, "r", {}).servers) == len(gathering.servers)


@pytest.mark.parametrize(
    "entry",
    [
        {"command": "x", "env": {"A": SECRET}},
        {"command": "x", "args": ["--token", SECRET]},
        {"command": "x", "args": [f"--anything={SECRET}"]},
        {"command": "x", "args": [SECRET]},
        {"command": "x", "args": ["-H", f"X-Key: {SECRET}"]},
        {"command": "x", "args": [f"https://h/{SECRET}/mcp"]},
        {"command": "x", "args": [f"postgres://u:{SECRET}@h/d"]},
        {"command": ["x", f"--key={SECRET}"]},
        {"url": f"https://h/mcp?k={SECRET}"},
        {"url": f"https://u:{SECRET}@h/mcp"},
        {"url": f"https://h/{SECRET}/mcp"},
        {"url": "https://h/mcp", "headers": {"X": SECRET}},
        {"url": "https://h/mcp", "headers": {"Authorization": f"Bearer {SECRET}"}},
        {"url": "https://h/mcp", "apiKey": SECRET},
        {"url": "https://h/mcp", "oauth": {"clientSecret": SECRET}},
        {"command": "npx", "args": ["mcp-remote", "https://h/mcp", "--header", f"A: {SECRET}"]},
        {"command": "sh", "args": ["-c", f"TOKEN={SECRET} exec x"]},
        {"command": f"TOKEN={SECRET}"},
        {"command": "x", "description": f"my {SECRET}"},
    ],
    ids=str,
)
def test_a_secret_in_any_place_stays_out_of_the_registry(
    tmp_path: Path, entry: dict[str, Any]
) -> None:
    path = tmp_path / "file.json"
    path.write_text(json.dumps({"mcpServers": {"s": entry}}))
    gathering = Gathering(Merging())
    gathering.gather([ServerFile(CLIENTS["cursor"], str(path))])
    assert SECRET not in json.dumps(gathering.servers)
    assert SECRET not in repr(gathering.lines)
