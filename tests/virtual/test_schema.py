"""Schemas as clients see them: references, hidden fields, no trace of source_field."""

from __future__ import annotations

import copy
from typing import Any

import jsonschema_rs
import pytest

from toolyard.virtual.schema import (
    BadReference,
    References,
    hide,
    mentions,
    required_fields,
    without_source_fields,
)

TEXT = {"type": "string"}
FILE: dict[str, Any] = {
    "schemas": {
        "Url": {"type": "object", "properties": {"url": TEXT}, "required": ["url"]},
        "Alias": {"$ref": "#/schemas/Url"},
        "Outer": {"type": "object", "properties": {"inner": {"$ref": "#/schemas/Alias"}}},
        "Node": {
            "type": "object",
            "properties": {"kids": {"type": "array", "items": {"$ref": "#/schemas/Node"}}},
        },
        "Even": {"properties": {"odd": {"$ref": "#/schemas/Odd"}}},
        "Odd": {"properties": {"even": {"$ref": "#/schemas/Even"}}},
        "Ping": {"$ref": "#/schemas/Pong"},
        "Pong": {"$ref": "#/schemas/Ping"},
        "a/b~c d": TEXT,
        "Yes": True,
        "Text": "not a schema",
        "Lists": {"anyOf": [TEXT, {"type": "integer"}]},
    },
    "tools": [{"name": "t", "inputSchema": {"properties": {"q": TEXT}}}, {"name": "u"}],
}
NODE = FILE["schemas"]["Node"]


CASES: list[tuple[str, Any, Any]] = [
    ("a reference is inlined", {"$ref": "#/schemas/Url"}, FILE["schemas"]["Url"]),
    ("a reference to a reference", {"$ref": "#/schemas/Alias"}, FILE["schemas"]["Url"]),
    (
        "a reference inside a referenced schema",
        {"$ref": "#/schemas/Outer"},
        {"type": "object", "properties": {"inner": FILE["schemas"]["Url"]}},
    ),
    ("a deep pointer", {"items": {"$ref": "#/schemas/Url/properties/url"}}, {"items": TEXT}),
    ("a pointer through a list", {"$ref": "#/schemas/Lists/anyOf/1"}, {"type": "integer"}),
    ("another tool's input", {"$ref": "#/tools/0/inputSchema"}, {"properties": {"q": TEXT}}),
    ("an escaped name", {"not": {"$ref": "#/schemas/a~1b~0c%20d"}}, {"not": TEXT}),
    (
        "a boolean schema",
        {"properties": {"x": {"$ref": "#/schemas/Yes"}}},
        {"properties": {"x": True}},
    ),
    (
        "recursion moves to $defs",
        {"$ref": "#/schemas/Node"},
        {
            "$ref": "#/$defs/Node",
            "$defs": {
                "Node": {
                    "type": "object",
                    "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/Node"}}},
                }
            },
        },
    ),
    (
        "mutual recursion",
        {"properties": {"e": {"$ref": "#/schemas/Even"}}},
        {
            "properties": {"e": {"$ref": "#/$defs/Even"}},
            "$defs": {
                "Even": {"properties": {"odd": {"$ref": "#/$defs/Odd"}}},
                "Odd": {"properties": {"even": {"$ref": "#/$defs/Even"}}},
            },
        },
    ),
    (
        "a definition of that name already there",
        {"$defs": {"Node": TEXT}, "items": {"$ref": "#/schemas/Node"}},
        {
            "$defs": {
                "Node": TEXT,
                "Node_2": {
                    "type": "object",
                    "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/Node_2"}}},
                },
            },
            "items": {"$ref": "#/$defs/Node_2"},
        },
    ),
    (
        "annotations beside a reference win",
        {"$ref": "#/schemas/Url", "description": "here", "source_field": "$.u"},
        {**FILE["schemas"]["Url"], "description": "here", "source_field": "$.u"},
    ),
    (
        "keywords beside a reference apply too",
        {"$ref": "#/schemas/Url", "required": ["x"]},
        {"required": ["x"], "allOf": [FILE["schemas"]["Url"]]},
    ),
    ("other references stay", {"$ref": "#/$defs/A", "$defs": {"A": TEXT}}, None),
    ("a remote reference stays", {"items": {"$ref": "https://example.com/s.json"}}, None),
    ("an anchor stays", {"$anchor": "here", "items": {"$ref": "#here"}}, None),
    ("values are not schemas", {"const": {"$ref": "#/schemas/Nope"}}, None),
    ("a property named $ref", {"properties": {"$ref": {"type": "string"}}}, None),
    ("a schema that is no object", True, None),
]


