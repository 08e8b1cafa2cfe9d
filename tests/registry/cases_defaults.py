"""Defaults, hidden fields, and fields that were left out."""

from __future__ import annotations

from tests.registry.case import ECHO_TOOL, INTEGER, STRING, Ask, Case, U, obj, registry

FIND = {"name": "find", "server": "u", "originalName": "search"}
ANY = {"u": [{"name": "any", "inputSchema": {"type": "object"}}]}


def injects(value: object) -> Case:
    return Case(
        f"the default {value!r} is injected verbatim",
        registry({"name": "any", "server": "u", "defaults": {"x": value}}),
        upstreams=ANY,
        asks=[Ask("any", {"y": 1}, reaches=("u", "any", {"y": 1, "x": value}))],
    )


CASES = [
    Case(
        "a default leaves properties and required and is injected",
        registry({**FIND, "defaults": {"q": "fixed"}}),
        upstreams=U,
        shows={"find": {"inputSchema": obj(sort=STRING, limit=INTEGER)}},
        asks=[Ask("find", {"sort": "s"}, reaches=("u", "search", {"sort": "s", "q": "fixed"}))],
    ),
    Case(
        "a client that sends a hidden field is refused",
        registry({**FIND, "defaults": {"sort": "stars"}}),
        upstreams=U,
        asks=[Ask("find", {"q": "x", "sort": "name"}, error="sort")],
    ),
    *map(injects, (False, 0, "", None, [], {}, {"a": {"b": [1]}}, 1.5, 2**70)),
    Case(
        "a field the schema never mentioned is injected too",
        registry({**FIND, "defaults": {"token": "t"}}),
        upstreams=U,
        asks=[
            Ask("find", {"q": "x"}, reaches=("u", "search", {"q": "x", "token": "t"})),
            Ask("find", {"q": "x", "token": "mine"}, error="token"),
        ],
    ),
    Case(
        "an object default is one value",
        registry(
            {"name": "any", "server": "u", "defaults": {"o": {"a": 1}}},
            {"name": "b", "source": "any", "defaults": {"o": {"b": 2}}},
        ),
        upstreams=ANY,
        asks=[Ask("b", reaches=("u", "any", {"o": {"b": 2}}))],
    ),
    Case(
        "defaults are merged along the chain, nearest first",
        registry(
            {**FIND, "defaults": {"sort": "stars", "limit": 5}},
            {"name": "b", "source": "find", "defaults": {"limit": 9}},
        ),
        upstreams=U,
        shows={"b": {"inputSchema": obj(["q"], q=STRING)}},
        asks=[
            Ask("b", {"q": "x"}, reaches=("u", "search", {"q": "x", "sort": "stars", "limit": 9})),
            Ask(
                "find", {"q": "x"}, reaches=("u", "search", {"q": "x", "sort": "stars", "limit": 5})
            ),
        ],
    ),
    Case(
        "a default reaches a script too",
        registry({"name": "greet", "source": "hello", "defaults": {"text": "hi"}}),
        scripts=[{**ECHO_TOOL, "name": "hello"}],
        shows={"greet": {"inputSchema": {"type": "object", "properties": {}}}},
        asks=[Ask("greet", reaches=("script", "hello", {"text": "hi"}))],
    ),
    Case(
        "a variable in a default is substituted",
        registry({**FIND, "defaults": {"q": "in:${WHERE} ${N:-5}", "list": ["${WHERE}"]}}),
        environ={"WHERE": "here"},
        upstreams=U,
        asks=[Ask("find", reaches=("u", "search", {"q": "in:here 5", "list": ["here"]}))],
    ),
    Case(
        "an unset variable in a default disables that tool only",
        registry({**FIND, "defaults": {"q": "${NOPE}"}}, {"name": "echo", "server": "u"}),
        upstreams=U,
        names=["echo"],
        asks=[Ask("find", error="variable NOPE is not set (/tools/0/defaults/q)")],
        warns=["#/tools/0/defaults: this tool is disabled: variable NOPE is not set"],
    ),
    Case(
        "a tool over one with an unset variable is disabled too",
        registry({**FIND, "defaults": {"q": "${NOPE}"}}, {"name": "b", "source": "find"}),
        upstreams=U,
        names=[],
        asks=[Ask("b", error='its source "find" is disabled: variable NOPE is not set')],
    ),
    Case(
        "hideFields hides without a value",
        registry({**FIND, "hideFields": ["sort", "limit"]}),
        upstreams=U,
        shows={"find": {"inputSchema": obj(["q"], q=STRING)}},
        asks=[
            Ask("find", {"q": "x"}, reaches=("u", "search", {"q": "x"})),
            Ask("find", {"q": "x", "limit": 3}, error="limit"),
        ],
    ),
    Case(
        "hidden fields add up along the chain",
        registry(
            {**FIND, "hideFields": ["sort"]},
            {"name": "b", "source": "find", "hideFields": ["limit"]},
        ),
        upstreams=U,
        shows={"b": {"inputSchema": obj(["q"], q=STRING)}},
    ),
    Case(
        "a schema that drops a required field disables its tool, the others stay",
        registry(
            {**FIND, "inputSchema": obj(sort=STRING)},
            {"name": "b", "server": "u", "originalName": "search"},
        ),
        upstreams=U,
        names=["b"],
        asks=[
            Ask("find", error='its inputSchema leaves out "q", which the underlying tool requires')
        ],
        warns=["tool find is disabled"],
    ),
    Case(
        "a schema that drops a required field with a default for it is fine",
        registry({**FIND, "inputSchema": obj(sort=STRING), "defaults": {"q": "x"}}),
        upstreams=U,
        names=["find"],
        asks=[Ask("find", {"sort": "s"}, reaches=("u", "search", {"sort": "s", "q": "x"}))],
    ),
    Case(
        "a narrower schema is what clients are held to",
        registry({**FIND, "inputSchema": obj(["q"], q={"type": "string", "maxLength": 3})}),
        upstreams=U,
        asks=[Ask("find", {"q": "long"}, error="Invalid arguments"), Ask("find", {"q": "abc"})],
    ),
    Case(
        "a schema without a type is shown as that of an object",
        registry({**FIND, "inputSchema": {"properties": {"q": STRING}}}),
        upstreams=U,
        shows={"find": {"inputSchema": obj(q=STRING)}},
    ),
]
