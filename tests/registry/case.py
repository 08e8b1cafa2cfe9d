"""A registry case as data: a file, what surrounds it, and what must come of it.

Nothing here knows how a case is run: the same table serves the handler in this process and a
gateway over HTTP, whose upstreams then serve what `Upstream` describes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Json = Any
NOTHING = object()


@dataclass(frozen=True)
class Ask:
    """One tools/call and what is expected of it; what is left out is not looked at."""

    tool: str
    arguments: Mapping[str, Json] = field(default_factory=dict)
    # What the underlying tool receives: (server or "script", its name there, arguments).
    reaches: tuple[str, str, Json] | None = None
    structured: Json = NOTHING
    text: str | None = None
    error: str | None = None  # part of the text of an isError result
    refused: int | None = None  # the JSON-RPC code


@dataclass(frozen=True)
class Case:
    name: str
    registry: Json  # the file: a value, or its text
    environ: Mapping[str, str] = field(default_factory=dict)
    # server name -> tools, each with a `result`, or without one to answer with its arguments
    upstreams: Mapping[str, list[Json]] = field(default_factory=dict)
    scripts: list[Json] = field(default_factory=list)
    # What must come of it.
    problems: list[tuple[str, str]] = field(default_factory=list)  # (pointer, part of message)
    # With problems: what stays served in spite of them; None where the file is refused.
    serves: list[str] | None = None
    # And what a call to each disabled tool says.
    disabled: Mapping[str, str] = field(default_factory=dict)
    names: list[str] | None = None
    shows: Mapping[str, Json] = field(default_factory=dict)  # tool -> members of its definition
    lacks: Mapping[str, list[str]] = field(default_factory=dict)  # tool -> members it has not
    asks: list[Ask] = field(default_factory=list)
    warns: list[str] = field(default_factory=list)


def text(value: str) -> Json:
    return {"content": [{"type": "text", "text": value}]}


def obj(required: list[str] | None = None, **properties: Json) -> Json:
    schema: Json = {"type": "object", "properties": properties}
    return {**schema, "required": required} if required else schema


STRING = {"type": "string"}
INTEGER = {"type": "integer"}
SEARCH = text(
    '{"total_count": 2, "items": [{"full_name": "a/x", "stars": 3}, {"full_name": "b/y"}]}'
)
SEARCH_TOOL = {
    "name": "search",
    "title": "Search",
    "description": "Searches.",
    "inputSchema": obj(["q"], q=STRING, sort=STRING, limit=INTEGER),
    "annotations": {"readOnlyHint": True},
    "icons": [{"src": "https://example.com/i.png"}],
    "_meta": {"vendor/x": 1},
}
ECHO_TOOL = {"name": "echo", "description": "Says it.", "inputSchema": obj(["text"], text=STRING)}
U: Mapping[str, list[Json]] = {"u": [{**SEARCH_TOOL, "result": SEARCH}, ECHO_TOOL]}
SERVER = {"name": "u", "stdio": {"command": "fake-upstream"}}


def registry(*tools: Json, servers: list[Json] | None = None, **more: Json) -> Json:
    return {"servers": [SERVER] if servers is None else servers, "tools": list(tools), **more}
