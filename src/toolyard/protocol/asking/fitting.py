"""A question, and its answer, as another revision expresses them. Pure.

What that revision cannot express is not asked at all: whoever asks is told why.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from toolyard.errors import ToolError, Unaskable
from toolyard.protocol.asking.forms import PlainForm, plain_form
from toolyard.protocol.client import ELICIT, SAMPLE
from toolyard.protocol.revisions import Revision
from toolyard.protocol.values import Json, JsonObject

ELICITATION_ID = "elicitationId"


class Fitted(NamedTuple):
    """A question as the client's revision expresses it."""

    method: str
    params: JsonObject | None
    form: PlainForm | None = None

    def answer(self, answer: Json) -> JsonObject:
        """The client's answer, as an answer to the question that this was made from."""
        if not isinstance(answer, dict):
            raise ToolError(f"the client's answer to {self.method} is not an object")
        return answer if self.form is None else self.form.answer(answer)

    def saying(self, question: JsonObject) -> JsonObject:
        """The params with the message of a question that is asked again."""
        return {**(self.params or {}), "message": question["params"]["message"]}

    def as_question(self) -> JsonObject:
        if self.params is None:
            return {"method": self.method}
        return {"method": self.method, "params": self.params}


def fit_question(question: JsonObject, revision: Revision, new_id: Callable[[], str]) -> Fitted:
    """Raises Unaskable if something would be lost."""
    method, params = question["method"], question.get("params")
    if not params:
        return Fitted(method, params)
    if method == ELICIT:
        return _fit_elicitation(method, params, revision, new_id)
    if method == SAMPLE:
        return Fitted(method, _fit_sampling(params, revision))
    return Fitted(method, params)


def _fit_elicitation(
    method: str, params: JsonObject, revision: Revision, new_id: Callable[[], str]
) -> Fitted:
    if params.get("mode") == "url":
        return Fitted(method, _fit_url(params, revision, new_id))
    if not revision.plain_forms:
        return Fitted(method, params)
    # With only one way to elicit, `mode` does not exist.
    params = {key: value for key, value in params.items() if key != "mode"}
    if not isinstance(params.get("requestedSchema"), dict):
        return Fitted(method, params)
    form = plain_form(params["requestedSchema"])
    return Fitted(method, {**params, "requestedSchema": form.schema}, form)


def _fit_url(params: JsonObject, revision: Revision, new_id: Callable[[], str]) -> JsonObject:
    if revision.tracked_urls:
        return params if ELICITATION_ID in params else {**params, ELICITATION_ID: new_id()}
    return {key: value for key, value in params.items() if key != ELICITATION_ID}


def _fit_sampling(params: JsonObject, revision: Revision) -> JsonObject:
    if revision.sampling_lists:
        return params
    if params.get("tools") or params.get("toolChoice"):
        raise Unaskable(f"a client of {revision} cannot let a model use tools")
    messages = params.get("messages")
    if not isinstance(messages, list):
        return params
    whose = f"a client of {revision}"
    return {**params, "messages": [_fit_message(message, revision, whose) for message in messages]}


def fit_answer(method: str, answer: Json, revision: Revision) -> JsonObject:
    """A client's answer for an upstream of this revision. Raises ToolError if it does not fit."""
    if not isinstance(answer, dict):
        raise ToolError(f"the client's answer to {method} is not an object")
    if method != SAMPLE or revision.sampling_lists:
        return answer
    return _fit_message(answer, revision, f"a server of {revision}")


def _fit_message(message: Json, revision: Revision, whose: str) -> JsonObject:
    """The message with a single content, as in older revisions."""
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, list):
        if len(content) != 1:
            raise Unaskable(f"{whose} cannot take {len(content)} contents in a sampling message")
        content = content[0]
    kind = content.get("type") if isinstance(content, dict) else None
    if not isinstance(kind, str) or kind not in revision.sampling_kinds:
        raise Unaskable(f"{whose} cannot take {kind or 'something unnamed'} in a sampling message")
    return {**message, "content": content}
