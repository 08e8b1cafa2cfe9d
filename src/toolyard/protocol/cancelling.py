"""Why something was cancelled: the reason travels with the cancellation. Pure."""

from __future__ import annotations

from toolyard.protocol.values import JsonObject

# Why work is cancelled that goes on elsewhere: nothing is to be cancelled there.
LEAVING = "the server ends, the task does not"


def reason_in(params: JsonObject) -> str | None:
    """The reason that a notification gives."""
    reason = params.get("reason")
    return reason if isinstance(reason, str) else None


def reason_of(cancellation: BaseException, otherwise: str) -> str:
    """The reason why a task was cancelled; `otherwise` if nobody gave one."""
    reason = cancellation.args[0] if cancellation.args else None
    return reason if isinstance(reason, str) else otherwise
