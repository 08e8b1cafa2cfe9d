"""Files in other formats: inline servers, mcpServers, VS Code, agentgateway."""

from __future__ import annotations

from typing import Any

from tests.registry.case import STRING, Ask, Case, U, obj, registry, text

INLINE = {"command": "uvx", "args": ["u"]}
TARGETS = [{"name": "u", "stdio": {"cmd": "uvx", "args": ["u"]}}]


def theirs(*tools: Any, **more: Any) -> dict[str, Any]:
    return {"targets": TARGETS, "tools": list(tools), **more}


def transformed(name: str, mapping: Any, document: str, expected: Any, key: str = "x") -> Case:
    tool = {
        "name": "t",
        "source": {"target": "u", "tool": "t"},
        "outputTransform": {"mappings": {key: mapping}},
    }
    return Case(
        name,
        theirs(tool),
        upstreams={"u": [{"name": "t", "result": text(document)}]},
        asks=[Ask("t", structured=expected)],
    )


CASES = [
    Case(
        "an inline server works as a named one",
        {"tools": [{"name": "search", "server": INLINE}]},
        upstreams=U,
        names=["search"],
        asks=[Ask("search", {"q": "x"}, reaches=("u", "search", {"q": "x"}))],
    ),
    Case(
        "identical inline servers are one",
        {
            "tools": [
                {"name": "search", "server": INLINE},
                {"name": "echo", "server": dict(reversed(INLINE.items()))},
            ]
        },
        upstreams=U,
        names=["search", "echo"],
        asks=[Ask("echo", {"text": "x"}, reaches=("u", "echo", {"text": "x"}))],
    ),
    Case(
        "inline and named servers may be mixed",
        registry(
            {"name": "echo", "server": "u"},
            {
                "name": "b",
                "server": {"url": "https://v.example/mcp", "transport": "sse"},
                "originalName": "echo",
            },
        ),
        upstreams={"u": U["u"], "v.example": U["u"]},
        names=["echo", "b"],
        asks=[Ask("b", {"text": "x"}, reaches=("v.example", "echo", {"text": "x"}))],
    ),
    Case(
        "an inline server may call its transport stdio",
        {
            "tools": [
                {"name": "echo", "server": {**INLINE, "transport": "stdio", "env": {"A": "b"}}}
            ]
        },
        upstreams=U,
        names=["echo"],
    ),
    Case(
        "an unset variable in an inline server is placed where it stands",
        {"tools": [{"name": "echo", "server": {"command": "uvx", "args": ["u", "${NOPE}"]}}]},
        upstreams=U,
        names=[],
        asks=[Ask("echo", error="variable NOPE is not set (/tools/0/server/args)")],
    ),
    Case(
        "mcpServers exposes every server whole",
        {"mcpServers": {"u": {"command": "npx", "args": ["-y", "u"], "alwaysAllow": ["x"]}}},
        upstreams=U,
        names=["search", "echo"],
    ),
    Case(
        "mcpServers may name a URL in any of its spellings",
        {
            "mcpServers": {
                "u": {"serverUrl": "https://h/mcp"},
                "v": {"type": "http", "url": "https://h/2"},
                "w": {"httpUrl": "https://h/3"},
            }
        },
        upstreams={"u": U["u"][:1], "v": U["u"][1:]},
        names=["search", "echo"],
    ),
    Case(
        "a disabled server of mcpServers exposes nothing",
        {"mcpServers": {"u": {"command": "x", "disabled": True}}},
        upstreams=U,
        names=[],
    ),
    Case(
        "mcpServers may have virtual tools beside it",
        {"mcpServers": {"u": {"command": "x"}}, "tools": [{"name": "say", "source": "echo"}]},
        upstreams=U,
        names=["say", "search", "echo"],
    ),
    Case(
        "VS Code's servers object is read",
        {
            "inputs": [{"id": "tok", "type": "promptString"}],
            "servers": {
                "u": {
                    "type": "stdio",
                    "command": "x",
                    "env": {"T": "${input:tok}", "H": "${env:HOME}"},
                }
            },
        },
        environ={"INPUT_TOK": "s", "HOME": "/h"},
        upstreams=U,
        names=["search", "echo"],
    ),
    Case(
        "an input that nobody gave disables its server",
        {"servers": {"u": {"url": "https://h", "headers": {"A": "${input:my-tok}"}}}},
        upstreams=U,
        names=[],
        warns=["variable INPUT_MY_TOK is not set (/servers/u/headers/A)"],
    ),
    Case(
        "agentgateway's source object names target and tool",
        theirs(
            {"name": "find", "source": {"target": "u", "tool": "search"}, "description": "Finds."}
        ),
        upstreams=U,
        names=["find"],
        shows={"find": {"description": "Finds.", "title": "Search"}},
        asks=[Ask("find", {"q": "x"}, reaches=("u", "search", {"q": "x"}))],
    ),
    Case(
        "agentgateway's snake_case is read",
        theirs(
            {
                "name": "find",
                "source": {
                    "target": "u",
                    "tool": "search",
                    "defaults": {"sort": "s"},
                    "hide_fields": ["limit"],
                },
                "input_schema": obj(["q"], q=STRING),
                "output_schema": obj(n={"source_field": "$.total_count"}),
            }
        ),
        upstreams=U,
        shows={"find": {"inputSchema": obj(["q"], q=STRING)}},
        asks=[
            Ask(
                "find",
                {"q": "x"},
                reaches=("u", "search", {"q": "x", "sort": "s"}),
                structured={"n": 2},
            )
        ],
    ),
    Case(
        "defaults in agentgateway's source and beside it are joined",
        theirs(
            {
                "name": "find",
                "source": {"target": "u", "tool": "search", "defaults": {"sort": "s", "limit": 1}},
                "defaults": {"limit": 2},
            }
        ),
        upstreams=U,
        asks=[
            Ask("find", {"q": "x"}, reaches=("u", "search", {"q": "x", "sort": "s", "limit": 2}))
        ],
    ),
    Case(
        "agentgateway's targets are found in its configuration",
        {
            "binds": [{"listeners": [{"routes": [{"backends": [{"mcp": {"targets": TARGETS}}]}]}]}],
            "tools": [{"name": "echo", "source": {"target": "u", "tool": "echo"}}],
        },
        upstreams=U,
        names=["echo"],
    ),
    transformed("a mapping takes a path", {"path": "$.a.b"}, '{"a": {"b": 1}}', {"x": 1}),
    transformed("a mapping without a match is left out", {"path": "$.a"}, "{}", {}),
    transformed(
        "a mapping makes a nested key", {"path": "$.a"}, '{"a": 1}', {"x": {"y": {"z": 1}}}, "x.y.z"
    ),
    transformed(
        "a mapping spreads over elements",
        {"path": "$.r[*].n"},
        '{"r": [{"n": 1}, {}, {"n": 3}]}',
        {"x": [{"y": 1}, {}, {"y": 3}]},
        "x[*].y",
    ),
    transformed("a literal string", {"literal": {"stringValue": "s"}}, "{}", {"x": "s"}),
    transformed("a literal number", {"literal": {"numberValue": 1.5}}, "{}", {"x": 1.5}),
    transformed("a literal boolean", {"literal": {"boolValue": False}}, "{}", {"x": False}),
    transformed("a literal null", {"literal": {"nullValue": True}}, "{}", {"x": None}),
    transformed(
        "coalesce takes the first that is there",
        {"coalesce": {"paths": ["$.a", "$.b", "$.c"]}},
        '{"a": null, "b": 2, "c": 3}',
        {"x": 2},
    ),
    transformed("coalesce may be a bare array", {"coalesce": ["$.a", "$.b"]}, '{"b": 2}', {"x": 2}),
    transformed(
        "a template is filled",
        {"template": {"template": "{a}-${b}!{c}", "vars": {"a": "$.x", "b": "$.y"}}},
        '{"x": 1, "y": "z"}',
        {"x": "1-z!{c}"},
    ),
    transformed(
        "concat joins what is there",
        {"concat": {"paths": ["$.a", "$.b", "$.c"], "separator": ", "}},
        '{"a": "x", "c": 3}',
        {"x": "x, 3"},
    ),
    transformed(
        "nested mappings make an object",
        {"nested": {"mappings": {"y": {"path": "$.a"}}}},
        '{"a": 1}',
        {"x": {"y": 1}},
    ),
    transformed(
        "a template in elements reads each",
        {"template": {"template": "<{n}>", "vars": {"n": "$.r[*].n"}}},
        '{"r": [{"n": 1}, {"n": 2}]}',
        {"x": [{"y": "<1>"}, {"y": "<2>"}]},
        "x[*].y",
    ),
    Case(
        "a transform may state its outputSchema, which is checked",
        theirs(
            {
                "name": "t",
                "source": {"target": "u", "tool": "t"},
                "outputTransform": {"mappings": {"n": {"path": "$.a"}}},
                "outputSchema": obj(n={"type": "integer"}),
            }
        ),
        upstreams={"u": [{"name": "t", "result": text('{"a": "x"}')}]},
        shows={"t": {"outputSchema": obj(n={"type": "integer"})}},
        asks=[Ask("t", error="does not fit its outputSchema")],
    ),
]
