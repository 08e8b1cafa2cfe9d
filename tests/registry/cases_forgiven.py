"""What older and hurried files say: understood, or said to be wrong where only one entry is."""

from __future__ import annotations

from typing import Any

from tests.registry.case import INTEGER, STRING, Ask, Case, U, obj, registry, text

FIND = {"name": "find", "server": "u", "originalName": "search"}
OTHER = {"name": "echo", "server": "u"}
REPOS = text(
    '{"total": 2, "items": [{"full_name": "a/x", "secret": 1, "description": null},'
    ' {"full_name": "b/y", "owner": {"login": "b"}, "topics": ["t"], "description": "d"}]}'
)
REPO_UPSTREAM: Any = {"u": [{"name": "repos", "result": REPOS}]}
TOPICAL = obj(["q", "topic"], q=STRING, topic=STRING)


def malformed(mode: str | None, expected: Any, **outcome: Any) -> Case:
    stated = {**FIND, "expectedSchemaHash": expected}
    if mode is not None:
        stated["validationMode"] = mode
    name = f"the hash {expected!r} cannot match, which {mode or 'by default'} judges"
    return Case(name, registry(stated, OTHER), upstreams=U, **outcome)


def dropping(name: str, base: dict[str, Any], own: dict[str, Any], **outcome: Any) -> Case:
    schemas = {"Topical": TOPICAL, "Narrow": obj(["q"], q=STRING)}
    return Case(
        name,
        registry({**FIND, **base}, {"name": "v", "source": "find", **own}, OTHER, schemas=schemas),
        upstreams=U,
        **outcome,
    )


def mapped(name: str, mappings: dict[str, Any], structured: Any, **more: Any) -> Case:
    stated = {"name": "repos", "server": "u", "outputTransform": {"mappings": mappings}, **more}
    return Case(
        name, registry(stated), upstreams=REPO_UPSTREAM, asks=[Ask("repos", structured=structured)]
    )


def described(name: str, description: Any, *, required: bool = False, **outcome: Any) -> Case:
    element = obj(
        ["name", "description"] if required else ["name"],
        name={**STRING, "source_field": "$.full_name"},
        description=description,
    )
    listed = {"type": "array", "source_field": "$.items[*]", "items": element}
    return Case(
        name,
        registry({"name": "repos", "server": "u", "outputSchema": obj(repos=listed)}),
        upstreams=REPO_UPSTREAM,
        **outcome,
    )


def one(structured: Any) -> dict[str, Any]:
    return {"asks": [Ask("repos", structured=structured)]}


_WITHOUT_DESCRIPTION = {"repos": [{"name": "a/x"}, {"name": "b/y", "description": "d"}]}
_LEFT_OUT = {
    "names": ["find", "echo"],
    "asks": [Ask("v", error='leaves out "topic", which its source "find" requires')],
    "warns": ['#/tools/1: tool v is disabled: its inputSchema leaves out "topic"'],
}

