"""Projection, text extraction and transforms, from the file to the result."""

from __future__ import annotations

from typing import Any

from tests.registry.case import INTEGER, SEARCH, STRING, Ask, Case, U, obj, registry, text

TOTAL = {"type": "integer", "source_field": "$.total_count"}
REPOS = obj(
    total=TOTAL,
    repos={
        "type": "array",
        "source_field": "$.items[*]",
        "items": obj(
            name={"type": "string", "source_field": "$.full_name"},
            stars={"type": "integer", "source_field": "$.stars"},
        ),
    },
)
PROJECTED = {"total": 2, "repos": [{"name": "a/x", "stars": 3}, {"name": "b/y"}]}


def answering(result: Any, schema: Any, **more: Any) -> dict[str, Any]:
    """What a case needs for one tool `t` with that answer."""
    upstream = {"name": "t", "inputSchema": {"type": "object"}, "result": result}
    return {
        "registry": registry({"name": "t", "server": "u", "outputSchema": schema, **more}),
        "upstreams": {"u": [upstream]},
    }


def gives(name: str, result: Any, schema: Any, expected: Any) -> Case:
    return Case(name, **answering(result, schema), asks=[Ask("t", structured=expected)])


def fails(name: str, result: Any, schema: Any, says: str) -> Case:
    return Case(name, **answering(result, schema), asks=[Ask("t", error=says)])


