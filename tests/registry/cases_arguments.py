"""Arguments under other names: in the schema, in calls, in errors, along chains."""

from __future__ import annotations

from tests.registry.case import ECHO_TOOL, INTEGER, SEARCH_TOOL, STRING, Ask, Case, U, obj, registry

FIND = {"name": "find", "server": "u", "originalName": "search"}
RENAMED = {**FIND, "arguments": {"words": {"from": "q", "description": "What to look for."}}}
FAILED = {"content": [{"type": "text", "text": "`q` is too short"}], "isError": True}
WORDS = {"type": "string", "description": "What to look for."}

CASES = [
    Case(
        "a renamed argument has its new name in the schema and the old one at the server",
        registry(RENAMED),
        upstreams=U,
        shows={"find": {"inputSchema": obj(["words"], words=WORDS, sort=STRING, limit=INTEGER)}},
        asks=[
            Ask(
                "find",
                {"words": "x", "sort": "s"},
                reaches=("u", "search", {"q": "x", "sort": "s"}),
            )
        ],
    ),
    Case(
        "errors speak of the new name, and the old one is unknown",
        registry(RENAMED),
        upstreams=U,
        asks=[
            Ask("find", {}, error='"words" is a required property'),
            Ask("find", {"words": 1}, error="/words"),
            Ask("find", {"words": "x", "q": "y"}, error="unknown argument q"),
        ],
    ),
    Case(
        "an error of the server keeps its words, and what they mean here is said beside it",
        registry(RENAMED),
        upstreams={"u": [{**SEARCH_TOOL, "result": FAILED}]},
        asks=[
            Ask("find", {"words": "x"}, error="`q` is too short"),
            Ask("find", {"words": "x"}, error='The argument "q" is called "words" here.'),
        ],
    ),
    Case(
        "a new description alone keeps the name",
        registry({**FIND, "arguments": {"sort": {"description": "stars or name"}}}),
        upstreams=U,
        shows={
            "find": {
                "inputSchema": obj(
                    ["q"], q=STRING, sort={**STRING, "description": "stars or name"}, limit=INTEGER
                )
            }
        },
        asks=[
            Ask("find", {"q": "x", "sort": "s"}, reaches=("u", "search", {"q": "x", "sort": "s"}))
        ],
    ),
    Case(
        "names are translated link by link along a chain",
        registry(
            {**RENAMED, "defaults": {"limit": 3}},
            {
                "name": "b",
                "source": "find",
                "arguments": {"text": {"from": "words"}},
                "defaults": {"sort": "s"},
            },
        ),
        upstreams=U,
        shows={"b": {"inputSchema": obj(["text"], text=WORDS)}},
        asks=[
            Ask("b", {"text": "x"}, reaches=("u", "search", {"q": "x", "limit": 3, "sort": "s"})),
            Ask("b", {"text": "x", "words": "y"}, error="unknown argument words"),
            Ask("b", {"text": "x", "sort": "y"}, error="unknown argument sort"),
            Ask("b", {"text": "x", "limit": 1}, error="unknown argument limit"),
        ],
    ),
    Case(
        "a default above a renaming is for the name that its source uses",
        registry(RENAMED, {"name": "b", "source": "find", "defaults": {"words": "fixed"}}),
        upstreams=U,
        shows={"b": {"inputSchema": obj(sort=STRING, limit=INTEGER)}},
        asks=[Ask("b", {"sort": "s"}, reaches=("u", "search", {"q": "fixed", "sort": "s"}))],
    ),
    Case(
        "two arguments can change names with each other",
        registry({**FIND, "arguments": {"q": {"from": "sort"}, "sort": {"from": "q"}}}),
        upstreams=U,
        shows={"find": {"inputSchema": obj(["sort"], sort=STRING, q=STRING, limit=INTEGER)}},
        asks=[
            Ask("find", {"sort": "a", "q": "b"}, reaches=("u", "search", {"q": "a", "sort": "b"}))
        ],
    ),
    Case(
        "an entry's own schema uses the names of its source",
        registry({**RENAMED, "inputSchema": obj(["q"], q=STRING)}),
        upstreams=U,
        shows={"find": {"inputSchema": obj(["words"], words=WORDS)}},
        asks=[Ask("find", {"words": "x"}, reaches=("u", "search", {"q": "x"}))],
    ),
    Case(
        "a schema above a renaming need not know the name underneath",
        registry(
            RENAMED, {"name": "b", "source": "find", "inputSchema": obj(["words"], words=STRING)}
        ),
        upstreams=U,
        asks=[Ask("b", {"words": "x"}, reaches=("u", "search", {"q": "x"}))],
    ),
    Case(
        "a schema above a renaming that leaves the argument out is seen through",
        registry(RENAMED, {"name": "b", "source": "find", "inputSchema": obj(sort=STRING)}),
        upstreams=U,
        names=["find"],
        warns=['leaves out "q", which the underlying tool requires'],
    ),
    Case(
        "dependencies and alternatives are renamed as well",
        registry({"name": "t", "server": "u", "arguments": {"zone": {"from": "tz"}}}),
        upstreams={
            "u": [
                {
                    "name": "t",
                    "inputSchema": {
                        **obj(tz=STRING, at=STRING),
                        "dependentRequired": {"at": ["tz"]},
                        "anyOf": [{"required": ["tz"]}, {"required": ["at"]}],
                    },
                }
            ]
        },
        shows={
            "t": {
                "inputSchema": {
                    **obj(zone=STRING, at=STRING),
                    "dependentRequired": {"at": ["zone"]},
                    "anyOf": [{"required": ["zone"]}, {"required": ["at"]}],
                }
            }
        },
        asks=[Ask("t", {"at": "x"}, error="zone")],
    ),
    Case(
        "a name that the source does not have disables the tool",
        registry(
            {**FIND, "arguments": {"words": {"from": "querry"}}}, {**ECHO_TOOL, "server": "u"}
        ),
        upstreams={"u": [{"name": "search", "inputSchema": obj(query=STRING)}, ECHO_TOOL]},
        names=["echo"],
        warns=['no argument named "querry" (did you mean "query"?)'],
    ),
    Case(
        "a name that the source has already disables the tool",
        registry({**FIND, "arguments": {"sort": {"from": "q"}}}),
        upstreams=U,
        names=[],
        warns=['its source has an argument named "sort" already'],
    ),
    Case(
        "one argument cannot have two names, a hidden one none, and keys are checked",
        registry(
            {**FIND, "arguments": {"a": {"from": "q"}, "b": {"from": "q"}}},
            {
                "name": "c",
                "source": "find",
                "defaults": {"q": 1},
                "arguments": {"a": {"from": "q"}},
            },
            {
                "name": "d",
                "server": "u",
                "originalName": "search",
                "arguments": {"a": {"form": "q"}},
            },
            {"name": "e", "server": "u", "originalName": "search", "arguments": {"a": "q"}},
            {
                **ECHO_TOOL,
                "server": "u",
                "inputSchema": obj(text=STRING),
                "defaults": {"text": "x"},
            },
        ),
        upstreams=U,
        problems=[
            ("/tools/0/arguments/b/from", 'called "a" already'),
            ("/tools/1/arguments/a/from", "hidden field has no other name"),
            ("/tools/2/arguments/a/form", 'no key "form" (did you mean "from"?)'),
            ("/tools/3/arguments/a", "must be an object with from, description or both"),
        ],
        serves=["echo"],
    ),
]
