"""Questions that are put again, and what is remembered of them while a client is away."""

from __future__ import annotations

from typing import Any

import pytest

from tests.transports.test_answer_rules import accepted, asking
from toolyard.errors import ToolError
from toolyard.protocol.asking.answers import MOST_ASKS
from toolyard.protocol.asking.asked import MOST_REMEMBERED, Asked, fitting_answer, remembered

GOOD = accepted({"name": "Ann", "people": 3})
BAD = accepted({"name": "Ann", "people": 99})


async def put(*answers: Any) -> tuple[Any, list[str]]:
    left, shown = list(answers), []

    async def client(question: Any) -> Any:
        shown.append(question["params"]["message"])
        return left.pop(0)

    return await fitting_answer(asking(), client), shown


async def test_a_question_is_put_until_its_answer_fits() -> None:
    answer, shown = await put(BAD, GOOD)
    assert answer == GOOD
    assert shown[0] == "Which table?"
    assert shown[1].endswith("The answer was not taken: people: must be at most 8.")


async def test_and_no_more_often_than_it_may() -> None:
    with pytest.raises(ToolError, match=f"asked {MOST_ASKS} times.*at most 8"):
        await put(*[BAD] * MOST_ASKS)


def test_rounds_are_counted_where_the_client_carries_them() -> None:
    asked = Asked({"q": asking()}, rounds=MOST_ASKS - 2)
    assert asked.take({"q": BAD}) is None
    with pytest.raises(ToolError):
        Asked(asked.questions, asked.fit, asked.rounds).take({"q": BAD})


def test_forms_are_remembered_unless_they_are_too_much_to_carry() -> None:
    roots = {"method": "roots/list", "params": {}}
    assert remembered({"r": roots}) == {}
    assert remembered({"r": roots, "q": asking()}) == {"r": roots, "q": asking()}
    assert remembered({"q": asking(title="x" * MOST_REMEMBERED)}) == {}