A = obj(a={"source_field": "$.a"})
CASES = [
    Case(
        "the document's example projects and leaks nothing",
        registry({"name": "search", "server": "u", "outputSchema": REPOS}),
        upstreams=U,
        shows={
            "search": {
                "outputSchema": obj(
                    total=INTEGER, repos={"type": "array", "items": obj(name=STRING, stars=INTEGER)}
                )
            }
        },
        asks=[
            Ask(
                "search",
                {"q": "x"},
                structured=PROJECTED,
                text='{"total":2,"repos":[{"name":"a/x","stars":3},{"name":"b/y"}]}',
            )
        ],
    ),
    Case(
        "an outputSchema is inherited and applied to the underlying result",
        registry(
            {"name": "search", "server": "u", "outputSchema": obj(total=TOTAL)},
            {"name": "b", "source": "search"},
            {
                "name": "c",
                "source": "b",
                "outputSchema": obj(n={"source_field": "$.items[0].full_name"}),
            },
        ),
        upstreams=U,
        asks=[
            Ask("b", {"q": "x"}, structured={"total": 2}),
            Ask("c", {"q": "x"}, structured={"n": "a/x"}),
        ],
    ),
    Case(
        "an outputSchema without source_field copies by name",
        registry({"name": "search", "server": "u", "outputSchema": obj(total_count=INTEGER)}),
        upstreams=U,
        asks=[Ask("search", {"q": "x"}, structured={"total_count": 2})],
    ),
    Case(
        "an upstream's own outputSchema is passed on and not applied",
        registry({"name": "t", "server": "u"}),
        upstreams={
            "u": [
                {
                    "name": "t",
                    "outputSchema": obj(x=INTEGER),
                    "result": {**text("plain"), "structuredContent": {"y": 1}},
                }
            ]
        },
        shows={"t": {"outputSchema": obj(x=INTEGER)}},
        asks=[Ask("t", structured={"y": 1}, text="plain")],
    ),
    Case(
        "a script's result can be projected",
        registry({"name": "b", "source": "s", "outputSchema": A}),
        scripts=[
            {"name": "s", "inputSchema": {"type": "object"}, "result": text('{"a": 1, "b": 2}')}
        ],
        asks=[Ask("b", structured={"a": 1})],
    ),
    Case(
        "a tool without an outputSchema passes results as they are",
        registry({"name": "search", "server": "u"}),
        upstreams=U,
        asks=[Ask("search", {"q": "x"}, text=SEARCH["content"][0]["text"])],
    ),
    gives(
        "structured content is projected",
        {"content": [], "structuredContent": {"a": 1, "b": 2}},
        A,
        {"a": 1},
    ),
    gives(
        "a wrapper of the text is looked through",
        {**text('{"a": 1}'), "structuredContent": {"result": '{"a": 1}'}},
        A,
        {"a": 1},
    ),
    gives("a fenced block is found", text('Here:\n```json\n{"a": 1}\n```'), A, {"a": 1}),
    gives("JSON after a prefix is found", text('Result: {"a": 1} (done)'), A, {"a": 1}),
    gives("a BOM is skipped", text('\ufeff{"a": 1}'), A, {"a": 1}),
    gives(
        "a second text can hold the JSON",
        {"content": [*text("Here:")["content"], *text('{"a": 1}')["content"]]},
        A,
        {"a": 1},
    ),
    gives("falsy values are values", text('{"a": false}'), A, {"a": False}),
    gives("null is a value", text('{"a": null}'), A, {"a": None}),
    gives("a missing optional value is left out", text("{}"), A, {}),
    gives(
        "a big integer is exact",
        text('{"a": 123456789012345678901234567890}'),
        A,
        {"a": 123456789012345678901234567890},
    ),
    gives(
        "[*] over nothing is an empty array",
        text("{}"),
        obj(a={"source_field": "$.x[*]"}),
        {"a": []},
    ),
    gives(
        "[*] over one is an array",
        text('{"x": [1]}'),
        obj(a={"source_field": "$.x[*]"}),
        {"a": [1]},
    ),
    gives(
        "a slice is an array",
        text('{"x": [1, 2, 3]}'),
        obj(a={"source_field": "$.x[1:]"}),
        {"a": [2, 3]},
    ),
    gives(
        "a filter is an array",
        text('{"x": [{"k": 1}, {"k": 2}]}'),
        obj(a={"source_field": "$.x[?@.k > 1].k"}),
        {"a": [2]},
    ),
    gives(
        "descendants are an array",
        text('{"x": {"y": {"k": 1}}}'),
        obj(a={"source_field": "$..k"}),
        {"a": [1]},
    ),
    gives(
        "a root source_field selects what is projected",
        text('{"data": {"a": 1}}'),
        {**A, "source_field": "$.data"},
        {"a": 1},
    ),
    gives(
        "an object without a path is built from the enclosing value",
        text('{"x": 1, "y": 2}'),
        obj(p=obj(a={"source_field": "$.x"}, y=INTEGER)),
        {"p": {"a": 1, "y": 2}},
    ),
    gives(
        "a plain path to an array means its elements",
        text('{"x": [{"k": 1, "z": 2}]}'),
        obj(a={"type": "array", "source_field": "$.x", "items": obj(k=INTEGER)}),
        {"a": [{"k": 1}]},
    ),
    fails(
        "a missing required value is an error that names it",
        text("{}"),
        obj(["a"], a={"source_field": "$.x.y"}),
        'lacks "a": nothing at $.x.y',
    ),
    fails(
        "a value of another type is an error",
        text('{"a": "x"}'),
        obj(a={"type": "integer", "source_field": "$.a"}),
        "does not fit its outputSchema",
    ),
    fails(
        "[*] where one value was declared is an error",
        text('{"a": [1]}'),
        obj(a={"type": "integer", "source_field": "$.a[*]"}),
        "does not fit",
    ),
    fails(
        "a result without JSON is an error with its text", text("All is well."), A, "All is well."
    ),
    fails(
        "a wrapper of plain text holds no JSON",
        {**text("hi"), "structuredContent": {"result": "hi"}},
        A,
        "no JSON",
    ),
    fails(
        "too many nodes are an error",
        text("[" + "1," * 100_001 + "1]"),
        obj(a={"source_field": "$[*]"}),
        "too large",
    ),
    fails(
        "too deep a document is an error for a search",
        text("[" * 70 + "]" * 70),
        obj(a={"source_field": "$..k"}),
        "nested too deeply",
    ),
    Case(
        "a Markdown list is read by patterns",
        **answering(
            text("Found:\n1. **a/x** (1,200 stars)\n2. **b/y**"),
            obj(
                repos={
                    "type": "array",
                    "source_field": "$.found[*]",
                    "items": obj(name=STRING, stars=INTEGER),
                }
            ),
            textExtraction={
                "parser": "markdown_numbered_list",
                "list_field": "found",
                "item_patterns": {
                    "name": {"regex": r"\*\*(.+?)\*\*", "required": True},
                    "stars": {
                        "regex": r"\(([\d,]+) stars",
                        "type": "integer",
                        "transform": "remove_commas",
                    },
                },
            },
        ),
        asks=[Ask("t", structured={"repos": [{"name": "a/x", "stars": 1200}, {"name": "b/y"}]})],
    ),
    Case(
        "patterns alone give structured content",
        registry(
            {
                "name": "t",
                "server": "u",
                "textExtraction": {
                    "parser": "markdown_bullet_list",
                    "item_patterns": {"n": r"\d+"},
                },
            }
        ),
        upstreams={"u": [{"name": "t", "result": text("- 1\n- 2")}]},
        lacks={"t": ["outputSchema"]},
        asks=[Ask("t", structured={"items": [{"n": "1"}, {"n": "2"}]})],
    ),
]
