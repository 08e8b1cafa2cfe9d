"""A form at the terminal: what does not fit is asked for again, with what is wrong."""

from __future__ import annotations

from typing import Any

import pytest

from toolyard.cli.client.forms import Left, fill_in

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 2},
        "people": {"type": "integer", "minimum": 1, "maximum": 8},
        "price": {"type": "number"},
        "sure": {"type": "boolean", "default": True},
        "size": {"type": "string", "oneOf": [{"const": "s", "title": "Small"}, {"const": "l"}]},
        "days": {"type": "array", "items": {"enum": ["mon", "tue"]}, "maxItems": 1},
        "mail": {"type": "string", "format": "email"},
    },
    "required": ["name", "people", "size"],
}


async def typed(*lines: str) -> tuple[Any, list[str]]:
    """What was filled in, and what was said when a line was not taken."""
    left, prompts = list(lines), []

    async def ask(prompt: str) -> str | None:
        prompts.append(prompt.strip().rstrip(":"))
        return left.pop(0) if left else None

    content = await fill_in(SCHEMA, ask)
    assert not left
    return content, prompts


async def test_a_form_is_filled_in_and_what_is_empty_left_out() -> None:
    content, _ = await typed("Ann", "8", "", "", "l", "mon", "")
    assert content == {"name": "Ann", "people": 8, "sure": True, "size": "l", "days": ["mon"]}


async def test_a_line_that_does_not_fit_is_asked_for_again_with_what_is_wrong() -> None:
    lines = ["", "A", "Ann", "99", "x", "3", "nan", "1.5", "?", "n"]
    content, prompts = await typed(*lines, "Small", "s", "mon, tue", "sun", "tue", "me", "me@here")
    assert content == {
        "name": "Ann",
        "people": 3,
        "price": 1.5,
        "sure": False,
        "size": "s",
        "days": ["tue"],
        "mail": "me@here",
    }
    for said in (
        *("an answer is needed", "must have at least 2 characters", "must be at most 8"),
        *("a whole number", "a number", "y or n", "must be one of s, l"),
        *("must have at most 1 choices", "must be an e-mail address"),
    ):
        assert said in prompts
    assert "[0]: must be one of mon, tue" in prompts


async def test_whoever_leaves_gives_no_answer() -> None:
    with pytest.raises(Left):
        await typed("Ann")
