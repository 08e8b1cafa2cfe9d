"""Questions on their way to a client: may they be asked, and how its revision expresses them."""

from __future__ import annotations

import secrets

from toolyard.errors import INTERNAL_ERROR, MISSING_CAPABILITY, ProtocolError, Unaskable
from toolyard.protocol.asking.fitting import Fitted, fit_question
from toolyard.protocol.call import Client, JsonObject, Questions
from toolyard.protocol.client import CAPABILITY, ELICIT, SAMPLE
from toolyard.protocol.revisions import Revision


def fit_all(questions: Questions, revision: Revision) -> dict[str, Fitted]:
    return {key: fit_question(question, revision, _new_id) for key, question in questions.items()}


def _new_id() -> str:
    return secrets.token_urlsafe(16)


def refuse_unaskable(questions: Questions, client: Client, revision: Revision) -> None:
    """Refuse what the client has not declared that it can be asked."""
    missing: JsonObject = {}
    for question in questions.values():
        method, params = question.get("method", ""), question.get("params") or {}
        mode = str(params.get("mode", "form"))
        if method not in CAPABILITY:
            raise ProtocolError(INTERNAL_ERROR, f"{method!r} is not a question for a client")
        in_revision = method != ELICIT or mode in revision.elicitation
        if not in_revision or not client.supports(method, mode):
            missing[CAPABILITY[method]] = {} if mode == "form" else {mode: {}}
        elif method == SAMPLE and params.get("tools"):
            able = client.capabilities[CAPABILITY[SAMPLE]]
            if not isinstance(able, dict) or "tools" not in able:
                missing[CAPABILITY[SAMPLE]] = {"tools": {}}
    if not missing:
        return
    names = ", ".join(missing)
    if not revision.modern:
        raise Unaskable(
            f"this call needs to ask its client ({names}), and the client cannot answer"
        )
    raise ProtocolError(
        MISSING_CAPABILITY,
        f"Server requires the {names} capability for this request",
        {"requiredCapabilities": missing},
    )
