"""Files with mistakes: refused where they make no sense as a whole, else one entry is disabled."""

from __future__ import annotations

from typing import Any

from tests.registry.case import SERVER, Case, obj, registry

OK = {"name": "ok", "server": "u"}


def tool(name: str, stated: Any, *problems: tuple[str, str]) -> Case:
    """A mistake in a tool; the other one stays."""
    placed = [(f"/tools/0{pointer}", says) for pointer, says in problems]
    disabled = {stated["name"]: problems[0][1]} if "name" in stated else {}
    return Case(name, registry(stated, OK), problems=placed, serves=["ok"], disabled=disabled)


def server(name: str, stated: Any, *problems: tuple[str, str]) -> Case:
    """A mistake in a server; the tools of the other one stay."""
    placed = [(f"/servers/0{pointer}", says) for pointer, says in problems]
    over = {"name": "over", "server": "bad"}
    return Case(
        name,
        registry(over, OK, servers=[stated, SERVER]),
        problems=placed,
        serves=["ok"],
        disabled={"over": problems[0][1]},
        warns=["server bad is disabled"],
    )


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
        {"servers": [SERVER, 2], "tools": ["x", 1, OK]},
        problems=[
            ("/servers/1", "must be an object"),
            ("/tools/0", "must be an object"),
            ("/tools/1", "must be an object"),
        ],
        serves=["ok"],
        warns=["registry.json#/tools/0: it is left out: must be an object"],
    ),
    Case(
        "project.expose of a wrong kind",
        {"project": {"expose": "some"}},
        problems=[("/project/expose", '"all", "none" or a list')],
    ),
    Case(
        "a server without a name",
        registry(OK, servers=[{"url": "https://h"}, SERVER]),
        problems=[("/servers/0", "a server needs a name")],
        serves=["ok"],
        warns=["registry.json#/servers/0: it is left out: a server needs a name"],
    ),
    server(
        "a server with neither way",
        {"name": "bad"},
        ("", "server bad needs stdio (a command) or url"),
    ),
    server(
        "a server with both ways",
        {"name": "bad", "url": "https://h", "stdio": {"command": "x"}},
        ("", "has both stdio and url"),
    ),
    server(
        "a server without a command",
        {"name": "bad", "stdio": {"args": []}},
        ("/stdio", "needs a command"),
    ),
    server(
        "a URL of another kind",
        {"name": "bad", "url": "ftp://h"},
        ("/url", "must begin with http:// or https://"),
    ),
    server(
        "an OAuth grant that there is not",
        {"name": "bad", "url": "https://h", "auth": "oauth", "oauth": {"grant": "password"}},
        ("/oauth/grant", "one of authorization_code"),
    ),
    server(
        "a client of OAuth that is no text",
        {"name": "bad", "url": "https://h", "auth": "oauth", "oauth": {"clientId": 7}},
        ("/oauth/clientId", "must be a string"),
    ),
    server(
        "an unknown transport",
        {"name": "bad", "url": "https://h", "transport": "sss"},
        ("/transport", 'did you mean "sse"?'),
    ),
    server(
        "stdio as the transport of a URL",
        {"name": "bad", "url": "https://h", "transport": "stdio"},
        ("/transport", "does not fit the rest of the entry"),
    ),
    server(
        "values of wrong kinds",
        {
            "name": "bad",
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
        "a composition of a tool that is not there",
        {"name": "t", "spec": {"mapEach": {"inner": {"tool": "okk"}}}},
        ("/spec", 'no tool named "okk" (did you mean "ok"?)'),
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
            *({"name": name, "source": source} for name, source in ("ab", "bc", "ca", "xb")), OK
        ),
        problems=[
            (f"/tools/{number}/source", "is in a cycle: a -> b -> c -> a") for number in range(3)
        ],
        serves=["ok"],
        disabled={
            "b": "is in a cycle: a -> b -> c -> a (/tools/1/source)",
            "x": 'its source "b" is disabled: is in a cycle: a -> b -> c -> a',
        },
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
        ("/outputSchema/items/properties/x~1y/source_field", "is not a JSONPath"),
    ),
    Case(
        "an unknown reference",
        registry(
            {**OK, "name": "t", "inputSchema": obj(a={"$ref": "#/schemas/Uri"})},
            OK,
            schemas={"Url": {}},
        ),
        problems=[("/tools/0/inputSchema/properties/a/$ref", 'did you mean "#/schemas/Url"?')],
        serves=["ok"],
        disabled={"t": 'did you mean "#/schemas/Url"?'},
    ),
    Case(
        "a bad reference and a bad path inside a shared schema",
        registry(
            {**OK, "name": "a", "inputSchema": {"$ref": "#/schemas/A"}},
            {**OK, "name": "c", "outputSchema": {"$ref": "#/schemas/C"}},
            {**OK, "inputSchema": {"$ref": "#/schemas/D"}},
            schemas={"A": {"$ref": "#/schemas/B"}, "C": {"source_field": "x"}, "D": {}},
        ),
        problems=[
            ("/schemas/A/$ref", "no schema at '#/schemas/B'"),
            ("/schemas/C/source_field", "a path starts with $"),
            ("/tools/0/inputSchema/$ref", "no schema at '#/schemas/B'"),
            ("/tools/1/outputSchema", "a path starts with $"),
        ],
        serves=["ok"],
        disabled={"a": "no schema at '#/schemas/B'", "c": "a path starts with $"},
        warns=["registry.json#/schemas/A: what refers to it is disabled"],
    ),
    Case(
        "schemas that only refer to each other",
        registry(OK, schemas={"A": {"$ref": "#/schemas/B"}, "B": {"$ref": "#/schemas/A"}}),
        problems=[
            ("/schemas/A/$ref", "references only each other"),
            ("/schemas/B/$ref", "references only each other"),
        ],
        serves=["ok"],
    ),
    Case(
        "a schema that is no schema",
        registry({**OK, "name": "t", "inputSchema": {"$ref": "#/schemas/A"}}, OK, schemas={"A": 1}),
        problems=[
            ("/schemas/A", "must be a schema"),
            ("/tools/0/inputSchema/$ref", "is not a schema"),
        ],
        serves=["ok"],
        disabled={"t": "'#/schemas/A' is not a schema (/tools/0/inputSchema/$ref)"},
    ),
    Case(
        "compositions in two cycles that share a tool",
        registry(
            {"name": "x", "spec": {"pipeline": {"steps": [{"operation": {"tool": "y"}}]}}},
            {
                "name": "y",
                "spec": {
                    "scatterGather": {"targets": [{"tool": "x"}, {"tool": "a"}]},
                },
            },
            {"name": "a", "spec": {"mapEach": {"inner": {"tool": "b"}}}},
            {"name": "b", "spec": {"mapEach": {"inner": {"tool": "a"}}}},
            OK,
        ),
        problems=[
            ("/tools/0/spec", "is in a cycle: x -> y -> x"),
            ("/tools/1/spec", "is in a cycle: x -> y -> x"),
            ("/tools/2/spec", "is in a cycle: a -> b -> a"),
            ("/tools/3/spec", "is in a cycle: a -> b -> a"),
        ],
        serves=["ok"],
        disabled={"y": "is in a cycle: x -> y -> x", "b": "is in a cycle: a -> b -> a"},
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
        ("/textExtraction/item_patterns/a/regex", "is not a pattern of RE2"),
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
                {"name": "d", "source": "c"},
            ],
        },
        problems=[
            ("/servers/0", "needs stdio"),
            ("/tools/2/outputSchema/source_field", "starts with $"),
            ("/tools/0/server", "no server"),
            ("/tools/1/source", "itself"),
        ],
        serves=[],
        disabled={
            "a": 'no server named "x"',
            "b": "refers to itself",
            "d": 'its source "c" is disabled',
        },
    ),
]
