"""Sources: aliases, chains, inheritance, versions, pins, hashes."""

from __future__ import annotations

from tests.registry.case import (
    ECHO_TOOL,
    INTEGER,
    SEARCH_TOOL,
    STRING,
    Ask,
    Case,
    U,
    obj,
    registry,
    text,
)
from toolyard.sources.registry.lock.hashes import definition_hash

BASE = {"name": "find", "server": "u", "originalName": "search"}
GOOD_HASH = definition_hash(SEARCH_TOOL)
BAD_HASH = "sha256:" + "0" * 64

CASES = [
    Case("an empty registry has no tools", {}, names=[]),
    Case("an empty list of tools has no tools", registry(), upstreams=U, names=[]),
    Case(
        "a base tool shows what its upstream says of itself",
        registry({"name": "search", "server": "u"}),
        upstreams=U,
        names=["search"],
        shows={"search": SEARCH_TOOL},
        asks=[Ask("search", {"q": "x"}, reaches=("u", "search", {"q": "x"}))],
    ),
    Case(
        "originalName is what the upstream calls it",
        registry(BASE),
        upstreams=U,
        names=["find"],
        shows={"find": {"title": "Search", "inputSchema": SEARCH_TOOL["inputSchema"]}},
        asks=[Ask("find", {"q": "x"}, reaches=("u", "search", {"q": "x"}))],
    ),
    Case(
        "an alias inherits everything",
        registry(BASE, {"name": "look", "source": "find"}),
        upstreams=U,
        names=["find", "look"],
        shows={"look": {k: SEARCH_TOOL[k] for k in ("title", "description", "annotations")}},
        asks=[Ask("look", {"q": "x"}, reaches=("u", "search", {"q": "x"}))],
    ),
    Case(
        "a source may come after what names it",
        registry({"name": "look", "source": "find"}, BASE),
        upstreams=U,
        names=["look", "find"],
        asks=[Ask("look", {"q": "x"}, reaches=("u", "search", {"q": "x"}))],
    ),
    Case(
        "the nearest statement in a chain wins",
        registry(
            {**BASE, "title": "T1", "description": "D1", "annotations": {"readOnlyHint": False}},
            {"name": "b", "source": "find", "description": "D2"},
            {"name": "c", "source": "b", "title": "T3"},
        ),
        upstreams=U,
        shows={
            "c": {"title": "T3", "description": "D2", "annotations": {"readOnlyHint": False}},
            "b": {"title": "T1", "description": "D2"},
        },
    ),
    Case(
        "an inputSchema of the chain stands before the upstream's",
        registry(
            {**BASE, "inputSchema": obj(["q"], q=STRING)},
            {"name": "b", "source": "find"},
            {"name": "c", "source": "b", "inputSchema": obj(["q"], q=STRING, limit=INTEGER)},
        ),
        upstreams=U,
        shows={
            "b": {"inputSchema": obj(["q"], q=STRING)},
            "c": {"inputSchema": obj(["q"], q=STRING, limit=INTEGER)},
        },
    ),
    Case(
        "originalName is inherited, nearest first",
        registry(
            BASE,
            {"name": "b", "source": "find"},
            {"name": "c", "source": "b", "originalName": "echo"},
        ),
        upstreams=U,
        shows={"c": {"description": "Says it."}},
        asks=[
            Ask("b", {"q": "x"}, reaches=("u", "search", {"q": "x"})),
            Ask("c", {"text": "x"}, reaches=("u", "echo", {"text": "x"})),
        ],
    ),
    Case(
        "a chain of a hundred tools works",
        registry(
            {"name": "t0", "server": "u", "originalName": "echo"},
            *({"name": f"t{i}", "source": f"t{i - 1}"} for i in range(1, 100)),
        ),
        upstreams=U,
        asks=[Ask("t99", {"text": "deep"}, reaches=("u", "echo", {"text": "deep"}))],
    ),
    Case(
        "a script can be a source",
        registry({"name": "greet", "source": "hello", "description": "Greets."}),
        scripts=[{**ECHO_TOOL, "name": "hello"}],
        names=["greet", "hello"],
        shows={"greet": {"description": "Greets.", "inputSchema": ECHO_TOOL["inputSchema"]}},
        asks=[Ask("greet", {"text": "x"}, reaches=("script", "hello", {"text": "x"}))],
    ),
    Case(
        "an exposed upstream tool can be a source",
        registry(
            {"name": "say", "source": "echo"},
            servers=[{"name": "u", "stdio": {"command": "x"}, "expose": "all"}],
        ),
        upstreams=U,
        names=["say", "search", "echo"],
        asks=[Ask("say", {"text": "x"}, reaches=("u", "echo", {"text": "x"}))],
    ),
    Case(
        "a source nobody exposes disables only its tool",
        registry(
            {"name": "say", "source": "eco"},
            BASE,
            servers=[{"name": "u", "stdio": {"command": "x"}, "expose": ["e*"]}],
        ),
        upstreams=U,
        names=["find", "echo"],
        asks=[Ask("say", error='no tool named "eco" (did you mean "echo"?)')],
    ),
    Case(
        "a hidden tool serves as a source only",
        registry({**BASE, "hidden": True}, {"name": "b", "source": "find"}),
        upstreams=U,
        names=["b"],
        asks=[
            Ask("find", {"q": "x"}, refused=-32602),
            Ask("b", {"q": "x"}, reaches=("u", "search", {"q": "x"})),
        ],
    ),
    Case(
        "an unknown tool is a protocol error",
        registry(BASE),
        upstreams=U,
        asks=[Ask("nope", refused=-32602)],
    ),
    Case(
        "a tool the upstream lacks is disabled and says so",
        registry({"name": "serch", "server": "u"}, BASE),
        upstreams=U,
        names=["find"],
        asks=[Ask("serch", error='server u has no tool named "serch" (did you mean "search"?)')],
        warns=['tool serch is disabled: server u has no tool named "serch"'],
    ),
    Case(
        "tools over a disabled one are disabled with it",
        registry(
            {"name": "a", "server": "u", "originalName": "nope"}, {"name": "b", "source": "a"}, BASE
        ),
        upstreams=U,
        names=["find"],
        asks=[Ask("b", error='no tool named "nope"')],
    ),
    Case(
        "before its upstream has listed, a tool shows what the file says",
        registry(
            {**BASE, "description": "Later."},
            {"name": "b", "server": "u", "inputSchema": obj(q=STRING)},
        ),
        names=["find", "b"],
        shows={
            "find": {"description": "Later.", "inputSchema": {"type": "object"}},
            "b": {"inputSchema": obj(q=STRING)},
        },
        asks=[Ask("find", {"q": 1}, reaches=("u", "search", {"q": 1}))],
    ),
    Case(
        "a version is shown in _meta beside what the upstream put there",
        registry({**BASE, "version": "2.1.0"}),
        upstreams=U,
        shows={"find": {"_meta": {"vendor/x": 1, "toolyard/version": "2.1.0"}}},
    ),
    Case(
        "a pin that holds changes nothing",
        registry(
            {**BASE, "version": "1.0"},
            {"name": "b", "source": "find", "sourceVersionPin": "1.0", "validationMode": "strict"},
        ),
        upstreams=U,
        names=["find", "b"],
    ),
    Case(
        "a strict pin that does not hold disables the tool and what is over it",
        registry(
            {**BASE, "version": "2.0"},
            {"name": "b", "source": "find", "sourceVersionPin": "1.0", "validationMode": "strict"},
            {"name": "c", "source": "b"},
        ),
        upstreams=U,
        names=["find"],
        asks=[
            Ask("b", error="it pins version 1.0 of find, which has version 2.0"),
            Ask("c", error='its source "b" is disabled: it pins version 1.0'),
        ],
    ),
    Case(
        "a pin that does not hold is a warning by default",
        registry(BASE, {"name": "b", "source": "find", "sourceVersionPin": "1.0"}),
        upstreams=U,
        names=["find", "b"],
        warns=["it pins version 1.0 of find, which has no version"],
    ),
    Case(
        "a pin of a script goes by the script's version",
        registry(
            {"name": "b", "source": "hello", "sourceVersionPin": "3", "validationMode": "strict"}
        ),
        scripts=[{**ECHO_TOOL, "name": "hello", "extra": {"version": "3"}}],
        names=["b", "hello"],
    ),
    Case(
        "skip looks at neither pin nor hash",
        registry(
            BASE,
            {
                "name": "b",
                "source": "find",
                "sourceVersionPin": "9",
                "expectedSchemaHash": BAD_HASH,
                "validationMode": "skip",
            },
        ),
        upstreams=U,
        names=["find", "b"],
    ),
    Case(
        "a hash that matches changes nothing",
        registry({**BASE, "expectedSchemaHash": GOOD_HASH, "validationMode": "strict"}),
        upstreams=U,
        names=["find"],
    ),
    Case(
        "a strict hash that does not match disables the tool",
        registry({**BASE, "expectedSchemaHash": BAD_HASH, "validationMode": "strict"}),
        upstreams=U,
        names=[],
        asks=[Ask("find", error="expectedSchemaHash does not match")],
    ),
    Case(
        "a hash that does not match is a warning by default",
        registry({**BASE, "expectedSchemaHash": BAD_HASH}),
        upstreams=U,
        names=["find"],
        warns=["#/tools/0: the definition of the underlying tool has changed"],
    ),
    Case(
        "an error of the upstream passes untouched",
        registry({"name": "bad", "server": "u", "outputSchema": obj(a={"source_field": "$.a"})}),
        upstreams={"u": [{"name": "bad", "result": {**text('{"a": 1}'), "isError": True}}]},
        asks=[Ask("bad", error='{"a": 1}')],
    ),
]
