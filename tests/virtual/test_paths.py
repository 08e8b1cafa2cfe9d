"""JSONPath: the compliance cases, the library as a second opinion, and the bounds."""

from __future__ import annotations

import json
from pathlib import Path as File
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonpath import JSONPathEnvironment

from toolyard.errors import ToolError
from toolyard.virtual.query.paths import MAX_NODES, MISSING, BadPath, Budget, compile_path

SHARED = File(__file__).resolve().parents[3] / "shared" / "data" / "jsonpath-compliance.json"
CASES = json.loads(SHARED.read_text())["tests"] if SHARED.exists() else []
PEER = JSONPathEnvironment(strict=True)

NAMES = st.sampled_from(["a", "b", "été", "x y", "0"])
DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "a", "ab"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=20,
)
STEPS = st.one_of(
    st.sampled_from([".a", ".b", ".été", ".*", "[*]"]),
    NAMES.map(lambda name: f"['{name}']"),
    NAMES.map(lambda name: f'["{name}"]'),
    st.integers(-3, 3).map(lambda index: f"[{index}]"),
)
PLAIN = st.lists(STEPS, max_size=4).map(lambda steps: "$" + "".join(steps))


def find(path: str, document: Any) -> list[Any]:
    return compile_path(path).find(document, Budget())


def test_the_compliance_cases_are_complete_where_they_are_present() -> None:
    if not CASES:
        pytest.skip(f"no compliance cases at {SHARED}")
    assert len(CASES) == 703


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_a_compliance_case_gives_the_result_it_states(case: dict[str, Any]) -> None:
    if case.get("invalid_selector"):
        with pytest.raises(BadPath):
            compile_path(case["selector"])
        return
    allowed = case["results"] if "results" in case else [case["result"]]
    assert find(case["selector"], case["document"]) in allowed


@given(PLAIN, DOCUMENTS)
def test_a_plain_path_finds_what_the_library_finds(path: str, document: Any) -> None:
    # The library reads a bare string as JSON text, so the document stands inside an array.
    found = find("$[0]" + path[1:], [document])
    assert repr(found) == repr(PEER.findall("$[0]" + path[1:], [document]))


@given(PLAIN, DOCUMENTS)
def test_get_and_find_agree_on_a_definite_path(path: str, document: Any) -> None:
    compiled = compile_path(path)
    if compiled.get is None:
        assert "*" in path
        return
    value = compiled.get(document)
    assert compiled.find(document, Budget()) == ([] if value is MISSING else [value])


@pytest.mark.parametrize(
    ("path", "definite", "stars"),
    [
        ("$", True, False),
        ("$.a.b", True, False),
        ("$['a'][0]", True, False),
        ("$['a\\u0062']", True, False),
        ("$ .a [ 1 ]", True, False),
        ("$.a[*].b", False, True),
        ("$ .a [ * ]", False, True),
        ("$.a.*", False, True),
        ("$..a", False, False),
        ("$..*", False, True),
        ("$.a[1:2]", False, False),
        ("$['a','b']", False, False),
        ("$.a[?@.b]", False, False),
    ],
)
def test_the_form_of_a_path_says_whether_it_yields_an_array(
    path: str, definite: bool, stars: bool
) -> None:
    compiled = compile_path(path)
    assert (compiled.definite, compiled.stars) == (definite, stars)


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("a.b", "a path starts with $"),
        ("", "a path starts with $"),
        ("$.", "expected a shorthand selector"),
        ("$[?nope(@)]", "function 'nope' is not defined (at character 3)"),
        ("$.a[01]", "leading zero"),
        ("$[99999999999999999]", "out of range"),
        ("$.a | $.b", "is not a JSONPath"),
        ("$" + ".a" * 65, "has 65 steps, at most 64"),
        ("$" + "[?@" * 300 + "]" * 300, "recursion"),
    ],
)
def test_a_bad_path_is_refused_with_a_reason(path: str, says: str) -> None:
    with pytest.raises(BadPath) as refused:
        compile_path(path)
    assert says in str(refused.value)
    assert len(str(refused.value)) < 300


def test_a_slice_selects_nothing_from_a_string() -> None:
    assert find("$..[0:1]", {"a": "xyz"}) == []


def test_true_never_equals_one_not_inside_arrays_either() -> None:
    document = [{"a": [True], "b": [1]}, {"a": {"c": 0}, "b": {"c": False}}, {"a": 1, "b": 1.0}]
    assert find("$[?@.a == @.b]", document) == [{"a": 1, "b": 1.0}]


def test_the_root_in_a_nested_filter_is_the_document() -> None:
    document = {"y": 1, "l": [{"a": [{"x": 1}]}, {"a": [{"x": 2}]}]}
    assert find("$.l[?@.a[?@.x == $.y]]", document) == [{"a": [{"x": 1}]}]


def test_a_pattern_that_backtracks_elsewhere_ends_at_once() -> None:
    assert find("$[?match(@, '(a|a)*b')]", ["a" * 50_000]) == []


def test_a_lone_surrogate_matches_no_pattern() -> None:
    assert find("$[?search(@, 'a')]", ["a\ud800", "a"]) == ["a"]


@pytest.mark.parametrize(
    ("path", "document"),
    [
        ("$[*]", [0] * (MAX_NODES + 1)),
        ("$[*][*]", [[0] * 400] * 300),
        ("$..a", [0] * MAX_NODES),
        ("$[?@ == 1]", [0] * MAX_NODES),
    ],
)
def test_a_document_past_the_bound_is_a_tool_error(path: str, document: Any) -> None:
    with pytest.raises(ToolError, match="too large"):
        find(path, document)


def test_a_document_at_the_bound_is_searched() -> None:
    assert find("$[?@ == 1]", [0] * (MAX_NODES - 2) + [1]) == [1]
    assert len(find("$[*]", [0] * MAX_NODES)) == MAX_NODES


@pytest.mark.parametrize("path", ["$..a", "$[?@.b]"])
def test_a_document_nested_past_64_levels_is_a_tool_error(path: str) -> None:
    document: Any = 1
    for _ in range(65):
        document = [document]
    with pytest.raises(ToolError, match="nested too deeply"):
        find(path, document)


@pytest.mark.parametrize("path", ["$..*..*..*..*", "$..[?count(@..*) > 0]"])
def test_a_path_that_multiplies_its_visits_is_stopped(path: str) -> None:
    document: Any = [1]
    for _ in range(60):
        document = [document, *range(1500)]
    with pytest.raises(ToolError, match="visits too much"):
        find(path, document)
