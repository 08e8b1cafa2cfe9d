"""Files that are refused, and what is said of them."""

from __future__ import annotations

from typing import Any

from tests.registry.case import SERVER, Case, obj, registry

OK = {"name": "ok", "server": "u"}


def tool(name: str, stated: Any, *problems: tuple[str, str]) -> Case:
    placed = [(f"/tools/0{pointer}", says) for pointer, says in problems]
    return Case(name, registry(stated, OK), problems=placed)


def server(name: str, stated: Any, *problems: tuple[str, str]) -> Case:
    placed = [(f"/servers/0{pointer}", says) for pointer, says in problems]
    return Case(name, {"servers": [stated]}, problems=placed)


CASES = [
    Case("text that is no JSON", '{"tools": [}', problems=[("", "line 1, column 12")]),
    Case("an empty file", "", problems=[("", "{} is a registry with nothing in it")]),
    Case("a list at the top", "[]", problems=[("", "must be a JSON object")]),
    Case(
        "a file nested past reason",
        '{"a":' * 120 + "1" + "}" * 120,
        problems=[("", "nested deeper than 100 levels")],
    ),
    Case(
        "sections of a wrong type",
        {"servers": 1, "tools": {}, "schemas": []},
        problems=[
            ("/servers", "must be a list"),
            ("/tools", "must be a list"),
            ("/schemas", "must be an object"),
        ],
    ),
    Case(
        "an unknown schemaVersion",
        {"schemaVersion": "2.0"},
        problems=[("/schemaVersion", '"2.0" is not known')],
    ),
    Case(
        "entries that are no objects",
        {"tools": ["x", 1]},
        problems=[("/tools/0", "must be an object"), ("/tools/1", "must be an object")],
    ),
    Case(
        "project.expose of a wrong kind",
        {"project": {"expose": "some"}},
        problems=[("/project/expose", '"all", "none" or a list')],
    ),
    server("a server without a name", {"url": "https://h"}, ("", "needs a name")),
    server("a server with neither way", {"name": "u"}, ("", "needs stdio (a command) or url")),
    server(
        "a server with both ways",
        {"name": "u", "url": "https://h", "stdio": {"command": "x"}},
        ("", "has both stdio and url"),
    ),
    server(
        "a server without a command",
        {"name": "u", "stdio": {"args": []}},
        ("/stdio", "needs a command"),
    ),
    server(
        "a URL of another kind",
        {"name": "u", "url": "ftp://h"},
        ("/url", "must begin with http:// or https://"),
    ),
    server(
        "an unknown transport",
        {"name": "u", "url": "https://h", "transport": "sss"},
        ("/transport", 'did you mean "sse"?'),
    ),
    server(
        "stdio as the transport of a URL",
        {"name": "u", "url": "https://h", "transport": "stdio"},
        ("/transport", "does not go with"),
    ),
    server(
        "values of wrong kinds",
        {
            "name": "u",
            "stdio": {"command": 1, "args": "x"},
            "env": {"A": 1},
            "timeoutSecs": 0,
            "auth": "basic",
        },
        ("/env", "values are strings"),
        ("/timeoutSecs", "above 0"),
        ("/auth", '"none", "oauth"'),
        ("/stdio/command", "not empty"),
        ("/stdio/args", "a list of strings"),
        ("/stdio", "needs a command"),
    ),
    Case(
        "two servers of one name",
        {"servers": [SERVER, SERVER]},
        problems=[("/servers/1/name", 'a server named "u" is already at /servers/0')],
    ),
    tool("a tool without a name", {"server": "u"}, ("", "needs a name")),
    tool("a tool without an owner", {"name": "t"}, ("", "needs a server")),
    tool(
        "a tool with two owners",
        {"name": "t", "server": "u", "source": "ok"},
        ("", "has server and source"),
    ),
    tool(
        "an unknown server",
        {"name": "t", "server": "uu"},
        ("/server", 'no server named "uu" (did you mean "u"?)'),
    ),
    tool(
        "an unknown source",
        {"name": "t", "source": "okk"},
        ("/source", 'no tool named "okk" (did you mean "ok"?)'),
    ),
    tool(
        "a tool that is its own source",
        {"name": "t", "source": "t"},
        ("/source", "refers to itself: t -> t"),
    ),
    Case(
        "a cycle is printed",
        registry(
            {"name": "a", "source": "b"}, {"name": "b", "source": "c"}, {"name": "c", "source": "a"}
        ),
        problems=[("/tools/0/source", "is in a cycle: a -> b -> c -> a")],
    ),
    Case(
        "two tools of one name",
        registry(OK, OK),
        problems=[("/tools/1/name", 'a tool named "ok" is already at /tools/0')],
    ),
    tool(
        "a bad JSONPath",
        {"name": "t", "server": "u", "outputSchema": obj(a={"source_field": "items[*]"})},
        ("/outputSchema/properties/a/source_field", "a path starts with $"),
    ),
    tool(
        "a source_field that is no string",
        {"name": "t", "server": "u", "outputSchema": obj(a={"source_field": 1})},
        ("/outputSchema/properties/a/source_field", "must be a JSONPath"),
    ),
    tool(
        "a bad JSONPath deep in a list",
        {
            "name": "t",
            "server": "u",
            "outputSchema": {
                "type": "array",
                "items": {"properties": {"x/y": {"source_field": "$.["}}},
            },
        },
        ("/outputSchema/items/properties/x~1y/source_field", "is no JSONPath"),
    ),
    Case(
        "an unknown reference",
        registry({**OK, "inputSchema": obj(a={"$ref": "#/schemas/Uri"})}, schemas={"Url": {}}),
        problems=[("/tools/0/inputSchema/properties/a/$ref", 'did you mean "#/schemas/Url"?')],
    ),
    Case(
        "a bad reference and a bad path inside a shared schema",
        registry(schemas={"A": {"$ref": "#/schemas/B"}, "C": {"source_field": "x"}}),
        problems=[
            ("/schemas/A/$ref", "no schema at '#/schemas/B'"),
            ("/schemas/C/source_field", "a path starts with $"),
        ],
    ),
    Case(
        "schemas that only refer to each other",
        registry(schemas={"A": {"$ref": "#/schemas/B"}, "B": {"$ref": "#/schemas/A"}}),
        problems=[
            ("/schemas/A/$ref", "references only each other"),
            ("/schemas/B/$ref", "references only each other"),
        ],
    ),
    tool(
        "fields of wrong kinds",
        {
            "name": "t",
            "server": "u",
            "title": 1,
            "inputSchema": [],
            "hideFields": "x",
            "hidden": "yes",
            "validationMode": "loose",
        },
        ("/title", "a string"),
        ("/inputSchema", "an object"),
        ("/hideFields", "a list of strings"),
        ("/hidden", "true or false"),
        ("/validationMode", '"strict", "warn", "skip"'),
    ),
    tool(
        "a hash in another form",
        {"name": "t", "server": "u", "expectedSchemaHash": "md5:1"},
        ("/expectedSchemaHash", "64 hexadecimal digits"),
    ),
    tool(
        "a pin without a source",
        {"name": "t", "server": "u", "sourceVersionPin": "1"},
        ("/sourceVersionPin", "only a tool with a source"),
    ),
    tool(
        "a pattern that needs backtracking",
        {
            "name": "t",
            "server": "u",
            "textExtraction": {
                "parser": "markdown_bullet_list",
                "item_patterns": {"a": {"regex": "(?=x)"}},
            },
        },
        ("/textExtraction/item_patterns/a/regex", "is no pattern for RE2"),
    ),
    tool(
        "an unknown parser",
        {"name": "t", "server": "u", "textExtraction": {"parser": "html"}},
        ("/textExtraction/parser", "markdown_numbered_list"),
        ("/textExtraction", "needs a parser"),
    ),
    Case(
        "problems of every kind are all told at once",
        {
            "servers": [{"name": "u"}],
            "tools": [
                {"name": "a", "server": "x"},
                {"name": "b", "source": "b"},
                {"name": "c", "server": "u", "outputSchema": {"source_field": "?"}},
            ],
        },
        problems=[
            ("/servers/0", "needs stdio"),
            ("/tools/2/outputSchema/source_field", "starts with $"),
            ("/tools/0/server", "no server"),
            ("/tools/1/source", "itself"),
        ],
    ),
    Case(
        "a problem of an inline server is placed where it stands",
        {"tools": [{"name": "t", "server": {"command": ""}}]},
        problems=[("/tools/0/server/command", "not empty"), ("/tools/0/server", "needs a command")],
    ),
    Case(
        "a problem of mcpServers is placed where it stands",
        {"mcpServers": {"a/b": {"url": "x"}, "c": 1}},
        problems=[
            ("/mcpServers/c", "must be an object"),
            ("/mcpServers/a~1b/url", "must begin with"),
        ],
    ),
    Case(
        "a problem of agentgateway's source is placed where it stands",
        {"tools": [{"name": "t", "source": {"target": "nope", "tool": "x"}}]},
        problems=[("/tools/0/source/target", 'no server named "nope"')],
    ),
    Case(
        "a target that cannot be reached",
        {"targets": [{"name": "o", "openapi": {}}], "tools": []},
        problems=[("/targets/0", "a target with openapi cannot be reached")],
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
                }
            ],
            "servers": [SERVER],
        },
        problems=[
            ("/tools/0/outputTransform/mappings/a", "must have one of path"),
            ("/tools/0/outputTransform/mappings/b[", "a key is a, a.b or a[*].b"),
            ("/tools/0/outputTransform/mappings/c/path", "starts with $"),
        ],
    ),
    Case(
        "a pattern that is not run",
        {"tools": [{"name": "t", "spec": {"saga": {}}}]},
        problems=[("/tools/0/spec", "saga cannot be run; the patterns are pipeline")],
    ),
]
