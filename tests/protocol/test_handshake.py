"""`initialize` in, what it settles out; and the rules of a session."""

from __future__ import annotations

from typing import Any

import pytest

from tests.protocol.outcome import Refusal, outcome
from toolyard.protocol.eras.handshake import gate, greet, log_level
from toolyard.protocol.eras.manner import OF_MCP_BASH, PLAIN, manner_of
from toolyard.protocol.identity import Identity
from toolyard.protocol.revisions import HANDSHAKE, LIKE_MCP_BASH
from toolyard.protocol.values import LOG_LEVELS

SERVER = Identity({"name": "s", "title": "S", "icons": []}, "Be kind.", {"tools": {"a": 1}})


def test_the_whole_answer() -> None:
    capabilities: dict[str, Any] = {"roots": {}, "elicitation": {}, "tasks": {}}
    params = {
        "protocolVersion": "2025-06-18",
        "clientInfo": {"name": "c"},
        "capabilities": capabilities,
    }
    greeting = greet(SERVER, params)
    assert greeting.result == {
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {"a": 1}},
        "serverInfo": {"name": "s", "title": "S"},
        "instructions": "Be kind.",
    }
    assert greeting.revision is HANDSHAKE["2025-06-18"]
    assert greeting.client.info == {"name": "c"}
    assert greeting.client.capabilities == capabilities
    assert greeting.client.key == '{"elicitation":{},"roots":{}}'


NOT_KNOWN = "Supported: 2025-11-25,2025-06-18,2025-03-26,2024-11-05"


@pytest.mark.parametrize(
    ("asked", "plain", "like_mcp_bash"),
    [
        ({"protocolVersion": "2024-11-05"}, "2024-11-05", "2024-11-05"),
        ({"protocolVersion": "2025-11-25"}, "2025-11-25", "2025-11-25"),
        ({}, "2025-11-25", "2025-11-25"),
        ({"protocolVersion": "2026-07-28"}, "2025-11-25", "2026-07-28"),
        ({"protocolVersion": "soon"}, "2025-11-25", "soon"),
        ({"protocolVersion": 7}, "2025-11-25", "7"),
        ({"protocolVersion": ["2025-11-25"]}, "2025-11-25", "['2025-11-25']"),
    ],
)
def test_the_revision_is_negotiated_or_refused_as_the_manner_is(
    asked: Any, plain: str, like_mcp_bash: str
) -> None:
    assert greet(SERVER, asked, PLAIN).revision is HANDSHAKE[plain]
    strictly = outcome(greet, SERVER, asked, OF_MCP_BASH)
    if like_mcp_bash in LIKE_MCP_BASH:
        assert strictly.revision is LIKE_MCP_BASH[like_mcp_bash]
    else:
        said = f"Unsupported protocol version: {like_mcp_bash}. {NOT_KNOWN}"
        assert strictly == Refusal(-32602, said)


@pytest.mark.parametrize("odd", [None, 7, [], "x"])
def test_a_client_that_says_nothing_sensible_of_itself_can_do_nothing(odd: Any) -> None:
    greeting = greet(SERVER, {"clientInfo": odd, "capabilities": odd})
    assert greeting.client == ({}, {}, "")


def test_the_manner_goes_by_the_name_of_the_program() -> None:
    assert manner_of(like_mcp_bash=True) is OF_MCP_BASH
    assert manner_of(like_mcp_bash=False) is PLAIN


def test_instructions_are_for_revisions_that_have_them_and_left_out_where_there_are_none() -> None:
    oldest = {"protocolVersion": "2024-11-05"}
    assert "instructions" in greet(SERVER, oldest).result
    assert "instructions" not in greet(SERVER, oldest, OF_MCP_BASH).result
    assert "instructions" not in greet(Identity({"name": "s"}, ""), {}).result


TOO_EARLY = Refusal(-32000, "Server not initialized")


@pytest.mark.parametrize(
    ("method", "before"),
    [
        ("initialize", None),
        ("ping", None),
        ("shutdown", None),
        ("exit", None),
        ("tools/list", TOO_EARLY),
        ("logging/setLevel", TOO_EARLY),
        ("unheard/of", TOO_EARLY),
    ],
)
def test_what_may_come_before_the_client_is_ready(method: str, before: Any) -> None:
    assert outcome(lambda: gate(method, initialized=False)) == before
    assert outcome(lambda: gate(method, initialized=True)) is None


NO_LEVEL = Refusal(-32602, "Invalid log level", {"allowed": list(LOG_LEVELS)})


@pytest.mark.parametrize(
    ("params", "plain", "like_mcp_bash"),
    [
        *(({"level": level}, level, level) for level in LOG_LEVELS),
        ({"level": "DEBUG"}, NO_LEVEL, "debug"),
        ({"level": "loud"}, NO_LEVEL, NO_LEVEL),
        ({"level": ""}, NO_LEVEL, NO_LEVEL),
        ({"level": 7}, NO_LEVEL, NO_LEVEL),
        ({"level": ["debug"]}, NO_LEVEL, NO_LEVEL),
        ({}, NO_LEVEL, NO_LEVEL),
    ],
)
def test_log_levels(params: Any, plain: Any, like_mcp_bash: Any) -> None:
    assert outcome(log_level, params) == plain
    assert outcome(log_level, params, OF_MCP_BASH) == like_mcp_bash
