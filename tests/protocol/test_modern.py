"""The envelope of a modern request, and what the server says of itself."""

from __future__ import annotations

from typing import Any

import pytest

from tests.protocol.outcome import Refusal, outcome, refusal
from toolyard.protocol.client import Client
from toolyard.protocol.eras.modern import (
    Envelope,
    discover,
    is_modern,
    open_envelope,
    stamp,
    unsupported,
)
from toolyard.protocol.identity import Identity
from toolyard.protocol.revisions import R2026_07_28

PREFIX = "io.modelcontextprotocol/"
NOBODY = Client({}, {})


def meta(**keys: Any) -> dict[str, Any]:
    """The params with a good envelope, but for the keys that are given; None takes one away."""
    given = {"protocolVersion": "2026-07-28", "clientCapabilities": {}, **keys}
    return {"_meta": {PREFIX + key: value for key, value in given.items() if value is not None}}


def missing(key: str) -> Refusal:
    why = f'Invalid params: _meta["{PREFIX}{key}"] is missing or has the wrong type'
    return Refusal(-32602, why)


def envelope(client: Client = NOBODY, level: str | None = None, **rest: Any) -> Envelope:
    return Envelope("2026-07-28", client, level, rest)


@pytest.mark.parametrize(
    ("params", "read"),
    [
        (meta(), envelope()),
        (meta(clientInfo={"name": "c"}), envelope(Client({"name": "c"}, {}))),
        (meta(clientInfo="c"), envelope()),
        (meta(clientCapabilities={"roots": {}}), envelope(Client({}, {"roots": {}}))),
        (meta(logLevel="debug"), envelope(level="debug")),
        (meta(serverInfo={"name": "forged"}), envelope()),
        ({"_meta": {**meta()["_meta"], "progressToken": 1}}, envelope(progressToken=1)),
        (meta(protocolVersion="soon"), Envelope("soon", NOBODY, None, {})),
        ({}, missing("protocolVersion")),
        ({"_meta": []}, missing("protocolVersion")),
        (meta(protocolVersion=7), missing("protocolVersion")),
        (meta(clientCapabilities=None), missing("clientCapabilities")),
        (meta(clientCapabilities=[]), missing("clientCapabilities")),
        (meta(logLevel="loud"), Refusal(-32602, "Unknown log level in _meta: 'loud'")),
        (meta(logLevel=["debug"]), Refusal(-32602, "Unknown log level in _meta: ['debug']")),
    ],
)
def test_an_envelope_is_opened(params: Any, read: Any) -> None:
    assert outcome(open_envelope, params) == read


@pytest.mark.parametrize(
    ("params", "modern"),
    [
        (meta(), True),
        (meta(clientCapabilities=None, protocolVersion=7), True),
        (meta(protocolVersion=None), False),
        ({"_meta": {"progressToken": 1}}, False),
        ({"_meta": [PREFIX + "protocolVersion"]}, False),
        ({}, False),
    ],
)
def test_a_request_is_modern_when_it_names_its_version(params: Any, modern: bool) -> None:
    assert is_modern(params) is modern


@pytest.mark.parametrize("version", ["2025-11-25", "soon", ""])
def test_a_version_without_envelopes_is_refused_with_those_that_have_them(version: str) -> None:
    refused = Refusal(
        -32022,
        "Unsupported protocol version",
        {"supported": ["2026-07-28"], "requested": version},
    )
    assert refusal(unsupported(version)) == refused
    assert outcome(lambda: Envelope(version, NOBODY, None, {}).revision) == refused
    assert envelope().revision is R2026_07_28


def test_what_the_server_says_of_itself() -> None:
    server = Identity({"name": "s", "icons": []}, "Be kind.", {"tools": {}})
    said = {
        "supportedVersions": ["2026-07-28"],
        "capabilities": {"tools": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}},
        "ttlMs": 0,
        "cacheScope": "private",
        "instructions": "Be kind.",
    }
    assert discover(server, R2026_07_28, NOBODY) == said
    del said["instructions"]
    assert discover(server._replace(instructions=None), R2026_07_28, NOBODY) == said
    assert stamp(server) == {PREFIX + "serverInfo": {"name": "s", "icons": []}}
