"""What a client can be asked, what is declared on its behalf, and which clients are alike."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolyard.protocol.client import (
    ABLE,
    UNKNOWN,
    Client,
    elicitation_modes,
    forwarded,
    key_of,
    told_in,
)
from toolyard.protocol.guise import (
    _REMEMBERED,
    LONGEST_REMEMBERED,
    MOST_REMEMBERED,
    Guise,
    guise_of,
)
from toolyard.protocol.revisions import ALL

R24, R03, R06, R11, R26 = ALL.values()
TASKS_EXTENSION = "io.modelcontextprotocol/tasks"
URL_ONLY: Any = {"elicitation": {"url": {}}}
BOTH: Any = {"elicitation": {"form": {}, "url": {}}}


@pytest.mark.parametrize(
    ("capabilities", "modes"),
    [
        ({}, set()),
        ({"elicitation": None}, set()),
        ({"elicitation": True}, set()),
        ({"elicitation": {}}, {"form"}),
        ({"elicitation": {"applyDefaults": True}}, {"form"}),
        ({"elicitation": {"form": {}}}, {"form"}),
        (URL_ONLY, {"url"}),
        (BOTH, {"form", "url"}),
    ],
)
def test_the_ways_to_elicit(capabilities: Any, modes: set[str]) -> None:
    assert elicitation_modes(capabilities) == modes
    client = Client({}, capabilities)
    assert {m for m in ("form", "url") if client.supports("elicitation/create", m)} == modes


@pytest.mark.parametrize(
    ("capabilities", "method", "can"),
    [
        ({"sampling": {}}, "sampling/createMessage", True),
        ({"roots": {}}, "sampling/createMessage", False),
        ({"roots": {}}, "roots/list", True),
        ({"sampling": {}}, "roots/list", False),
        ({"elicitation": {}}, "elicitation/create", True),
        (URL_ONLY, "elicitation/create", False),
        (ABLE.capabilities, "elicitation/create", True),
        (ABLE.capabilities, "sampling/createMessage", True),
        (ABLE.capabilities, "roots/list", True),
        (ABLE.capabilities, "tools/call", False),
    ],
)
def test_a_question_needs_its_capability(capabilities: Any, method: str, can: bool) -> None:
    assert Client({}, capabilities).supports(method) is can
    assert not UNKNOWN.supports(method)


@pytest.mark.parametrize(
    ("capabilities", "declared"),
    [
        ({}, {}),
        ({"roots": {"listChanged": True}, "x": 1}, {"roots": {"listChanged": True}, "x": 1}),
        ({"tasks": {}, "roots": {}}, {"roots": {}}),
        ({"extensions": {TASKS_EXTENSION: {}, "e/x": {}}}, {"extensions": {"e/x": {}}}),
        ({"extensions": {"e/x": {}}}, {"extensions": {"e/x": {}}}),
        ({"extensions": 7}, {"extensions": 7}),
    ],
)
def test_all_but_tasks_is_declared_on_its_behalf(capabilities: Any, declared: Any) -> None:
    before = repr(capabilities)
    assert forwarded(capabilities) == declared
    assert repr(capabilities) == before


@pytest.mark.parametrize(
    ("revision", "capabilities", "told"),
    [
        (R26, {"roots": {"listChanged": True}}, {"roots": {}}),
        (R11, {"roots": {"listChanged": True, "x": 1}}, {"roots": {"listChanged": True}}),
        (R26, {"sampling": {"tools": {}, "x": {}}}, {"sampling": {"tools": {}}}),
        (R06, {"sampling": {"tools": {}}}, {"sampling": {}}),
        (R24, {"experimental": {"x": {}}}, {"experimental": {"x": {}}}),
        (R24, {"extensions": {"e/x": {}}}, {"extensions": {"e/x": {}}}),
        (R26, {"vendor": {}}, {}),
        (R26, {"roots": True, "sampling": None}, {}),
        # Whoever only opens pages cannot fill in forms.
        (R26, BOTH, BOTH),
        (R11, URL_ONLY, URL_ONLY),
        (R06, BOTH, {"elicitation": {}}),
        (R06, URL_ONLY, {}),
        (R03, BOTH, {}),
    ],
)
def test_each_revision_has_words_for_some_of_it(
    revision: Any, capabilities: Any, told: Any
) -> None:
    assert told_in(revision, capabilities) == told


@pytest.mark.parametrize(
    ("capabilities", "key"),
    [
        ({}, ""),
        ({"tasks": {}}, ""),
        ({"sampling": {}, "roots": {}}, '{"roots":{},"sampling":{}}'),
        ({"roots": {}, "tasks": {}, "sampling": {}}, '{"roots":{},"sampling":{}}'),
        ({"x": {"b": 1, "a": 2**70}}, '{"x":{"a":1180591620717411303424,"b":1}}'),
    ],
)
def test_clients_that_can_do_the_same_have_the_same_key(capabilities: Any, key: str) -> None:
    assert key_of(capabilities) == key


@pytest.mark.parametrize(
    ("revision", "client", "guise"),
    [
        (R26, UNKNOWN, Guise(True, {}, "")),
        (R24, UNKNOWN, Guise(False, {}, "")),
        (R26, Client({"name": "c"}, {}), Guise(True, {}, "")),
        (R11, Client({}, {"roots": {}}), Guise(False, {"roots": {}}, '{"roots":{}}')),
        (R26, Client({}, {"roots": {}, "tasks": {}}, "k"), Guise(True, {"roots": {}}, "k")),
    ],
)
def test_what_a_client_looks_like_to_a_server(revision: Any, client: Client, guise: Guise) -> None:
    assert guise_of(revision, client) == guise


@pytest.mark.parametrize(
    ("capabilities", "can"),
    [
        ({}, False),
        ({"experimental": {}}, False),
        ({"roots": {}}, True),
        ({"sampling": {}}, True),
        ({"elicitation": {}}, True),
    ],
)
def test_who_can_be_asked_has_a_connection_alone(capabilities: Any, can: bool) -> None:
    assert Guise(True, capabilities, "").can_be_asked is can


_TEXTS = st.text(max_size=3) | st.sampled_from(["tasks", "extensions", TASKS_EXTENSION, "sampling"])
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | _TEXTS,
    lambda parts: st.lists(parts, max_size=2) | st.dictionaries(_TEXTS, parts, max_size=3),
    max_leaves=6,
)


@given(st.lists(st.dictionaries(_TEXTS, _VALUES, max_size=3), min_size=1, max_size=4))
def test_a_guise_that_is_remembered_is_the_one_that_would_be_made(said: list[Any]) -> None:
    for capabilities in (*said, *reversed(said)):
        guise = guise_of(R26, Client({}, capabilities))
        made = Guise(True, forwarded(capabilities), key_of(capabilities))
        # As text: True is equal to 1, and means something else.
        assert repr(guise) == repr(made)


def test_values_that_are_equal_and_not_the_same_are_told_apart() -> None:
    keys = [guise_of(R26, Client({}, {"a": value})).key for value in (True, 1, 1.0, 2**70, "1")]
    assert len(set(keys)) == len(keys)


def test_only_so_many_guises_are_remembered() -> None:
    for number in range(3 * MOST_REMEMBERED):
        guise_of(R26, Client({}, {"experimental": {str(number): {}}}))
        guise_of(R26, Client({}, {"experimental": {str(number): "x" * LONGEST_REMEMBERED}}))
    assert len(_REMEMBERED) <= MOST_REMEMBERED
    assert max(len(words) for _, words in _REMEMBERED) <= LONGEST_REMEMBERED
