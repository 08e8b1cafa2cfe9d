"""A call in rounds: its result asks something, the client is asked, the same call is made again.

A result with `resultType: input_required` is not the end of a call. It has questions, a state,
or both: the questions are answered, and the call is made again with the answers and the state,
and may ask something else. A result with a state and no questions only wants the call to be made
again. A modern client makes the rounds itself, and nothing here loops: it gets the result, and
comes back with a new call.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeAlias, TypeGuard

from toolyard.errors import INTERNAL_ERROR, ProtocolError
from toolyard.protocol.asking.questions import asked_by
from toolyard.protocol.call import Call, Encoded, JsonObject, Questions, Result

MOST_ROUNDS = 32
INPUT_REQUIRED = "input_required"
RESULT_TYPES = ("complete", INPUT_REQUIRED)
# The params of a second round.
RESPONSES, STATE = "inputResponses", "requestState"
ROUND_PARAMS = frozenset({RESPONSES, STATE})

Make: TypeAlias = Callable[[Call], Awaitable[Result]]
Ask: TypeAlias = Callable[[Questions], Awaitable[JsonObject]]


def asks(result: Result) -> TypeGuard[JsonObject]:
    return not isinstance(result, Encoded) and result.get("resultType") == INPUT_REQUIRED


def has_something_to_ask(result: JsonObject) -> bool:
    """Does a result that says it asks really ask something?"""
    return "inputRequests" in result or STATE in result


def asking(questions: Questions, state: str) -> JsonObject:
    """The result that asks these questions; the client brings the state back."""
    return {"resultType": INPUT_REQUIRED, "inputRequests": dict(questions), STATE: state}


async def answered(
    result: Result, call: Call, make: Make, ask: Ask, most: int = MOST_ROUNDS
) -> Result:
    """The result of a call once nothing is left to ask. `result` is that of its first round.

    Raises ProtocolError if it never ends, or asks in a form that nobody could answer.
    """
    for _ in range(most):
        if not asks(result):
            return result
        questions = asked_by(result)
        answers = await ask(questions) if questions else None
        call = replace(call, input_responses=answers, request_state=result.get(STATE))
        result = await make(call)
    if asks(result):
        raise ProtocolError(INTERNAL_ERROR, f"it asked more than {most} times")
    return result
