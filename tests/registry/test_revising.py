"""A JSON text that people wrote, changed: what stays equal stays as it was written."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolyard.files.comments import parse
from toolyard.files.revising import appended, revised, written

ENTRY = """{
    "name": "time_in", // what clients say
    "source": "get_current_time",
    /* asked for by Ann */
    "defaults": {"a": 1, "b": [1, 2]},
    "description": "The time" // short
  }"""


def value(text: str) -> Any:
    return parse(text.encode())


def test_what_is_equal_is_not_touched() -> None:
    assert revised(ENTRY, value(ENTRY)) == ENTRY


def test_one_member_is_changed_and_no_other_byte() -> None:
    changed = {**value(ENTRY), "description": "What time it is"}
    assert revised(ENTRY, changed) == ENTRY.replace('"The time"', '"What time it is"')


def test_a_member_within_a_member_is_changed_alone() -> None:
    changed = {**value(ENTRY), "defaults": {"a": 2, "b": [1, 2]}}
    assert revised(ENTRY, changed) == ENTRY.replace('"a": 1', '"a": 2')


def test_a_new_member_comes_after_the_last_and_its_comment() -> None:
    changed = {**value(ENTRY), "title": "Time"}
    assert revised(ENTRY, changed) == ENTRY.replace(
        '"The time" // short\n', '"The time", // short\n    "title": "Time"\n'
    )


def test_a_member_that_goes_takes_its_line_and_comma_along() -> None:
    without = {key: part for key, part in value(ENTRY).items() if key != "source"}
    assert revised(ENTRY, without) == ENTRY.replace('    "source": "get_current_time",\n', "")


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ('{"a": 1, "b": 2}', '{"a": 1}'),
        ('{"a": 1, "b": 2,}', '{"a": 1,}'),
        ('{"b": 2}', "{}"),
        ('{"b": 2, "a": 1}', '{"a": 1}'),
        ('{\n  "a": 1,\n  "b": 2\n}', '{\n  "a": 1\n}'),
        ('{\n  "a": 1, // one\n  "b": 2\n}', '{\n  "a": 1 // one\n}'),
    ],
)
def test_the_last_member_leaves_no_comma_that_was_not_there(text: str, after: str) -> None:
    kept = {key: part for key, part in value(text).items() if key != "b"}
    assert revised(text, kept) == after


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("[]", '[\n    {"name": "x"}\n  ]'),
        ("[1]", '[1, {"name": "x"}]'),
        ("[\n    1\n  ]", '[\n    1,\n    {"name": "x"}\n  ]'),
        ("[\n    1, // one\n  ]", '[\n    1, // one\n    {"name": "x"},\n  ]'),
        ("[\n    1 // one\n  ]", '[\n    1, // one\n    {"name": "x"}\n  ]'),
    ],
)
def test_an_element_is_added_in_the_style_of_the_list(text: str, after: str) -> None:
    assert appended(text, {"name": "x"}, "  ") == after


PLAIN = st.none() | st.booleans() | st.integers() | st.text(max_size=8)
VALUES = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)
SPACES = st.sampled_from(["", " ", "\n", "\n  ", " // said\n", " /* x */ ", "\n    // more\n    "])


@st.composite
def spelled(draw: st.DrawFn, of: Any) -> str:
    """The value as somebody may have written it, with blanks, comments and trailing commas."""
    if not isinstance(of, dict | list) or not of:
        return written(of)
    marks = "{}" if isinstance(of, dict) else "[]"
    parts = []
    for key, part in of.items() if isinstance(of, dict) else enumerate(of):
        head = f"{written(key)}:{draw(SPACES)}" if isinstance(of, dict) else ""
        parts.append(f"{draw(SPACES)}{head}{draw(spelled(part))}{draw(SPACES)}")
    tail = draw(st.sampled_from(["", ","]))
    return f"{marks[0]}{','.join(parts)}{tail}{draw(SPACES)}{marks[1]}"


@settings(max_examples=300, deadline=None)
@given(data=st.data(), before=VALUES, after=VALUES)
def test_whatever_is_made_of_whatever_the_text_says_it(
    data: st.DataObject, before: Any, after: Any
) -> None:
    text = data.draw(spelled(before))
    assert value(revised(text, after)) == after


@settings(max_examples=200, deadline=None)
@given(data=st.data(), before=st.lists(VALUES, max_size=4), more=VALUES)
def test_whatever_is_added_to_a_list_the_text_says_it(
    data: st.DataObject, before: list[Any], more: Any
) -> None:
    text = data.draw(spelled(before))
    assert value(appended(text, more)) == [*before, more]
