"""What went wrong, as one short word that metrics and traces share. Pure."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from toolyard.errors import ProtocolError
from toolyard.protocol.call import Result
from toolyard.upstreams.link.link import (
    CredentialsError,
    Down,
    Lost,
    NotSent,
    Refusal,
    SessionGone,
    TimedOut,
)

TOOL_ERROR = "tool_error"
CANCELLED = "cancelled"
_LINK_ERRORS: Mapping[type[BaseException], str] = {
    TimedOut: "timeout",
    Lost: "lost",
    NotSent: "not_sent",
    SessionGone: "session_gone",
    Down: "down",
    CredentialsError: "credentials",
}


def failure_in(result: Result) -> str:
    """HTTP and JSON-RPC call it a success: only the result says that the tool failed."""
    return TOOL_ERROR if isinstance(result, dict) and result.get("isError") else ""


def failure_of(error: BaseException) -> str:
    if isinstance(error, ProtocolError):
        return str(error.code)
    if isinstance(error, asyncio.CancelledError):
        return CANCELLED
    if isinstance(error, Refusal):
        return str(error.status)
    return _LINK_ERRORS.get(type(error), "error")
