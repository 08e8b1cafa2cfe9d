"""Why something was cancelled: the words travel with the cancellation. Pure."""

from __future__ import annotations

from toolyard.protocol.values import JsonObject


def reason_in(params: JsonObject) -> str | None:
    """What whoever cancels gives for a reason."""
    reason = params.get("reason")
    return reason if isinstance(reason, str) else None


def reason_of(cancelled: BaseException, otherwise: str) -> str:
    """The reason that a task was cancelled for; `otherwise` where nobody gave one."""
    said = cancelled.args[0] if cancelled.args else None
    return said if isinstance(said, str) else otherwise
