"""What the page may change in a registry file, and what never."""

from __future__ import annotations

from typing import Any

import pytest

from toolyard.files.comments import parse
from toolyard.files.places import line_of, nearest, places
from toolyard.web.editing.entries import EntryEdit, with_entry
from toolyard.web.editing.sections import RefusedEdit, check_edit, edited, sections

FILE = """// Ours
{
  "servers": [{"name": "s", "stdio": {"command": "run"}, "env": {"KEY": "${KEY}"}}], // keep
  "tools": [
    {"name": "a", "server": "s"}, /* the first */
    {"name": "b", "source": "a", "defaults": {"key": "${TOKEN}"}},
  ],
  "x-ours": {"kept": true},
}
"""


def value(text: str) -> Any:
    return parse(text.encode())


def test_each_value_is_found_where_it_stands() -> None:
    found = places(FILE)
    for pointer, text in {
        "/tools/0/name": '"a"',
        "/servers/0/env/KEY": '"${KEY}"',
        "/x-ours": '{"kept": true}',
    }.items():
        span = found[pointer]
        assert FILE[span.start : span.end] == text
    assert line_of(FILE, found["/tools/1"].start) == 6
    assert nearest(found, "/tools/1/outputSchema/properties") == found["/tools/1"]


def test_keys_with_slashes_tildes_and_escapes_have_their_pointers() -> None:
    text = '{"a/b": {"~": 1}, "\\u0063": [true, null, -1.5e3]}'
    assert set(places(text)) == {"", "/a~1b", "/a~1b/~0", "/c", "/c/0", "/c/1", "/c/2"}


@pytest.mark.parametrize(
    "text", ["", "{", "[1 2]", '{"a" 1}', "{a: 1}", "[] []", "/* open", "[" * 500 + "]" * 500]
)
def test_what_is_no_json_has_no_places(text: str) -> None:
    with pytest.raises(ValueError):
        places(text)


def test_an_edit_changes_its_section_and_no_other_byte() -> None:
    part = '[\n    {"name": "c", "server": "s"} // mine\n  ]'
    after = edited(FILE, {"tools": part})
    before_tools = sections(FILE)["tools"].text
    assert after == FILE.replace(before_tools, part)
    assert value(after)["tools"] == [{"name": "c", "server": "s"}]


def test_a_section_that_is_missing_is_added_at_the_end() -> None:
    for text in ("{}", '{"tools": []}', '{"tools": [],}', '{"tools": [] /* none */}\n'):
        assert value(edited(text, {"schemas": '{"S": true}'}))["schemas"] == {"S": True}


def test_a_comment_at_the_end_of_a_section_swallows_nothing() -> None:
    after = edited(FILE, {"tools": "[] // all gone"})
    check_edit(value(FILE), value(after))
    assert value(after)["x-ours"] == {"kept": True}


@pytest.mark.parametrize(
    "tools",
    [
        '[{"name": "a", "server": {"command": "sh"}}]',
        '[{"name": "a", "server": {"url": "http://evil"}}]',
        '[{"name": "a", "source": "b", "defaults": {"key": "${TOKEN}"}}]',
        '[{"name": "b", "source": "a", "defaults": {"key": "${KEY}"}}]',
        '[{"name": "b", "source": "a", "defaults": {"key": "\\u0024{KEY}"}}]',
        '[{"name": "b", "source": "a", "defaults": {"${KEY}": 1}}]',
        '[{"name": "b", "source": "a", "description": "${PATH:-x}"}]',
    ],
)
def test_a_server_object_or_a_new_variable_is_refused(tools: str) -> None:
    with pytest.raises(RefusedEdit):
        check_edit(value(FILE), value(edited(FILE, {"tools": tools})))


@pytest.mark.parametrize(
    "tools",
    ['[], "servers": []', '[], "project": {"expose": "all"}', '[]}, {"servers": []', "[] // {"],
)
def test_a_section_cannot_reach_into_the_rest_of_the_file(tools: str) -> None:
    try:
        after = value(edited(FILE, {"tools": tools}))
        check_edit(value(FILE), after)
    except (ValueError, RefusedEdit):
        return
    assert {k: v for k, v in after.items() if k != "tools"} == {
        k: v for k, v in value(FILE).items() if k != "tools"
    }


def test_a_variable_that_stood_there_before_may_stay() -> None:
    tools = '[{"name": "b", "source": "x", "defaults": {"other": "Bearer ${TOKEN}"}}]'
    check_edit(value(FILE), value(edited(FILE, {"tools": tools})))


def test_an_entry_is_changed_by_its_fields_and_the_rest_of_the_file_stays() -> None:
    tools = sections(FILE)["tools"].text
    edit = EntryEdit("b", {"title": "B", "defaults": None})
    after = edited(FILE, {"tools": with_entry(tools, edit)})
    assert after == FILE.replace(
        '{"name": "b", "source": "a", "defaults": {"key": "${TOKEN}"}}',
        '{"name": "b", "source": "a", "title": "B"}',
    )


def test_a_new_entry_comes_last() -> None:
    tools = sections(FILE)["tools"].text
    after = with_entry(tools, EntryEdit(None, {"name": "c", "source": "a"}))
    assert after == tools.replace("\n  ]", '\n    {"name": "c", "source": "a"},\n  ]')


def test_an_entry_cannot_bring_a_server_or_a_variable() -> None:
    tools = sections(FILE)["tools"].text
    for fields in (
        {"server": {"command": "sh"}},
        {"defaults": {"key": "${KEY}"}},
        {"source": {"target": "x"}},
    ):
        after = edited(FILE, {"tools": with_entry(tools, EntryEdit("a", fields))})
        with pytest.raises(RefusedEdit):
            check_edit(value(FILE), value(after))


def test_an_empty_section_that_is_not_in_the_file_is_not_added() -> None:
    text = '{"tools": []}'
    assert edited(text, {"tools": "[]", "schemas": "{}"}) == text
