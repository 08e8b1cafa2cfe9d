"""Shared schemas and references to them."""

from __future__ import annotations

from tests.registry.case import INTEGER, STRING, Ask, Case, obj, registry, text

ANY = {"u": [{"name": "any", "inputSchema": {"type": "object"}}]}
NODE = obj(kids={"type": "array", "items": {"$ref": "#/schemas/Node"}})
SCHEMAS = {
    "Url": obj(["url"], url=STRING),
    "Deep": obj(inner=obj(x=INTEGER)),
    "Alias": {"$ref": "#/schemas/Url"},
    "Holder": obj(it={"$ref": "#/schemas/Alias"}),
    "Node": NODE,
    "Row": obj(["id"], id={"type": "integer", "source_field": "$.key"}),
}


def tool(schema: object, **more: object) -> dict[str, object]:
    return {"name": "any", "server": "u", "inputSchema": schema, **more}


def shown(name: str, schema: object, expected: object) -> Case:
    return Case(
        name,
        registry(tool(schema), schemas=SCHEMAS),
        upstreams=ANY,
        shows={"any": {"inputSchema": expected}},
    )


CASES = [
    shown("a reference is inlined in the list", {"$ref": "#/schemas/Url"}, SCHEMAS["Url"]),
    shown("a reference to a reference is inlined", {"$ref": "#/schemas/Alias"}, SCHEMAS["Url"]),
    shown(
        "references inside references are inlined",
        {"$ref": "#/schemas/Holder"},
        obj(it=SCHEMAS["Url"]),
    ),
    shown(
        "a deep pointer is inlined",
        obj(a={"$ref": "#/schemas/Deep/properties/inner"}),
        obj(a=obj(x=INTEGER)),
    ),
    shown(
        "words beside a reference stay",
        obj(a={"$ref": "#/schemas/Url", "description": "Where."}),
        obj(a={**SCHEMAS["Url"], "description": "Where."}),
    ),
    shown(
        "a recursive reference moves to $defs",
        {"$ref": "#/schemas/Node"},
        {
            "type": "object",
            "$ref": "#/$defs/Node",
            "$defs": {"Node": obj(kids={"type": "array", "items": {"$ref": "#/$defs/Node"}})},
        },
    ),
    shown(
        "other references stay as they are",
        {**obj(a={"$ref": "#/$defs/A"}), "$defs": {"A": STRING}},
        {**obj(a={"$ref": "#/$defs/A"}), "$defs": {"A": STRING}},
    ),
    Case(
        "another tool's inputSchema can be referred to",
        registry(
            {
                "name": "b",
                "server": "u",
                "originalName": "any",
                "inputSchema": {"$ref": "#/tools/1/inputSchema"},
            },
            tool(obj(q=STRING)),
        ),
        upstreams=ANY,
        shows={"b": {"inputSchema": obj(q=STRING)}},
    ),
    Case(
        "two tools that share a schema can hide different fields of it",
        registry(
            tool({"$ref": "#/schemas/Url"}, defaults={"url": "x"}),
            {
                "name": "b",
                "server": "u",
                "originalName": "any",
                "inputSchema": {"$ref": "#/schemas/Url"},
            },
            schemas=SCHEMAS,
        ),
        upstreams=ANY,
        shows={
            "any": {"inputSchema": {"type": "object", "properties": {}}},
            "b": {"inputSchema": SCHEMAS["Url"]},
        },
    ),
    Case(
        "a recursive schema is what clients are held to",
        registry(tool({"$ref": "#/schemas/Node"}), schemas=SCHEMAS),
        upstreams=ANY,
        asks=[
            Ask("any", {"kids": [{"kids": []}]}, reaches=("u", "any", {"kids": [{"kids": []}]})),
            Ask("any", {"kids": [{"kids": 1}]}, error="Invalid arguments"),
        ],
    ),
    Case(
        "a reference in an outputSchema carries its source_field",
        registry(
            {
                "name": "rows",
                "server": "u",
                "outputSchema": obj(
                    rows={
                        "type": "array",
                        "source_field": "$.r[*]",
                        "items": {"$ref": "#/schemas/Row"},
                    }
                ),
            },
            schemas=SCHEMAS,
        ),
        upstreams={"u": [{"name": "rows", "result": text('{"r": [{"key": 1}, {"key": 2}]}')}]},
        shows={
            "rows": {"outputSchema": obj(rows={"type": "array", "items": obj(["id"], id=INTEGER)})}
        },
        asks=[Ask("rows", structured={"rows": [{"id": 1}, {"id": 2}]})],
    ),
    Case(
        "a reference that would be fetched never is",
        registry(tool(obj(a={"$ref": "http://127.0.0.1:9/x.json"}))),
        upstreams=ANY,
        asks=[Ask("any", {"a": 1}, error="never fetched")],
    ),
]
