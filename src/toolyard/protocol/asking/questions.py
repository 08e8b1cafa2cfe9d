"""The questions of an `input_required` result, which a stranger wrote: nothing is trusted. Pure."""

from __future__ import annotations

from toolyard.errors import INTERNAL_ERROR, URL_REQUIRED, ProtocolError
from toolyard.protocol.client import CAPABILITY, ELICIT
from toolyard.protocol.values import Json, JsonObject


def asked_by(result: JsonObject) -> dict[str, JsonObject]:
    """The questions of an `input_required` result. Raises ProtocolError if they are malformed."""
    questions: Json = result.get("inputRequests")
    state = result.get("requestState")
    if state is not None and not isinstance(state, str):
        raise _malformed("its requestState is not a string")
    if questions is None and state is not None:
        return {}
    if not isinstance(questions, dict):
        raise _malformed("its inputRequests are not an object")
    for key, question in questions.items():
        _check(key, question)
    return questions


def urls_of(error: ProtocolError) -> dict[str, JsonObject]:
    """The questions in an error of 2025-11-25 that asks for URLs to be opened first."""
    items = error.data.get("elicitations") if isinstance(error.data, dict) else None
    if error.code != URL_REQUIRED or not isinstance(items, list):
        return {}
    urls = [item for item in items if _is_url(item)]
    return {
        f"elicitation-{number}": {"method": ELICIT, "params": {**item, "mode": "url"}}
        for number, item in enumerate(urls, 1)
    }


def _is_url(elicitation: Json) -> bool:
    if not isinstance(elicitation, dict) or elicitation.get("mode", "url") != "url":
        return False
    return isinstance(elicitation.get("url"), str) and isinstance(elicitation.get("message"), str)


def _check(key: str, question: Json) -> None:
    if not isinstance(question, dict):
        raise _malformed(f"{key!r} is not an object")
    method = question.get("method")
    if not isinstance(method, str) or method not in CAPABILITY:
        raise _malformed(f"the method of {key!r} is not one that asks a client")
    params = question.get("params")
    if params is not None and not isinstance(params, dict):
        raise _malformed(f"the params of {key!r} are not an object")


def _malformed(why: str) -> ProtocolError:
    return ProtocolError(INTERNAL_ERROR, f"The server asks for input in a wrong form: {why}")
