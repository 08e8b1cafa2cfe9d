"""What an `input_required` result, and an error that names URLs, ask of a client."""

from __future__ import annotations

from typing import Any

import pytest

from tests.protocol.outcome import Refusal, outcome
from toolyard.errors import ProtocolError
from toolyard.protocol.asking.questions import asked_by, urls_of

ROOTS = {"method": "roots/list"}
FORM = {"method": "elicitation/create", "params": {"message": "?"}}
SAMPLE = {"method": "sampling/createMessage", "params": {}}


def malformed(why: str) -> Refusal:
    return Refusal(-32603, f"The server asks for input in a wrong form: {why}")


NO_METHOD = malformed("the method of 'q' is not one that asks a client")
NO_REQUESTS = malformed("its inputRequests are not an object")


@pytest.mark.parametrize(
    ("result", "questions"),
    [
        ({"inputRequests": {"q": ROOTS}}, {"q": ROOTS}),
        ({"inputRequests": {"a": FORM, "b": SAMPLE}}, {"a": FORM, "b": SAMPLE}),
        ({"inputRequests": {"q": {**ROOTS, "params": None}}}, {"q": {**ROOTS, "params": None}}),
        ({"inputRequests": {"q": ROOTS}, "requestState": "s"}, {"q": ROOTS}),
        ({"inputRequests": {}}, {}),
        # A state alone asks to come back.
        ({"requestState": "s"}, {}),
        ({"requestState": ""}, {}),
        ({}, NO_REQUESTS),
        ({"inputRequests": []}, NO_REQUESTS),
        ({"inputRequests": [], "requestState": "s"}, NO_REQUESTS),
        ({"inputRequests": {}, "requestState": 7}, malformed("its requestState is not a string")),
        ({"inputRequests": {"q": 7}}, malformed("'q' is not an object")),
        ({"inputRequests": {"q": {}}}, NO_METHOD),
        ({"inputRequests": {"q": {"method": "tools/call"}}}, NO_METHOD),
        ({"inputRequests": {"q": {"method": ["roots/list"]}}}, NO_METHOD),
        (
            {"inputRequests": {"a": ROOTS, "q": {**ROOTS, "params": []}}},
            malformed("the params of 'q' are not an object"),
        ),
    ],
)
def test_the_questions_of_a_result(result: Any, questions: Any) -> None:
    assert outcome(asked_by, result) == questions


PAGE = {"url": "https://a", "message": "Open it"}


def opened(*pages: dict[str, Any]) -> dict[str, Any]:
    return {
        f"elicitation-{number}": {"method": "elicitation/create", "params": page}
        for number, page in enumerate(pages, 1)
    }


@pytest.mark.parametrize(
    ("code", "data", "questions"),
    [
        (-32042, {"elicitations": [PAGE]}, opened({**PAGE, "mode": "url"})),
        (
            -32042,
            {"elicitations": [{**PAGE, "mode": "url", "elicitationId": "e"}, PAGE]},
            opened({**PAGE, "mode": "url", "elicitationId": "e"}, {**PAGE, "mode": "url"}),
        ),
        # What cannot be opened is left out, and the rest is numbered without it.
        (
            -32042,
            {"elicitations": [7, {**PAGE, "mode": "form"}, {"url": "u"}, {"message": "m"}, PAGE]},
            opened({**PAGE, "mode": "url"}),
        ),
        (-32042, {"elicitations": {}}, {}),
        (-32042, {}, {}),
        (-32042, None, {}),
        (-32602, {"elicitations": [PAGE]}, {}),
    ],
)
def test_the_urls_of_an_error(code: int, data: Any, questions: Any) -> None:
    assert urls_of(ProtocolError(code, "Open", data)) == questions
