"""A question and its answer in the words of another revision."""

from __future__ import annotations

from typing import Any

import pytest

from toolyard.errors import ToolError
from toolyard.protocol.asking.fitting import Fitted, fit_answer, fit_question
from toolyard.protocol.cancelling import reason_in, reason_of
from toolyard.protocol.revisions import ALL

R24, R03, R06, R11, R26 = ALL.values()
ELICIT, SAMPLE, ROOTS = "elicitation/create", "sampling/createMessage", "roots/list"
URL = {"mode": "url", "url": "u", "message": "m"}
FORM = {"mode": "form", "message": "m", "requestedSchema": {"properties": {"a": {}}}}
PLAIN_FORM = {"message": "m", "requestedSchema": {"properties": {"a": {"type": "string"}}}}
TEXT = {"type": "text", "text": "hi"}
AUDIO = {"type": "audio", "data": ""}
USE = {"type": "tool_use", "id": "1"}


def fitted(method: str, params: Any, revision: Any) -> Any:
    """The params that the client gets, or why it is not asked."""
    question = {"method": method} if params is None else {"method": method, "params": params}
    try:
        fit = fit_question(question, revision, lambda: "new")
    except ToolError as error:
        return error.message
    assert fit.as_question() == {
        **question,
        **({} if fit.params is None else {"params": fit.params}),
    }
    return fit.params


def said(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def sampled(*contents: Any, **more: Any) -> dict[str, Any]:
    return {"messages": [said(content) for content in contents], **more}


NO_TOOLS = "a client of 2025-06-18 cannot let a model use tools"
CANNOT = "cannot take"
IN = "in a sampling message"


@pytest.mark.parametrize(
    ("revision", "method", "params", "asked"),
    [
        (R24, ROOTS, None, None),
        (R24, ROOTS, {}, {}),
        (R24, ROOTS, {"x": 1}, {"x": 1}),
        (R06, ELICIT, None, None),
        # URLs have an id in one revision.
        (R26, ELICIT, URL, URL),
        (R11, ELICIT, URL, {**URL, "elicitationId": "new"}),
        (R11, ELICIT, {**URL, "elicitationId": "old"}, {**URL, "elicitationId": "old"}),
        (R26, ELICIT, {**URL, "elicitationId": "old"}, URL),
        # Forms are plain in one.
        (R26, ELICIT, FORM, FORM),
        (R11, ELICIT, FORM, FORM),
        (R06, ELICIT, FORM, PLAIN_FORM),
        (R06, ELICIT, {"mode": "form", "message": "m"}, {"message": "m"}),
        # Older messages hold one content, of fewer kinds.
        (R11, SAMPLE, sampled([TEXT, USE], tools=[1]), sampled([TEXT, USE], tools=[1])),
        (R06, SAMPLE, sampled(TEXT, tools=[]), sampled(TEXT, tools=[])),
        (R06, SAMPLE, sampled(TEXT, [AUDIO]), sampled(TEXT, AUDIO)),
        (R06, SAMPLE, {"messages": 7}, {"messages": 7}),
        (R06, SAMPLE, sampled(TEXT, tools=[1]), NO_TOOLS),
        (R06, SAMPLE, sampled(TEXT, toolChoice={"mode": "auto"}), NO_TOOLS),
        (R06, SAMPLE, sampled([TEXT, TEXT]), f"a client of 2025-06-18 {CANNOT} 2 contents {IN}"),
        (R06, SAMPLE, sampled([]), f"a client of 2025-06-18 {CANNOT} 0 contents {IN}"),
        (R06, SAMPLE, sampled(USE), f"a client of 2025-06-18 {CANNOT} tool_use {IN}"),
        (R24, SAMPLE, sampled(AUDIO), f"a client of 2024-11-05 {CANNOT} audio {IN}"),
        (R24, SAMPLE, sampled(None), f"a client of 2024-11-05 {CANNOT} something unnamed {IN}"),
        (
            R24,
            SAMPLE,
            sampled({"type": ["text"]}),
            f"a client of 2024-11-05 {CANNOT} ['text'] {IN}",
        ),
        (R24, SAMPLE, {"messages": [7]}, f"a client of 2024-11-05 {CANNOT} something unnamed {IN}"),
    ],
)
def test_a_question_in_the_words_of_a_client(
    revision: Any, method: str, params: Any, asked: Any
) -> None:
    assert fitted(method, params, revision) == asked


@pytest.mark.parametrize(
    ("revision", "method", "answer", "told"),
    [
        (R24, ROOTS, {"roots": []}, {"roots": []}),
        (R26, SAMPLE, said([TEXT, USE]), said([TEXT, USE])),
        (R06, SAMPLE, said([TEXT]), said(TEXT)),
        (R06, SAMPLE, {"model": "m", **said(TEXT)}, {"model": "m", **said(TEXT)}),
        (R06, SAMPLE, said(USE), f"a server of 2025-06-18 {CANNOT} tool_use {IN}"),
        (R24, ROOTS, None, "the client's answer to roots/list is not an object"),
        (R26, SAMPLE, [], "the client's answer to sampling/createMessage is not an object"),
    ],
)
def test_an_answer_in_the_words_of_a_server(
    revision: Any, method: str, answer: Any, told: Any
) -> None:
    try:
        assert fit_answer(method, answer, revision) == told
    except ToolError as error:
        assert error.message == told


def test_a_question_that_is_put_again_says_so_in_its_message() -> None:
    again = {"params": {"message": "again"}}
    assert Fitted(ELICIT, PLAIN_FORM).saying(again) == {**PLAIN_FORM, "message": "again"}
    assert Fitted(ELICIT, None).saying(again) == {"message": "again"}


def test_the_answer_to_a_plain_form_answers_the_first_one() -> None:
    several = {"type": "array", "items": {"enum": ["x"]}}
    question = {"method": ELICIT, "params": {"requestedSchema": {"properties": {"a": several}}}}
    fit = fit_question(question, R06, str)
    answer = {"action": "accept", "content": {"a.x": True}}
    assert fit.answer(answer) == {"action": "accept", "content": {"a": ["x"]}}
    with pytest.raises(ToolError, match="is not an object"):
        fit.answer("yes")


@pytest.mark.parametrize(
    ("params", "reason"),
    [({"reason": "late"}, "late"), ({"reason": ""}, ""), ({"reason": 7}, None), ({}, None)],
)
def test_a_cancellation_carries_its_reason(params: Any, reason: str | None) -> None:
    assert reason_in(params) == reason
    assert reason_of(BaseException(reason), "otherwise") == (
        "otherwise" if reason is None else reason
    )
    assert reason_of(BaseException(), "otherwise") == "otherwise"