CASES = [
    malformed(
        None, "md5:1", names=["find", "echo"], warns=["#/tools/0: expectedSchemaHash is not"]
    ),
    malformed("warn", "abc", names=["find", "echo"], warns=["64 hexadecimal digits"]),
    malformed("skip", "abc", names=["find", "echo"]),
    malformed(
        "strict", 7, names=["echo"], asks=[Ask("find", error="expectedSchemaHash is not sha256:")]
    ),
    malformed("strict", "", names=["echo"], warns=["tool find is disabled"]),
    dropping(
        "a field that the source in the file requires may not be dropped",
        {"inputSchema": TOPICAL},
        {"inputSchema": obj(["q"], q=STRING)},
        **_LEFT_OUT,
    ),
    dropping(
        "nor through references",
        {"inputSchema": {"$ref": "#/schemas/Topical"}},
        {"inputSchema": {"$ref": "#/schemas/Narrow"}},
        **_LEFT_OUT,
    ),
    dropping(
        "nor where the source requires it in a part",
        {"inputSchema": {"allOf": [{"$ref": "#/schemas/Topical"}]}},
        {"inputSchema": {"$ref": "#/schemas/Narrow"}},
        **_LEFT_OUT,
    ),
    dropping(
        "a default makes up for a field that is dropped",
        {"inputSchema": TOPICAL},
        {"inputSchema": obj(["q"], q=STRING), "defaults": {"topic": "t"}},
        names=["find", "v", "echo"],
    ),
    dropping(
        "a field that the source hides is not required of anybody",
        {"inputSchema": TOPICAL, "hideFields": ["topic"]},
        {"inputSchema": obj(["q"], q=STRING)},
        names=["find", "v", "echo"],
    ),
    Case(
        "a field that a source two entries away requires may not be dropped",
        registry(
            {**FIND, "inputSchema": TOPICAL},
            {"name": "middle", "source": "find"},
            {"name": "v", "source": "middle", "inputSchema": obj(q=STRING)},
        ),
        upstreams=U,
        names=["find", "middle"],
        asks=[Ask("v", error='"topic", which its source "find" requires')],
    ),
    Case(
        "transport beside a command is ignored with a warning",
        registry(
            OTHER,
            servers=[{"name": "u", "stdio": {"command": "x"}, "transport": "sse"}],
        ),
        upstreams=U,
        names=["echo"],
        warns=['#/servers/0/transport: "sse" is ignored: the server is a command'],
    ),
    Case(
        "so is one that nobody knows, and in the old format",
        {"tools": [{"name": "echo", "server": {"command": "x", "transport": "pipes"}}]},
        upstreams={"x": U["u"]},
        names=["echo"],
        warns=['"pipes" is ignored'],
    ),
    mapped(
        "elements beside mappings of them are made of those alone",
        {"repos": "$.items[*]", "repos[*].name": "$.full_name", "n": "$.total"},
        {"repos": [{"name": "a/x"}, {"name": "b/y"}], "n": 2},
    ),
    mapped(
        "whichever of them comes first, and with nested keys and kinds",
        {
            "repos[*].by.login": {"path": "$.owner.login"},
            "repos[*].name": {"template": {"template": "<{n}>", "vars": {"n": "$.full_name"}}},
            "repos": {"path": "$.items"},
            "repos[*].tags": "$.topics[*]",
        },
        {
            "repos": [
                {"by": {}, "name": "<a/x>", "tags": []},
                {"by": {"login": "b"}, "name": "<b/y>", "tags": ["t"]},
            ]
        },
    ),
    mapped(
        "a path of an element may be written from the top",
        {"repos": "$.items[*]", "repos[*].name": "$.items[*].full_name"},
        {"repos": [{"name": "a/x"}, {"name": "b/y"}]},
    ),
    mapped(
        "a null that a mapping gives is left out where the schema says string",
        {
            "repos": "$.items[*]",
            "repos[*].name": "$.full_name",
            "repos[*].description": "$.description",
        },
        _WITHOUT_DESCRIPTION,
        outputSchema=obj(
            repos={"type": "array", "items": obj(["name"], name=STRING, description=STRING)}
        ),
    ),
    described("a null where a string is optional is left out", STRING, **one(_WITHOUT_DESCRIPTION)),
    described(
        "a null where null is allowed stays",
        {"type": ["string", "null"]},
        **one(
            {
                "repos": [
                    {"name": "a/x", "description": None},
                    {"name": "b/y", "description": "d"},
                ]
            }
        ),
    ),
    described(
        "a null where null is one of several stays, though another is left out",
        {"anyOf": [STRING, {"type": "null"}]},
        **one(
            {
                "repos": [
                    {"name": "a/x", "description": None},
                    {"name": "b/y", "description": "d"},
                ]
            }
        ),
    ),
    described(
        "a null where a string is required is an error",
        STRING,
        required=True,
        asks=[Ask("repos", error="does not fit its outputSchema")],
    ),
    described(
        "a value of another kind is still an error",
        {**INTEGER, "source_field": "$.full_name"},
        asks=[Ask("repos", error="does not fit its outputSchema")],
    ),
    Case(
        "two dollars in a default are the text itself",
        registry({**FIND, "defaults": {"q": "repo:$${owner}/$${name:-x} ${HOME_TOWN}"}}),
        environ={"HOME_TOWN": "here"},
        upstreams=U,
        asks=[Ask("find", reaches=("u", "search", {"q": "repo:${owner}/${name:-x} here"}))],
    ),
    Case(
        "a template of older files is said to be one",
        registry({**FIND, "defaults": {"q": "repo:${owner}"}}, OTHER),
        upstreams=U,
        names=["echo"],
        asks=[
            Ask(
                "find",
                error="variable owner is not set (/tools/0/defaults/q); it looks like a template",
            ),
            Ask("find", error="write $${owner} for the text itself"),
        ],
    ),
]
