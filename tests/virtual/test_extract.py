"""The JSON inside a result, and Markdown lists as JSON."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolyard.files.exact import loads
from toolyard.virtual.codec import dumps
from toolyard.virtual.output.extract import value_of
from toolyard.virtual.output.listings import check_pattern, compile_text_extraction
from toolyard.virtual.query.paths import MISSING

NONE = object()
A = {"a": 1}


def result(*texts: str, structured: Any = NONE) -> dict[str, Any]:
    content = [{"type": "text", "text": text} for text in texts]
    return {"content": content} | ({} if structured is NONE else {"structuredContent": structured})


CASES: list[tuple[str, dict[str, Any], Any]] = [
    ("structured content", result("other", structured=A), A),
    ("structured content that is null", result('{"a": 1}', structured=None), A),
    ("structured content that is an array", result("x", structured=[1]), [1]),
    ("a wrapper of the text", result('{"a": 1}', structured={"result": '{"a": 1}'}), A),
    (
        "a wrapper of several texts",
        result("1:", '{"a": 1}', structured={"result": '1:\n{"a": 1}'}),
        A,
    ),
    ("a wrapper in which the JSON is found", result('{"a":1}', structured={"r": 'is {"a": 1}'}), A),
    ("a wrapper without a text", result(structured={"result": '{"a": 1}'}), A),
    (
        "one string that is no wrapper",
        result("x", structured={"name": "see [1]"}),
        {"name": "see [1]"},
    ),
    ("one string and no JSON", result("hello", structured={"name": "bob"}), {"name": "bob"}),
    ("a wrapper of plain text holds no JSON", result("hi", structured={"result": "hi"}), MISSING),
    ("two members are no wrapper", result("x", structured={"a": "x", "b": 1}), {"a": "x", "b": 1}),
    ("the whole text", result('{"a": 1}'), A),
    ("the whole text with space", result('\n {"a": 1}\n'), A),
    ("an array", result("[1, 2]"), [1, 2]),
    ("a scalar", result("42"), 42),
    ("a BOM", result('\ufeff{"a": 1}'), A),
    ("a fenced block", result('Here:\n```json\n{"a": 1}\n```\nDone [2].'), A),
    ("a fence without a language", result('```\n{"a": 1}\n```'), A),
    ("a fence on one line", result('so: ```json {"a": 1}``` ok'), A),
    ("the first fence that parses", result('```sh\nls {x}\n```\n```json\n{"a": 1}\n```'), A),
    ("a fence inside a string", result('```json\n{"a": "x```y"}\n```'), {"a": "x```y"}),
    ("a fence wins over what is embedded before it", result('[2] ```\n{"a": 1}\n```'), A),
    ("a prefix on the same line", result('Result: {"a": 1}'), A),
    ("a prefix and words after", result('Result: {"a": 1} as of today'), A),
    ("a prefix on the line before", result('Result:\n{"a": 1}\n'), A),
    ("the first that parses", result('{not json} [x] {"a": 1} {"b": 2}'), A),
    ("brackets in strings", result('x {"a": "}]{", "b": [1]} y'), {"a": "}]{", "b": [1]}),
    ("an embedded array", result("ids: [1, 2] and more"), [1, 2]),
    ("a whole later text wins over an embedded one", result("see [1]", '{"a": 1}'), A),
    ("an embedded big integer", result('n {"n": 36893488147419103233} {'), {"n": 2**65 + 1}),
    ("a big integer", result('{"n": 36893488147419103233}'), {"n": 2**65 + 1}),
    ("NaN is no JSON", result("x [NaN] y"), MISSING),
    ("no JSON", result("nothing here"), MISSING),
    ("unbalanced", result('{"a": 1'), MISSING),
    ("no text", {"content": [{"type": "image", "data": "", "mimeType": "image/png"}]}, MISSING),
    ("no content", {}, MISSING),
    ("content of a wrong kind", {"content": "x"}, MISSING),
]


@pytest.mark.parametrize(("given", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_the_value_of_a_result_is_found(given: dict[str, Any], expected: Any) -> None:
    assert value_of(given) == expected


@pytest.mark.parametrize(
    "text", ["[" * 200_000, "{[" * 100_000, "[1," * 900 + "1," * 100_000 + "x"]
)
def test_a_text_of_open_brackets_holds_no_json_and_ends_soon(text: str) -> None:
    assert value_of(result(text)) is MISSING


@given(st.integers() | st.integers(2**63 - 2, 2**64 + 2) | st.integers(-(2**63) - 2, 2 - 2**63))
def test_every_integer_survives_decoding_and_encoding(number: int) -> None:
    for pad in range(6):
        text = dumps({"p" * pad: [number, 1.5, "é"]})
        assert loads(text) == {"p" * pad: [number, 1.5, "é"]}


NUMBERED = """Found 3 repositories:

1. **first/repo** - Stars: 1,234
   A description
   over two lines
   - a sub-item
2. **second/repo**
10) no name here
"""
REPOS = {
    "parser": "markdown_numbered_list",
    "list_field": "repos",
    "item_patterns": {
        "name": {"regex": r"\*\*(.+?)\*\*", "required": True, "transform": "uppercase"},
        "stars": {"regex": r"Stars: ([\d,]+)", "type": "integer", "transform": "remove_commas"},
        "more": {"regex": r"^\s+A (.*lines)$", "multiline": True},
    },
}


def test_a_numbered_list_becomes_objects() -> None:
    assert compile_text_extraction(REPOS).of(NUMBERED) == {
        "repos": [
            {"name": "FIRST/REPO", "stars": 1234, "more": "description\n   over two lines"},
            {"name": "SECOND/REPO"},
        ]
    }


def test_a_bullet_list_becomes_objects() -> None:
    stated = {
        "parser": "markdown_bullet_list",
        "list_field": "items",
        "item_patterns": {
            "key": {"regex": r"^(\w+):", "transform": ["strip", "lowercase"]},
            "value": {"regex": r": ([\d.]+)", "type": "number"},
            "on": {"regex": r"(yes|no)$", "type": "boolean"},
            "all": {"regex": r".+"},
        },
    }
    assert compile_text_extraction(stated).of("- Alpha: 1.5 yes\n* Beta: x no\nafter") == {
        "items": [
            {"key": "alpha", "value": 1.5, "on": True, "all": "Alpha: 1.5 yes"},
            {"key": "beta", "all": "Beta: x no"},
        ]
    }


def test_a_text_without_a_list_gives_an_empty_list() -> None:
    assert compile_text_extraction(REPOS).of("No results.") == {"repos": []}


def test_a_value_of_another_type_is_missing() -> None:
    stated = {
        "parser": "markdown_bullet_list",
        "item_patterns": {"n": {"regex": r"(\w+)", "type": "integer"}},
    }
    assert compile_text_extraction(stated).of("- x\n- 3") == {"items": [{}, {"n": 3}]}


@pytest.mark.parametrize("regex", [r"(?=x)", r"(\w)\1", "(", "a**"])
def test_a_pattern_that_is_not_linear_is_refused(regex: str) -> None:
    assert check_pattern(regex)


def test_a_pattern_that_backtracks_elsewhere_ends_at_once() -> None:
    stated = {"parser": "markdown_bullet_list", "item_patterns": {"x": {"regex": r"(a|a)*b"}}}
    assert compile_text_extraction(stated).of("- " + "a" * 50_000) == {"items": [{}]}
