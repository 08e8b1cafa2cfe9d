"""Search ranks what a query is about first, and says which of its words occur nowhere."""

from __future__ import annotations

import pytest

from tests.context.tools import catalog, tool
from toolyard.context.finding import ToolIndex
from toolyard.context.words import stem, terms_of

WEATHER = tool("get_forecast", "Weather of the coming days in a city.", "weather")
DELETE = tool("delete_file", "Removes a file for good.", "files")
LIST = tool("listDirectories", "Names what is in a folder.", "files")
ISSUE = tool("create_issue", "Opens a ticket.", "github", keywords=("bug", "defect"))
INDEX = ToolIndex(catalog(WEATHER, DELETE, LIST, ISSUE))


def names(query: str, **options: str) -> list[str]:
    return [hit.tool.name for hit in INDEX.search(query, 5, **options).hits]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("what will the weather be like tomorrow", "get_forecast"),
        ("forecasting", "get_forecast"),
        ("deletes files", "delete_file"),
        ("list a directory", "listDirectories"),
        ("direktory", "listDirectories"),
        ("report a bug", "create_issue"),
        ("github", "create_issue"),
        ("create_issue", "create_issue"),
        ("CREATE_ISSUE", "create_issue"),
    ],
)
def test_other_forms_other_spellings_keywords_and_servers_lead_to_a_tool(
    query: str, first: str
) -> None:
    assert names(query)[0] == first


def test_a_server_narrows_the_search() -> None:
    assert set(names("file folder weather", server="files")) == {"delete_file", "listDirectories"}
    assert names("file", server="nobody") == []


def test_words_that_occur_nowhere_are_named_and_common_ones_are_not() -> None:
    search = INDEX.search("please send a fax about the weather", 5)
    assert search.unmatched == ("send", "fax")
    assert search.total == 4


def test_nothing_is_cut_off_because_it_matches_weakly() -> None:
    assert names("ticket") == ["create_issue"]


def test_an_empty_catalog_and_a_query_of_nothing_find_nothing() -> None:
    empty = ToolIndex(catalog())
    assert empty.search("anything", 5).hits == ()
    assert empty.search("anything", 5).unmatched == ("anything",)
    assert INDEX.search("the of and", 5).hits == ()
    assert INDEX.search("", 5).hits == ()


def test_an_index_of_the_same_tools_takes_over_what_the_older_one_has() -> None:
    newer = ToolIndex(catalog(WEATHER, DELETE, LIST, tool("new", "Something new.")), INDEX)
    assert newer.documents["get_forecast"] is INDEX.documents["get_forecast"]
    changed = tool("get_forecast", "Tells fortunes.", "weather")
    other = ToolIndex(catalog(changed), INDEX)
    assert [hit.tool for hit in other.search("fortune", 5).hits] == [changed]
    assert other.search("city", 5).hits == ()


@pytest.mark.parametrize(
    "forms",
    [
        ("file", "files"),
        ("query", "queries"),
        ("run", "running"),
        ("create", "creates", "created", "creating", "creation", "creator"),
        ("search", "searches", "searching", "searched"),
        ("box", "boxes"),
        ("translate", "translation", "translating"),
    ],
)
def test_forms_of_a_word_have_one_stem(forms: tuple[str, ...]) -> None:
    assert len({stem(form) for form in forms}) == 1


def test_identifiers_are_taken_apart() -> None:
    assert list(terms_of("getHTTPResponse_v2")) == [
        stem("get"), "http", stem("response"), "v", "2"
    ]  # fmt: skip
