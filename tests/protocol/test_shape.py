"""One result, and what each revision makes of it."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from tests.protocol.outcome import refusal
from toolyard.errors import ProtocolError
from toolyard.protocol.revisions import ALL, LIKE_MCP_BASH
from toolyard.protocol.shape import shape_definition, shape_error, shape_result

R24, R03, R06, R11, R26 = ALL.values()
INFO = "io.modelcontextprotocol/serverInfo"
STAMP = {INFO: {"name": "s"}}
AGED = {"priority": 1, "lastModified": "2026"}
AUDIO = {"type": "audio", "mimeType": "audio/wav", "data": "AA=="}
LINK = {"type": "resource_link", "uri": "file:///a", "name": "a", "title": "A"}
AUDIO_NOTE = "[audio, audio/wav: this client cannot take it]"


def text(said: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": said, **more}


HI = text("hi")


@pytest.mark.parametrize(
    ("revision", "result", "shaped"),
    [
        # What a later revision defines goes; what nobody defines stays.
        (R11, {"content": [HI], "ttlMs": 1, "cacheScope": "p", "x": 1}, {"content": [HI], "x": 1}),
        (R11, {"content": [HI], "resultType": "complete"}, {"content": [HI]}),
        (R11, {"content": [HI], "_meta": STAMP}, {"content": [HI]}),
        (R11, {"content": [HI], "_meta": {**STAMP, "x": 1}}, {"content": [HI], "_meta": {"x": 1}}),
        (R11, {"content": [HI], "_meta": 7}, {"content": [HI], "_meta": 7}),
        # A tool's result always has content.
        (R11, {}, {"content": []}),
        (R11, {"content": None, "isError": True}, {"content": [], "isError": True}),
        # Structured content is seen by those that know it, and told as text where there is none.
        (R11, {"structuredContent": {"a": 1}}, {"content": [], "structuredContent": {"a": 1}}),
        (R11, {"structuredContent": [1]}, {"content": [text("[1]")]}),
        (R11, {"structuredContent": None}, {"content": [text("null")]}),
        (R11, {"content": [HI], "structuredContent": 1}, {"content": [HI]}),
        (R03, {"structuredContent": {"a": 1}}, {"content": [text('{"a":1}')]}),
        (R24, {"content": [HI], "structuredContent": {}}, {"content": [HI]}),
        (
            LIKE_MCP_BASH["2024-11-05"],
            {"content": [HI], "structuredContent": {"a": 1}},
            {"content": [HI], "structuredContent": {"a": 1}},
        ),
        # Kinds of content that a revision lacks are told in words.
        (R06, {"content": [AUDIO, LINK]}, {"content": [AUDIO, LINK]}),
        (R03, {"content": [AUDIO, LINK]}, {"content": [AUDIO, text("A: file:///a")]}),
        (R24, {"content": [AUDIO]}, {"content": [text(AUDIO_NOTE)]}),
        (R24, {"content": [{"type": "resource_link"}]}, {"content": [text("resource: ")]}),
        (R24, {"content": [{**LINK, "title": ""}]}, {"content": [text("a: file:///a")]}),
        (
            R24,
            {"content": [{"type": "audio"}]},
            {"content": [text("[audio, unknown type: this client cannot take it]")]},
        ),
        (R24, {"content": [{"type": "video"}, 7]}, {"content": [{"type": "video"}, 7]}),
        (R24, {"content": [{"type": ["audio"]}]}, {"content": [{"type": ["audio"]}]}),
        # And so are annotations.
        (R06, {"content": [text("", annotations=AGED)]}, {"content": [text("", annotations=AGED)]}),
        (
            R03,
            {"content": [text("", annotations=AGED)]},
            {"content": [text("", annotations={"priority": 1})]},
        ),
    ],
)
def test_a_tool_result_for_a_handshake_client(revision: Any, result: Any, shaped: Any) -> None:
    before = deepcopy(result)
    assert shape_result("tools/call", result, revision, STAMP) == shaped
    assert result == before


def prompt(content: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": content}]}


@pytest.mark.parametrize(
    ("revision", "result", "shaped"),
    [
        (R11, prompt(LINK), prompt(LINK)),
        (R03, prompt(LINK), prompt(text("A: file:///a"))),
        (R24, prompt(AUDIO), prompt(text(AUDIO_NOTE))),
        (R24, {"messages": [7, {"role": "user"}]}, {"messages": [7, {"role": "user"}]}),
        (R24, {"messages": None}, {"messages": None}),
    ],
)
def test_a_prompt_for_a_handshake_client(revision: Any, result: Any, shaped: Any) -> None:
    assert shape_result("prompts/get", result, revision, STAMP) == shaped


UNCACHED = {"resultType": "complete", "_meta": STAMP}
CACHED = {**UNCACHED, "ttlMs": 0, "cacheScope": "private"}


@pytest.mark.parametrize(
    ("method", "result", "shaped"),
    [
        ("tools/call", {}, UNCACHED),
        ("tools/call", {"structuredContent": [1]}, {**UNCACHED, "structuredContent": [1]}),
        ("tools/call", {"_meta": {"x": 1}}, {**UNCACHED, "_meta": {"x": 1, **STAMP}}),
        ("tools/call", {"_meta": {INFO: "forged"}}, UNCACHED),
        ("tools/call", {"_meta": 7}, UNCACHED),
        ("tools/list", {"tools": []}, {**CACHED, "tools": []}),
        ("prompts/list", {}, CACHED),
        ("resources/list", {}, CACHED),
        ("resources/templates/list", {}, CACHED),
        ("server/discover", {}, CACHED),
        ("resources/read", {"ttlMs": 9}, {**CACHED, "ttlMs": 9}),
        ("resources/read", {"cacheScope": "public"}, {**CACHED, "cacheScope": "public"}),
        # A question is not to be cached.
        (
            "resources/read",
            {"resultType": "input_required"},
            {"resultType": "input_required", "_meta": STAMP},
        ),
    ],
)
def test_a_result_for_a_modern_client(method: str, result: Any, shaped: Any) -> None:
    assert shape_result(method, result, R26, STAMP) == shaped


OBJECT = {"type": "object"}
TOOL = {
    "name": "t",
    "title": "T",
    "inputSchema": OBJECT,
    "outputSchema": OBJECT,
    "annotations": AGED,
    "icons": [],
    "execution": {},
    "_meta": {},
    "x": 1,
}
ENTRY = {"uri": "u", "title": "U", "annotations": AGED, "icons": [], "_meta": {}, "x": 1}


def but(definition: dict[str, Any], *names: str, **changes: Any) -> dict[str, Any]:
    return {k: v for k, v in definition.items() if k not in names} | changes


@pytest.mark.parametrize(
    ("revision", "kind", "definition", "shaped"),
    [
        (R26, "tools", TOOL, but(TOOL, "execution")),
        (R11, "tools", TOOL, TOOL),
        (R06, "tools", TOOL, but(TOOL, "icons", "execution")),
        (R03, "tools", TOOL, {"name": "t", "inputSchema": OBJECT, "annotations": AGED, "x": 1}),
        (R24, "tools", TOOL, {"name": "t", "inputSchema": OBJECT, "x": 1}),
        # What comes out must be announced in a form that the revision has.
        (R26, "tools", {"outputSchema": {"type": "array"}}, {"outputSchema": {"type": "array"}}),
        (R11, "tools", {"outputSchema": {"type": "array"}}, {}),
        (R11, "tools", {"outputSchema": {"anyOf": [OBJECT]}}, {}),
        (R11, "tools", {"outputSchema": True}, {}),
        (R26, "resources", ENTRY, ENTRY),
        (R11, "templates", ENTRY, ENTRY),
        (R06, "prompts", ENTRY, but(ENTRY, "icons")),
        (R03, "resources", ENTRY, {"uri": "u", "annotations": {"priority": 1}, "x": 1}),
        (R24, "resources", but(ENTRY, annotations=7), {"uri": "u", "annotations": 7, "x": 1}),
    ],
)
def test_a_definition(revision: Any, kind: str, definition: Any, shaped: Any) -> None:
    assert shape_definition(kind, definition, revision) == shaped


def opening(*urls: str) -> dict[str, Any]:
    return {"elicitations": [{"url": url, "message": "m"} for url in urls]}


@pytest.mark.parametrize(
    ("revision", "error", "shaped"),
    [
        (R26, (-32601, "No", {"a": 1}), (-32601, "No", {"a": 1})),
        (R11, (-32002, "No", {"uri": "u"}), (-32002, "No", {"uri": "u"})),
        (R26, (-32002, "No", {"uri": "u"}), (-32602, "No", {"uri": "u"})),
        (R11, (-32042, "Open", opening("u")), (-32042, "Open", opening("u"))),
        (
            R06,
            (-32042, "Open", opening("u", "v")),
            (-32603, "Open (to be opened first: u, v)", None),
        ),
        (R26, (-32042, "Open", None), (-32603, "Open", None)),
    ],
)
def test_an_error(revision: Any, error: Any, shaped: Any) -> None:
    assert refusal(shape_error(ProtocolError(*error), revision)) == shaped
