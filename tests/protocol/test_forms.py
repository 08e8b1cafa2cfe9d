"""A form in, a plain one out; and the answer on its way back."""

from __future__ import annotations

from typing import Any

import pytest

from toolyard.errors import Unaskable
from toolyard.protocol.asking.forms import PlainForm, plain_form

TEXT = {"type": "string"}
DAYS = {"type": "array", "items": {"type": "string", "enum": ["mo", "tu"]}}
TITLED = {"type": "array", "items": {"anyOf": [{"const": "s", "title": "Small"}, {"const": "l"}]}}


def form(*required: str, **fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": list(required)}


def switch(title: str, about: str, **more: Any) -> dict[str, Any]:
    return {"type": "boolean", "title": title, "description": about, **more}


@pytest.mark.parametrize(
    ("field", "plain"),
    [
        (TEXT, TEXT),
        ({**TEXT, "minLength": 2}, {**TEXT, "minLength": 2}),
        ({"title": "No type"}, {"type": "string", "title": "No type"}),
        ({"type": "boolean", "default": True}, {"type": "boolean", "default": True}),
        ({"type": "integer", "default": 3}, {"type": "integer", "description": "(default: 3)"}),
        (
            {**TEXT, "description": "Who", "default": "Ann"},
            {**TEXT, "description": "Who (default: Ann)"},
        ),
        ({"type": "number", "minimum": 0}, {"type": "number", "minimum": 0}),
        ({**TEXT, "enum": ["a"]}, {**TEXT, "enum": ["a"]}),
        (
            {**TEXT, "oneOf": [{"const": "a", "title": "A"}, {"const": "b"}]},
            {**TEXT, "enum": ["a", "b"], "enumNames": ["A", "b"]},
        ),
        (True, True),
    ],
)
def test_a_field_in_plain_words(field: Any, plain: Any) -> None:
    assert plain_form(form("f", f=field)) == PlainForm(form("f", f=plain), {})


@pytest.mark.parametrize(
    ("field", "switches"),
    [
        (DAYS, {"f.mo": switch("mo", "f"), "f.tu": switch("tu", "f")}),
        (TITLED, {"f.s": switch("Small", "f"), "f.l": switch("l", "f")}),
        (
            {**DAYS, "title": "Days", "description": "when", "default": ["tu"]},
            {
                "f.mo": switch("mo", "Days: when", default=False),
                "f.tu": switch("tu", "Days: when", default=True),
            },
        ),
        (
            {**DAYS, "minItems": 0, "maxItems": 2},
            {"f.mo": switch("mo", "f"), "f.tu": switch("tu", "f")},
        ),
    ],
)
def test_a_choice_of_several_becomes_switches(field: Any, switches: Any) -> None:
    fitted = plain_form(form("name", "f", name=TEXT, f=field))
    assert fitted.schema == form("name", *switches, name=TEXT, **switches)
    assert fitted.switches == {"f": {name: name.removeprefix("f.") for name in switches}}


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"f": {"type": "object"}}, "it has no fields of type 'object'"),
        ({"f": {"type": ["string", "null"]}}, "it has no fields of type"),
        ({"f": {"type": "array"}}, "it only has lists of given choices"),
        ({"f": {"type": "array", "items": {"enum": [1]}}}, "it only has lists of given choices"),
        ({"f": {**TEXT, "oneOf": ["a"]}}, "it only has lists of given choices"),
        ({"f": {**TEXT, "oneOf": []}}, "it only has lists of given choices"),
        ({"f": {**TEXT, "oneOf": [{"const": 1}]}}, "it only has lists of given choices"),
        ({"f": {**DAYS, "minItems": 1}}, "it cannot limit how many are chosen"),
        ({"f": {**DAYS, "maxItems": 1}}, "it cannot limit how many are chosen"),
        ({"f": DAYS, "f.mo": TEXT}, "its choices have the names of other fields"),
        ({"f.mo": TEXT, "f": DAYS}, "its choices have the names of other fields"),
    ],
)
def test_what_would_be_lost_is_not_asked(fields: Any, why: str) -> None:
    with pytest.raises(Unaskable) as refused:
        plain_form(form(**fields))
    said = f"the form of this client's revision cannot ask for 'f': {why}"
    assert refused.value.message.startswith(said)


@pytest.mark.parametrize("schema", [{}, {"properties": None}, {"properties": []}])
def test_a_schema_without_fields_stays_as_it_is(schema: Any) -> None:
    assert plain_form(schema) == PlainForm(schema, {})


def test_the_dialect_is_not_said() -> None:
    assert plain_form({"$schema": "s", **form(f=TEXT)}).schema == form(f=TEXT)
    assert plain_form({"properties": {}, "required": "f"}).schema == {
        "properties": {},
        "required": "f",
    }


def accepted(**content: Any) -> dict[str, Any]:
    return {"action": "accept", "content": content}


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (accepted(name="Ann", **{"f.mo": True, "f.tu": False}), accepted(name="Ann", f=["mo"])),
        (accepted(**{"f.mo": True, "f.tu": True}), accepted(f=["mo", "tu"])),
        (accepted(**{"f.mo": False}), accepted(f=[])),
        (accepted(**{"f.mo": "true"}), accepted(f=[])),
        (accepted(name="Ann"), accepted(name="Ann")),
        ({"action": "decline"}, {"action": "decline"}),
        ({"action": "accept", "content": 7}, {"action": "accept", "content": 7}),
        (7, 7),
    ],
)
def test_an_answer_is_put_together_again(answer: Any, told: Any) -> None:
    assert plain_form(form(name=TEXT, f=DAYS)).answer(answer) == told
