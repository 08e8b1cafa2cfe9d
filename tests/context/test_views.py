"""What each view lists and costs, who chooses it, and what is refused."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from tests.context.tools import catalog, tool
from toolyard.catalog.snapshot import Catalog
from toolyard.context import answers
from toolyard.context.display import chosen, definitions, tokens_of
from toolyard.context.finding import ToolIndex
from toolyard.context.meta_tools import META_NAMES, call_with
from toolyard.context.reading import Reading, reading_of, smallest_budget
from toolyard.protocol.codec import dumps

PAGES_ONLY = {"ui": {"resourceUri": "ui://x", "visibility": ["app"]}}
VERBS = [
    "list",
    "get",
    "create",
    "update",
    "delete",
    "search",
    "export",
    "import",
    "move",
    "copy",
    "watch",
    "sync",
]
NOUNS = [
    "issue",
    "page",
    "file",
    "mail",
    "event",
    "order",
    "invoice",
    "user",
    "team",
    "build",
    "deploy",
    "alert",
    "note",
]


def large(servers: int, tools: int) -> Catalog:
    """As many tools as a large installation has, with names and texts of the usual length."""
    chance = random.Random(1)
    text = "Does what its name says, with every option that the service behind it has. "
    made = []
    for number in range(tools):
        server = f"server{number % servers}"
        verb, noun = VERBS[number % len(VERBS)], NOUNS[number // len(VERBS) % len(NOUNS)]
        properties = {
            f"{noun}_{part}": {"type": "string", "description": text}
            for part in ("id", "name", "filter")[: chance.randint(1, 3)]
        }
        schema = {"type": "object", "properties": properties}
        name = f"{verb}_{noun}_{number // 100}" if number >= 100 else f"{verb}_{noun}"
        made.append(tool(name, text * 3, server, inputSchema=schema))
    return catalog(*made)


def test_the_full_view_is_what_the_catalog_lists() -> None:
    some = catalog(tool("a"), tool("b"))
    assert definitions(some, "full") == [entry.definition for entry in some.tools.values()]


def test_527_tools_of_70_servers_take_1500_tokens_in_search_and_4000_in_index() -> None:
    many = large(70, 527)
    assert len(many.tools) == 527
    assert tokens_of(many, "full") > 50_000
    assert tokens_of(many, "search") <= 1_500
    assert tokens_of(many, "index") <= 4_000


def test_the_meta_tools_are_the_same_bytes_whatever_the_catalog_holds() -> None:
    lists = {dumps(definitions(large(n, n * 3), "search")) for n in range(1, 40)}
    assert len(lists) == 1


def test_the_index_names_every_tool_by_its_server_and_none_that_only_pages_call() -> None:
    some = catalog(tool("a"), tool("b", server="v"), tool("c"), tool("page", _meta=PAGES_ONLY))
    find = definitions(some, "index")[0]
    assert find["description"].endswith("All tools, by server:\nu: a c\nv: b")


def test_pinned_tools_are_listed_beside_the_meta_tools_but_never_instead_of_them() -> None:
    pins: Any = {"listedInEveryView": True}
    some = catalog(tool("a", **pins), tool("b"), tool("find_tools", **pins))
    for view in ("index", "search"):
        names = [definition["name"] for definition in definitions(some, view)]
        assert names[4:] == ["a"] and set(names[:4]) == META_NAMES


@pytest.mark.parametrize(
    ("annotations", "expected"),
    [
        ({"readOnlyHint": True}, "call_read_tool"),
        ({"readOnlyHint": True, "destructiveHint": True}, "call_read_tool"),
        ({"destructiveHint": False}, "call_write_tool"),
        ({"readOnlyHint": False, "destructiveHint": False}, "call_write_tool"),
        ({"readOnlyHint": "true"}, "call_destructive_tool"),
        ({}, "call_destructive_tool"),
        (None, "call_destructive_tool"),
        ([], "call_destructive_tool"),
    ],
)
def test_annotations_say_which_call_tool_is_for_a_tool(annotations: object, expected: str) -> None:
    assert call_with(tool("a", annotations=annotations)) == expected


def test_a_budget_chooses_the_fullest_view_that_fits() -> None:
    many = large(70, 527)
    sizes = {view: tokens_of(many, view) for view in ("full", "index", "search")}
    for view, size in sizes.items():
        assert chosen(Reading(budget=size), many) == view
    assert chosen(Reading(budget=sizes["full"] - 1), many) == "index"
    assert chosen(Reading(budget=sizes["index"] - 1), many) == "search"
    assert chosen(Reading(budget=sizes["index"]), catalog(tool("a"))) == "full"


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"view": "serach"}, 'no view "serach" (did you mean "search"?)'),
        ({"view": "x" * 9_999}, "the views are full, index, search"),
        ({"budget": "many"}, "a number of tokens"),
        ({"budget": "-1"}, "a number of tokens"),
        ({"budget": "100"}, f"takes about {smallest_budget()}"),
        ({"budget": 1}, "too small"),
        ({"view": "index", "budget": "4000"}, "name one of them"),
    ],
)
def test_a_view_or_budget_that_cannot_be_is_refused_with_what_can(
    fields: dict[str, object], complaint: str
) -> None:
    with pytest.raises(ValueError) as refused:
        reading_of(fields)
    assert complaint in str(refused.value) and len(str(refused.value)) < 700


def test_an_answer_stays_small_keeps_every_match_and_says_which_schemas_are_short() -> None:
    long = {"type": "object", "properties": {f"p{n}": {"type": "string", "description": "x" * 200}
            for n in range(20)}, "required": ["p0"]}  # fmt: skip
    tools = [tool(f"find_{n}", "Finds. " * 100, inputSchema=long) for n in range(5)]
    index = ToolIndex(catalog(*tools, tool("find_short", "Finds briefly.")))
    answer = answers.found(index.search("find", 6))
    assert len(dumps(answer)) <= answers.BYTES + 200
    assert len(answer["tools"]) == 6
    short = next(entry for entry in answer["tools"] if entry["name"] == "find_short")
    assert short["inputSchema"] == {"type": "object", "properties": {}}
    assert "find_0" in answer["note"] and "find_short" not in answer["note"]
    result = answers.result(answer)
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]


def test_by_its_name_a_tool_comes_whole() -> None:
    long = {"type": "object", "properties": {f"p{n}": {"type": "string", "description": "x" * 200}
            for n in range(40)}}  # fmt: skip
    index = ToolIndex(catalog(tool("a", "Does it. " * 100, inputSchema=long)))
    answer = answers.named(index.named(["a", "b"]))
    assert answer["tools"][0]["inputSchema"] == long
    assert answer["tools"][0]["description"] == "Does it. " * 100
    assert answer["unmatched"] == ["b"] and "note" not in answer
