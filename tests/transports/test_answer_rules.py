"""What fits the form that was asked, and what is said of what does not."""

from __future__ import annotations

from typing import Any

import pytest

from tests.transports.answer_cases import CASES, INSIDE, PEOPLE, TEXT
from toolyard.protocol.asking.answers import asked_again, complaint, field_complaint, judged

BOOKING = {
    "type": "object",
    "properties": {"name": TEXT, "people": PEOPLE},
    "required": ["name", "people"],
}


def asking(schema: Any = BOOKING, **more: Any) -> Any:
    params = {"mode": "form", "message": "Which table?", "requestedSchema": schema, **more}
    return {"method": "elicitation/create", "params": params}


@pytest.mark.parametrize(("field", "value", "wrong"), CASES)
def test_a_value_fits_its_field_or_is_told_why_not(field: Any, value: Any, wrong: Any) -> None:
    said = field_complaint(value, field)
    assert said == wrong or (wrong is not None and said is not None and said.startswith(wrong))


@pytest.mark.parametrize(("field", "value"), INSIDE)
def test_what_is_wrong_inside_of_a_value_is_found(field: Any, value: Any) -> None:
    assert field_complaint(value, field) is not None


def test_a_pattern_is_a_rule_where_it_can_be_matched_in_linear_time() -> None:
    assert field_complaint("12a", {**TEXT, "pattern": "^[0-9]+$"}) == "must match ^[0-9]+$"
    assert field_complaint("12", {**TEXT, "pattern": "^[0-9]+$"}) is None
    assert field_complaint("a", {**TEXT, "pattern": "(?=b)"}) is None


def test_everything_that_is_wrong_is_said_at_once() -> None:
    assert complaint({"people": 99}, BOOKING) == "name: is required; people: must be at most 8"
    many = {"required": [str(number) for number in range(100)]}
    assert complaint({}, many) == "; ".join(f"{number}: is required" for number in range(5))


def accepted(content: Any) -> Any:
    return {"action": "accept", "content": content}


@pytest.mark.parametrize(
    ("answer", "wrong"),
    [
        (accepted({"name": "Ann", "people": 3}), None),
        (accepted({"name": "Ann", "people": 3, "note": "more than asked"}), None),
        (accepted({"name": None, "people": 3}), "name: is required"),
        ({"action": "accept"}, "name: is required; people: is required"),
        (accepted([]), "the content must be an object"),
        ({"action": "decline"}, None),
        ({"action": "cancel", "content": {"people": 99}}, None),
        ({"action": "yes"}, "the action must be one of accept, decline, cancel"),
        ("accept", "the action must be one of accept, decline, cancel"),
        (None, "the action must be one of accept, decline, cancel"),
    ],
)
def test_an_answer_is_judged_by_the_form(answer: Any, wrong: str | None) -> None:
    assert judged(asking(), answer).wrong == wrong


def test_a_field_that_was_left_empty_is_left_out() -> None:
    optional = {**BOOKING, "required": ["name"]}
    given = accepted({"name": "Ann", "people": None})
    assert judged(asking(optional), given) == (accepted({"name": "Ann"}), None)


def test_a_schema_that_is_none_is_no_rule() -> None:
    schemas: list[Any] = [None, [], {"properties": []}, {"required": "a", "properties": {"a": 1}}]
    for schema in schemas:
        assert judged(asking(schema), accepted({"a": 2})).wrong is None


def test_other_questions_have_no_rules() -> None:
    assert judged({"method": "roots/list"}, {"roots": "?"}).wrong is None
    url = {"method": "elicitation/create", "params": {"mode": "url", "url": "https://a"}}
    assert judged(url, {"action": "accept"}).wrong is None


def test_a_question_that_is_asked_again_says_why() -> None:
    again = asked_again(asking(), "name: is required")
    assert again["params"].pop("message") == (
        "Which table?\n\nThe answer was not taken: name: is required."
    )
    assert again == {**asking(), "params": again["params"]}