@pytest.mark.parametrize(("schema", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_a_resolved_schema_stands_alone_and_nothing_is_mutated(schema: Any, expected: Any) -> None:
    file, before = copy.deepcopy(FILE), copy.deepcopy(schema)
    resolved = References(file).resolve(schema)
    assert resolved == (before if expected is None else expected)
    assert (file, schema) == (FILE, before)


def test_a_recursive_schema_still_validates_after_resolving() -> None:
    validator = jsonschema_rs.validator_for(References(FILE).resolve({"$ref": "#/schemas/Node"}))
    assert validator.is_valid({"kids": [{"kids": []}]})
    assert not validator.is_valid({"kids": [{"kids": 3}]})


def test_two_resolutions_share_no_part() -> None:
    references = References(FILE)
    first = references.resolve({"$ref": "#/schemas/Url"})
    first["properties"]["url"]["type"] = "integer"
    first["required"].append("changed")
    assert references.resolve({"$ref": "#/schemas/Url"}) == FILE["schemas"]["Url"]
    assert TEXT == {"type": "string"}


@pytest.mark.parametrize(
    ("ref", "says"),
    [
        ("#/schemas/Nope", "no schema at '#/schemas/Nope'"),
        ("#/schemas/Url/properties/nope", "no schema at"),
        ("#/tools/1/inputSchema", "no schema at"),
        ("#/tools/9/inputSchema", "no schema at"),
        ("#/schemas/Text", "is not a schema"),
        ("#/schemas/Ping", "references only each other"),
    ],
)
def test_an_unknown_reference_is_refused(ref: str, says: str) -> None:
    with pytest.raises(BadReference, match=says):
        References(FILE).resolve({"properties": {"x": {"$ref": ref}}})


def test_references_that_double_at_each_step_are_refused() -> None:
    schemas = {
        f"S{i}": {"prefixItems": [{"$ref": f"#/schemas/S{i + 1}"}] * 2} for i in range(40)
    } | {"S40": TEXT}
    with pytest.raises(BadReference, match="unfold to over"):
        References({"schemas": schemas}).resolve({"$ref": "#/schemas/S0"})


def test_source_field_leaves_the_schema_except_as_a_property_name() -> None:
    schema = {
        "source_field": "$.a",
        "properties": {"source_field": {"type": "string", "source_field": "$.b"}},
        "items": {"allOf": [{"source_field": "$.c", "title": "t"}]},
        "const": {"source_field": 1},
    }
    assert without_source_fields(schema) == {
        "properties": {"source_field": {"type": "string"}},
        "items": {"allOf": [{"title": "t"}]},
        "const": {"source_field": 1},
    }


HIDDEN: list[tuple[str, Any, Any]] = [
    (
        "properties and required",
        {"properties": {"a": TEXT, "b": TEXT}, "required": ["a", "b"]},
        {"properties": {"b": TEXT}, "required": ["b"]},
    ),
    (
        "the last required one takes the keyword with it",
        {"properties": {"a": TEXT}, "required": ["a"]},
        {"properties": {}},
    ),
    (
        "all branches of the root",
        {"allOf": [{"properties": {"a": TEXT}, "required": ["a"]}, {"required": ["b"]}]},
        {"allOf": [{"properties": {}}, {"required": ["b"]}]},
    ),
    (
        "a root reference, whose definition stays for others",
        {
            "$ref": "#/$defs/R",
            "$defs": {"R": {"properties": {"a": TEXT, "r": {"$ref": "#/$defs/R"}}}},
        },
        {
            "properties": {"r": {"$ref": "#/$defs/R"}},
            "$defs": {"R": {"properties": {"a": TEXT, "r": {"$ref": "#/$defs/R"}}}},
        },
    ),
    (
        "what depends on it",
        {"dependentRequired": {"a": ["b"], "c": ["a", "d"]}},
        {"dependentRequired": {"c": ["d"]}},
    ),
    (
        "nothing below the root's own fields",
        {"properties": {"x": {"properties": {"a": TEXT}, "required": ["a"]}}},
        {"properties": {"x": {"properties": {"a": TEXT}, "required": ["a"]}}},
    ),
    ("a field it never mentioned", {"type": "object"}, {"type": "object"}),
    (
        "among what is not a name",
        {"required": [{}, "a", [1]], "dependentRequired": {"c": 7}},
        {"required": [{}, [1]], "dependentRequired": {"c": 7}},
    ),
]


@pytest.mark.parametrize(
    ("schema", "expected"), [h[1:] for h in HIDDEN], ids=[h[0] for h in HIDDEN]
)
def test_a_hidden_field_leaves_the_advertised_schema(schema: Any, expected: Any) -> None:
    before = copy.deepcopy(schema)
    assert hide(schema, ["a"]) == expected
    assert schema == before


def test_required_fields_are_found_through_all_of_and_references() -> None:
    schema = {
        "required": ["a"],
        "allOf": [{"required": ["b"]}, {"$ref": "#/$defs/C"}],
        "anyOf": [{"required": ["x"]}, {"required": ["y"]}],
        "$defs": {"C": {"required": ["c"]}},
    }
    assert required_fields(schema) == {"a", "b", "c"}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"properties": {"a": TEXT}}, True),
        ({"properties": {"b": TEXT}}, False),
        ({"properties": {}}, False),
        ({"type": "object"}, True),
        ({"type": "object", "additionalProperties": False}, False),
        ({"anyOf": [{"properties": {"a": TEXT}}, {"properties": {"b": TEXT}}]}, True),
    ],
)
def test_a_schema_mentions_the_fields_a_client_may_send(schema: Any, expected: bool) -> None:
    assert mentions(schema, "a") is expected
