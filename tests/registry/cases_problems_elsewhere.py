"""Mistakes in files of other formats, in mappings and in compositions: one entry is disabled."""

from __future__ import annotations

from tests.registry.case import SERVER, Case, registry

OK = {"name": "ok", "server": "u"}

CASES = [
    Case(
        "a problem of an inline server is placed where it stands",
        {"servers": [SERVER], "tools": [{"name": "t", "server": {"command": ""}}, OK]},
        problems=[("/tools/0/server/command", "not empty"), ("/tools/0/server", "needs a command")],
        serves=["ok"],
        disabled={"t": "a string that is not empty (/tools/0/server/command)"},
    ),
    Case(
        "a problem of mcpServers is placed where it stands",
        {
            "mcpServers": {"a/b": {"url": "x"}, "c": 1, "u": {"command": "x", "expose": "listed"}},
            "tools": [OK, {"name": "t", "server": "c"}],
        },
        problems=[
            ("/mcpServers/c", "must be an object"),
            ("/mcpServers/a~1b/url", "must begin with"),
        ],
        serves=["ok"],
        disabled={"t": "server c is disabled: must be an object"},
        warns=["server a/b is disabled"],
    ),
    Case(
        "a problem of agentgateway's source is placed where it stands",
        registry({"name": "t", "source": {"target": "nope", "tool": "x"}}, OK),
        problems=[("/tools/0/source/target", 'no server named "nope"')],
        serves=["ok"],
        disabled={"t": 'no server named "nope" (/tools/0/source/target)'},
    ),
    Case(
        "a target that cannot be reached",
        registry(
            {"name": "t", "source": {"target": "o", "tool": "x"}},
            OK,
            targets=[{"name": "o", "openapi": {}}],
        ),
        problems=[("/targets/0", "a target with openapi cannot be reached")],
        serves=["ok"],
        disabled={"t": "server o is disabled: a target with openapi cannot be reached"},
    ),
    Case(
        "a mapping of no kind",
        {
            "tools": [
                {
                    "name": "t",
                    "server": "u",
                    "outputTransform": {
                        "mappings": {"a": {"jq": "."}, "b[": {"path": "$"}, "c": {"path": "x"}}
                    },
                },
                OK,
            ],
            "servers": [SERVER],
        },
        problems=[
            ("/tools/0/outputTransform/mappings/a", "must have one of path"),
            ("/tools/0/outputTransform/mappings/b[", "a key has the form a, a.b or a[*].b"),
            ("/tools/0/outputTransform/mappings/c/path", "starts with $"),
        ],
        serves=["ok"],
        disabled={"t": "must have one of path"},
    ),
    Case(
        "a pattern that is not run",
        registry({"name": "t", "spec": {"saga": {}}}, {"name": "v", "source": "t"}, OK),
        problems=[("/tools/0/spec", "saga cannot be run; the patterns are pipeline")],
        serves=["ok"],
        disabled={"t": "saga cannot be run", "v": 'its source "t" is disabled: saga cannot be run'},
    ),
]
