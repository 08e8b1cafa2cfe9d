"""Projection: schemas with source_field against values, as one table."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from toolyard.errors import ToolError
from toolyard.virtual.output.projection import compile_projection, deferred_projection
from toolyard.virtual.query.paths import MAX_NODES, BadPath
from toolyard.virtual.schema import References

REPOS = {
    "total_count": 2,
    "items": [
        {"full_name": "a/x", "stars": 3, "owner": {"login": "a", "id": 1}, "topics": ["p", "q"]},
        {"full_name": "b/y", "stars": 0, "owner": {"login": "b", "id": 2}, "topics": []},
    ],
}


def obj(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def at(path: str, kind: str = "string", **more: Any) -> dict[str, Any]:
    return {"type": kind, "source_field": path, **more}


def array(path: str | None = None, **properties: Any) -> dict[str, Any]:
    return {"type": "array", **({"source_field": path} if path else {}), "items": obj(**properties)}


CASES: list[tuple[str, Any, Any, Any]] = [
    ("a plain path", obj(total=at("$.total_count", "integer")), REPOS, {"total": 2}),
    (
        "the document's example",
        obj(
            total=at("$.total_count", "integer"),
            repos=array("$.items[*]", name=at("$.full_name"), stars=at("$.stars", "integer")),
        ),
        REPOS,
        {
            "total": 2,
            "repos": [{"name": "a/x", "stars": 3}, {"name": "b/y", "stars": 0}],
        },
    ),
    (
        "a plain path to one array means its elements",
        obj(repos=array("$.items", name=at("$.full_name"))),
        REPOS,
        {"repos": [{"name": "a/x"}, {"name": "b/y"}]},
    ),
    (
        "a descendant path to one array means its elements",
        obj(repos=array("$..items", name=at("$.full_name"))),
        REPOS,
        {"repos": [{"name": "a/x"}, {"name": "b/y"}]},
    ),
    (
        "one object where elements were expected is one element",
        obj(repos=array("$.item", name=at("$.n"))),
        {"item": {"n": "x"}},
        {"repos": [{"name": "x"}]},
    ),
    ("zero matches of [*]", obj(r=at("$.none[*].x", "array")), REPOS, {"r": []}),
    ("one match of [*]", obj(r=at("$.a[*]", "array")), {"a": [1]}, {"r": [1]}),
    ("[*] over members", obj(r=at("$.a.*", "array")), {"a": {"x": 1, "y": 2}}, {"r": [1, 2]}),
    ("a slice", obj(r=at("$.a[0:1]", "array")), {"a": [1, 2]}, {"r": [1]}),
    ("a filter", obj(r=at("$.a[?@.k==1].v", "array")), {"a": [{"k": 1, "v": 2}]}, {"r": [2]}),
    ("descendants", obj(r=at("$..login", "array")), REPOS, {"r": ["a", "b"]}),
    ("several names", obj(r=at("$['a','b']", "array")), {"a": 1, "b": 2}, {"r": [1, 2]}),
    (
        "a filtered list projected",
        obj(r=array("$.items[?@.stars>0]", n=at("$.full_name"))),
        REPOS,
        {"r": [{"n": "a/x"}]},
    ),
    ("an index", obj(r=at("$.items[-1].full_name")), REPOS, {"r": "b/y"}),
    (
        "a path to an array without items",
        obj(t=at("$.items[0].topics", "array")),
        REPOS,
        {"t": ["p", "q"]},
    ),
    ("a missing optional value", obj(x=at("$.nope"), y=at("$.total_count")), REPOS, {"y": 2}),
    (
        "a missing optional value inside elements",
        obj(r=array("$.a[*]", x=at("$.x"), y=at("$.y"))),
        {"a": [{"x": 1}, {"y": 2}]},
        {"r": [{"x": 1}, {"y": 2}]},
    ),
    (
        "falsy values are values",
        obj(a=at("$.a"), b=at("$.b"), c=at("$.c"), d=at("$.d"), e=at("$.e"), f=at("$.f")),
        {"a": 0, "b": False, "c": "", "d": None, "e": [], "f": {}},
        {"a": 0, "b": False, "c": "", "d": None, "e": [], "f": {}},
    ),
    ("big integers", obj(n=at("$.n", "integer")), {"n": 2**80 + 1}, {"n": 2**80 + 1}),
    (
        "an object's properties are relative to its match",
        obj(owner=at("$.items[0].owner", "object", properties={"name": at("$.login"), "id": {}})),
        REPOS,
        {"owner": {"name": "a", "id": 1}},
    ),
    (
        "an object without a path is built from the enclosing value",
        obj(stats=obj(total=at("$.total_count"), items={"type": "array"})),
        {"total_count": 2, "items": [1]},
        {"stats": {"total": 2, "items": [1]}},
    ),
    (
        "an array without a path is built from the enclosing array",
        array(None, n=at("$.full_name")),
        REPOS["items"],
        [{"n": "a/x"}, {"n": "b/y"}],
    ),
    (
        "an array without a path over an object has one element",
        obj(list=array(None, n=at("$.total_count"))),
        REPOS,
        {"list": [{"n": 2}]},
    ),
    ("a property without a path is copied", obj(total_count={}), REPOS, {"total_count": 2}),
    ("a boolean property schema copies too", obj(total_count=True), REPOS, {"total_count": 2}),
    (
        "a copied object keeps what its schema leaves open",
        obj(o={"type": "object"}),
        {"o": {"x": 1}},
        {"o": {"x": 1}},
    ),
    (
        "a copied object loses unlisted members",
        obj(o=obj(x={})),
        {"o": {"x": 1, "y": 2}},
        {"o": {"x": 1}},
    ),
    (
        "a copied object with additionalProperties keeps them",
        obj(o={**obj(x={}), "additionalProperties": {"type": "integer"}}),
        {"o": {"x": 1, "y": 2}},
        {"o": {"x": 1, "y": 2}},
    ),
    (
        "copied elements lose unlisted members",
        obj(o=array(None, x={})),
        {"o": [{"x": 1, "y": 2}]},
        {"o": [{"x": 1}]},
    ),
    (
        "a copied value of another kind stays",
        obj(o=array(None, x={})),
        {"o": {"x": 1}},
        {"o": {"x": 1}},
    ),
    ("unlisted members are dropped", obj(a={}), {"a": 1, "b": 2}, {"a": 1}),
    ("no properties at all: the value", {"type": "object"}, {"a": 1}, {"a": 1}),
    (
        "a path at the root",
        {**obj(n=at("$.full_name")), "source_field": "$.items[0]"},
        REPOS,
        {"n": "a/x"},
    ),
    ("a root path to a scalar", at("$.total_count", "integer"), REPOS, 2),
    (
        "a root array",
        {**array("$.items", n=at("$.full_name"))},
        REPOS,
        [{"n": "a/x"}, {"n": "b/y"}],
    ),
    (
        "elements selected by items",
        obj(names={"type": "array", "source_field": "$.items[*]", "items": at("$.full_name")}),
        REPOS,
        {"names": ["a/x", "b/y"]},
    ),
    (
        "an element that items does not find is left out",
        obj(names={"type": "array", "source_field": "$.a", "items": at("$.n")}),
        {"a": [{"n": "x"}, {}, {"n": "y"}]},
        {"names": ["x", "y"]},
    ),
    (
        "arrays inside arrays",
        obj(r=array("$.items[*]", tags=at("$.topics[*]", "array"))),
        REPOS,
        {"r": [{"tags": ["p", "q"]}, {"tags": []}]},
    ),
    (
        "lists of lists",
        obj(
            r={
                "type": "array",
                "source_field": "$.a",
                "items": {"type": "array", "items": obj(x={})},
            }
        ),
        {"a": [[{"x": 1, "y": 2}], []]},
        {"r": [[{"x": 1}], []]},
    ),
    (
        "null stays null",
        obj(o=at("$.o", "object", properties={"x": at("$.x")})),
        {"o": None},
        {"o": None},
    ),
    ("null elements stay null", obj(o=array("$.o", x=at("$.x"))), {"o": [None]}, {"o": [None]}),
    (
        "a nullable's anyOf",
        obj(o={"anyOf": [obj(x=at("$.o.x")), {"type": "null"}]}),
        {"o": {"x": 1, "y": 2}},
        {"o": {"x": 1}},
    ),
    (
        "allOf joins",
        {"allOf": [obj(a=at("$.x")), obj(b=at("$.y"))]},
        {"x": 1, "y": 2},
        {"a": 1, "b": 2},
    ),
    (
        "type lists",
        obj(o={**at("$.o"), "type": ["array", "null"], "items": obj(x={})}),
        {"o": [{"x": 1, "y": 2}]},
        {"o": [{"x": 1}]},
    ),
    (
        "elements by position",
        obj(p=at("$.xy", "object", properties={"x": at("$[0]"), "y": at("$[1]")})),
        {"xy": [3, 4]},
        {"p": {"x": 3, "y": 4}},
    ),
    (
        "a property called source_field",
        obj(source_field={"type": "string"}),
        {"source_field": "s"},
        {"source_field": "s"},
    ),
]


@pytest.mark.parametrize(
    ("schema", "value", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_a_projection_gives_what_the_rules_say(schema: Any, value: Any, expected: Any) -> None:
    before = copy.deepcopy(value)
    assert repr(compile_projection(schema).apply(value)) == repr(expected)
    assert value == before


def test_a_required_value_that_is_missing_is_named_with_its_path() -> None:
    schema = {**obj(total=at("$.nope.count")), "required": ["total"]}
    with pytest.raises(ToolError) as failed:
        compile_projection(schema).apply({})
    assert failed.value.message == 'the result lacks "total": nothing at $.nope.count'


def test_a_required_value_missing_in_an_element_is_named_with_its_place() -> None:
    items = {**obj(name=at("$.full_name")), "required": ["name"]}
    schema = obj(repos={"type": "array", "source_field": "$.items[*]", "items": items})
    with pytest.raises(ToolError, match=r'lacks "repos\[\].name": nothing at \$.full_name'):
        compile_projection(schema).apply({"items": [{"full_name": "x"}, {}]})


def test_a_required_array_with_zero_matches_is_there() -> None:
    schema = {**obj(r=at("$.x[*]", "array")), "required": ["r"]}
    assert compile_projection(schema).apply({}) == {"r": []}


def test_a_root_path_with_no_match_is_an_error() -> None:
    with pytest.raises(ToolError, match=r"nothing at \$.a"):
        compile_projection({**obj(x={}), "source_field": "$.a"}).apply({})


def test_the_advertised_schema_has_no_source_field() -> None:
    schema = obj(r=array("$.items[*]", n=at("$.full_name")))
    assert compile_projection(schema).advertised == obj(
        r={"type": "array", "items": obj(n={"type": "string"})}
    )


TREE = {
    "schemas": {
        "Tree": obj(
            label=at("$.name"), kids={"type": "array", "items": {"$ref": "#/schemas/Tree"}}
        ),
        "Path": obj(
            label=at("$.name"),
            kids={"type": "array", "source_field": "$.kids", "items": {"$ref": "#/schemas/Path"}},
        ),
        "Loop": obj(again={"source_field": "$", "$ref": "#/schemas/Loop"}),
    }
}


@pytest.mark.parametrize("name", ["Tree", "Path"])
def test_a_recursive_schema_projects_at_every_level(name: str) -> None:
    projection = compile_projection(References(TREE).resolve({"$ref": f"#/schemas/{name}"}))
    value = {"name": "a", "kids": [{"name": "b", "x": 1, "kids": [{"name": "c"}]}]}
    assert projection.apply(value) == {
        "label": "a",
        "kids": [{"label": "b", "kids": [{"label": "c"}]}],
    }


def test_a_recursive_value_past_64_levels_is_a_tool_error() -> None:
    projection = compile_projection(References(TREE).resolve({"$ref": "#/schemas/Tree"}))
    value: dict[str, Any] = {"name": "leaf"}
    for _ in range(70):
        value = {"name": "n", "kids": [value]}
    with pytest.raises(ToolError, match="too deep"):
        projection.apply(value)


def test_a_projection_that_never_ends_is_stopped() -> None:
    projection = compile_projection(References(TREE).resolve({"$ref": "#/schemas/Loop"}))
    with pytest.raises(ToolError, match="too deep"):
        projection.apply({})


@pytest.mark.parametrize("path", ["$.items[*]", "$.items"])
def test_too_many_elements_are_a_tool_error(path: str) -> None:
    projection = compile_projection(obj(r=array(path, x=at("$.x"))))
    with pytest.raises(ToolError, match="too large"):
        projection.apply({"items": [{}] * (MAX_NODES + 1)})


def test_a_bad_path_is_refused_when_it_is_compiled() -> None:
    with pytest.raises(BadPath):
        compile_projection(obj(x=at("items[*]")))


def test_a_deferred_projection_is_the_same_one() -> None:
    schema = obj(n=at("$.a"))
    deferred = deferred_projection(schema)
    assert deferred.advertised == compile_projection(schema).advertised
    assert deferred.apply({"a": 1}) == deferred.apply({"a": 1, "b": 2}) == {"n": 1}
