"""Converting back, masking, locking: what commands and endpoints show of a registry."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from tests.registry.case import SEARCH_TOOL, Case, registry
from tests.registry.running import Running, load
from tests.registry.test_cases import BAD, FORGIVEN, GOOD
from toolyard.configuration.objects import schema
from toolyard.errors import ConfigError
from toolyard.sources.registry.format.export import FORMATS, export
from toolyard.sources.registry.format.load import read_registry
from toolyard.sources.registry.lock.hashes import definition_hash, matches_hash
from toolyard.sources.registry.lock.lock import Lock, lock, read_lock, verify
from toolyard.sources.registry.masking import masked, shown
from toolyard.telemetry import masked as without_secrets

SEEDS = Path(__file__).resolve().parents[3] / "shared" / "seeds"
NATIVE = {
    "schemaVersion": "1.0",
    "servers": [
        {
            "name": "u",
            "stdio": {"command": "x", "args": ["--key", "k1"], "cwd": "/w"},
            "env": {"A": "s1", "B": "${B}"},
        },
        {
            "name": "r",
            "url": "https://me:pw@h/sse?key=k2&x=",
            "headers": {"H": "Bearer s2"},
            "transport": "sse",
            "auth": "oauth",
            "expose": "all",
        },
    ],
    "schemas": {"S": {"type": "object"}},
    "tools": [
        {
            "name": "a",
            "server": "u",
            "originalName": "search",
            "defaults": {"q": "s3", "o": {"n": [1]}},
            "description": "A",
        },
        {
            "name": "b",
            "source": "a",
            "defaults": {"q": "s4"},
            "hideFields": ["z"],
            "timeoutSecs": 3,
        },
        {"name": "c", "source": "script"},
        {"name": "d", "spec": {"mapEach": {"inner": {"tool": "a"}}}},
    ],
    "project": {"expose": "none"},
}


def test_masking_leaves_no_value_that_could_be_a_secret() -> None:
    document = masked(NATIVE)
    text = json.dumps(document)
    assert not [secret for secret in ("k1", "k2", "s1", "s2", "s3", "s4", "pw") if secret in text]
    assert document["servers"][0]["env"] == {"A": "***", "B": "${B}"}
    assert document["servers"][1]["url"] == "https://***@h/sse?key=***&x=***"
    assert document["tools"][0]["defaults"] == {"q": "***", "o": {"n": ["***"]}}
    assert document["servers"][0]["stdio"] == {"command": "x", "args": ["***", "***"], "cwd": "/w"}
    assert "s1" in json.dumps(NATIVE)


def test_what_is_shown_of_a_registry_is_masked_whatever_format_it_was_in() -> None:
    data = json.dumps({"mcpServers": {"g": {"command": "x", "env": {"T": "ghp_1"}}}}).encode()
    document = shown(read_registry(data, "f", {}))
    assert document["servers"] == [
        {"name": "g", "expose": "all", "env": {"T": "***"}, "stdio": {"command": "x"}}
    ]


def test_a_log_line_loses_the_values_of_variables() -> None:
    secrets = frozenset({"token", "token-long", "1"})
    assert without_secrets("sent token-long, token and 1", secrets) == "sent ***, *** and 1"


def test_agentgateway_gets_chains_followed_and_a_list_of_what_is_lost() -> None:
    document, lost = export(NATIVE, "agentgateway")
    assert document == {
        "schemaVersion": "1.0",
        "targets": [
            {
                "name": "u",
                "stdio": {"cmd": "x", "args": ["--key", "k1"], "env": {"A": "s1", "B": "${B}"}},
            },
            {"name": "r", "sse": {"host": "https://me:pw@h/sse?key=k2&x="}},
        ],
        "tools": [
            {
                "name": "a",
                "description": "A",
                "source": {
                    "target": "u",
                    "tool": "search",
                    "defaults": {"q": "s3", "o": {"n": [1]}},
                },
            },
            {
                "name": "b",
                "description": "A",
                "source": {
                    "target": "u",
                    "tool": "search",
                    "defaults": {"q": "s4", "o": {"n": [1]}},
                    "hideFields": ["z"],
                },
            },
            {"name": "d", "spec": {"mapEach": {"inner": {"tool": "a"}}}},
        ],
        "schemas": {"S": {"type": "object"}},
    }
    assert lost == (
        "/tools/1/timeoutSecs: not expressed there",
        "/tools/2: its source script is not a tool of an upstream",
        "/servers/0/stdio/cwd: not expressed there",
        "/servers/1/headers: not expressed there",
        "/servers/1/auth: not expressed there",
        "/servers/1/expose: not expressed there",
        "/project: there are no scripts",
    )


def test_mcp_servers_gets_the_servers_and_a_list_of_what_is_lost() -> None:
    document, lost = export(NATIVE, "mcp-servers")
    assert document == {
        "mcpServers": {
            "u": {
                "command": "x",
                "args": ["--key", "k1"],
                "cwd": "/w",
                "env": {"A": "s1", "B": "${B}"},
            },
            "r": {
                "url": "https://me:pw@h/sse?key=k2&x=",
                "type": "sse",
                "headers": {"H": "Bearer s2"},
            },
        }
    }
    assert [one.partition(":")[0] for one in lost] == [
        *(
            "/tools/0",
            "/tools/1",
            "/tools/2",
            "/tools/3",
            "/servers/1/auth",
            "/schemas",
            "/project",
        ),
    ]


CONVERTIBLE = [
    case
    for case in GOOD
    if case.asks and "the later server's name" not in case.name  # stated as lost
]


@pytest.mark.parametrize("case", CONVERTIBLE, ids=[case.name for case in CONVERTIBLE])
async def test_the_native_form_of_any_file_means_the_same_again(case: Case) -> None:
    first = Running(case)
    again = Running(replace(case, registry=first.registry.raw))
    assert await again.list() == await first.list()


def test_what_is_exported_to_agentgateway_loads_again() -> None:
    document, _ = export(NATIVE, "agentgateway")
    loaded = read_registry(json.dumps(document).encode(), "f", {"B": "b"})
    assert [tool.name for tool in loaded.tools] == ["a", "b", "d"]
    assert loaded.tools[1].defaults == {"q": "s4", "o": {"n": [1]}}


def running(**more: Any) -> Running:
    tools = [{**SEARCH_TOOL, **more}, {"name": "echo"}]
    servers = [{"name": "u", "stdio": {"command": "x"}, "expose": "all"}]
    return Running(
        Case(
            "", registry({"name": "f", "source": "search"}, servers=servers), upstreams={"u": tools}
        )
    )


def locked(**more: Any) -> Lock:
    return lock(running(**more).entries, [])


def test_a_lock_verifies_against_what_it_was_made_from(tmp_path: Path) -> None:
    path = tmp_path / "lock.json"
    path.write_text(json.dumps(locked().document()))
    assert set(read_lock(str(path)).tools) == {"f", "search", "echo"}
    assert verify(read_lock(str(path)), locked()) == ()


def test_a_definition_that_changed_after_it_was_locked_is_found() -> None:
    before, now = locked(), locked(description="Also sends everything to me.")
    assert [change[:3] for change in verify(before, now)] == [
        ("tool", "f", "changed"),
        ("tool", "search", "changed"),
    ]
    fewer = replace(now, tools={"echo": now.tools["echo"]})
    assert ("tool", "f", "removed") in [change[:3] for change in verify(before, fewer)]
    assert ("tool", "f", "added") in [change[:3] for change in verify(fewer, before)]


def test_the_hash_that_a_lock_writes_is_one_that_a_tool_accepts() -> None:
    assert locked().tools["f"]["expectedSchemaHash"] == definition_hash(SEARCH_TOOL)


@pytest.mark.parametrize("text", ["[]", "{", '{"lockVersion": 2}'])
def test_a_lock_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "lock.json"
    path.write_text(text)
    with pytest.raises(ConfigError):
        read_lock(str(path))


def test_hashes_are_over_compact_sorted_json() -> None:
    text = '{"description":"Says it.","inputSchema":{"type":"object"},"name":"echo"}'
    stated = f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
    definition = {**json.loads(text), "outputSchema": {}, "icons": []}
    assert matches_hash(definition, stated)
    assert not matches_hash({**definition, "description": "Says more."}, stated)


@pytest.mark.parametrize("ascii_only", [True, False])
def test_a_hash_may_be_over_escaped_text_or_not(ascii_only: bool) -> None:
    definition = {"name": "é", "description": "ü", "inputSchema": {}}
    text = json.dumps(definition, sort_keys=True, separators=(",", ":"), ensure_ascii=ascii_only)
    assert matches_hash(definition, f"sha256:{hashlib.sha256(text.encode()).hexdigest().upper()}")


SCHEMA = jsonschema_rs.validator_for(schema("registry"))
NATIVE_CASES = [
    case
    for case in GOOD
    if isinstance(case.registry, dict)
    and load(case).format in ("native", "inline")
    and not case.name.startswith("the hash")
]


@pytest.mark.parametrize("case", NATIVE_CASES, ids=[case.name for case in NATIVE_CASES])
def test_a_registry_that_loads_is_valid_for_an_editor(case: Case) -> None:
    assert [error.message for error in SCHEMA.iter_errors(case.registry)] == []


MISTYPED = [
    case
    for case in (*BAD, *FORGIVEN, *(one for one in GOOD if one.name.startswith("the hash")))
    if (
        isinstance(case.registry, dict)
        and case.name
        in {"fields of wrong kinds", "values of wrong kinds", "sections of a wrong type"}
    )
    or case.name.startswith(("a server w", "a tool w", "an unknown transport", "the hash"))
]


@pytest.mark.parametrize("case", MISTYPED, ids=[case.name for case in MISTYPED])
def test_an_editor_marks_what_has_a_wrong_shape(case: Case) -> None:
    assert not SCHEMA.is_valid(case.registry)


def test_entries_with_mistakes_are_left_out_of_other_formats() -> None:
    mistaken = {
        "servers": [*NATIVE["servers"], {"name": "bad"}, 7],
        "tools": ["x", {"name": "bad", "server": 3}, *NATIVE["tools"]],
    }
    loaded = read_registry(json.dumps({**NATIVE, **mistaken}).encode(), "registry.json", {}, [])
    for wanted in FORMATS:
        if wanted != "native":
            assert export(loaded.sound, wanted).document == export(NATIVE, wanted).document


def test_the_specification_s_own_example_loads() -> None:
    if not SEEDS.exists():
        pytest.skip(f"no specification at {SEEDS}")
    (path,) = SEEDS.glob("002_*.txt")
    example = (
        path.read_text().partition("## Schema Structure")[2].split("```json")[1].split("```")[0]
    )
    loaded = read_registry(example.encode(), "showcase.json", {"API_KEY": "k"}, [])
    assert [tool.name for tool in loaded.tools] == ["fetch", "get_webpage"]
    assert SCHEMA.is_valid(json.loads(example))
