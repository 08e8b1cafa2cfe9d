"""What a request came to: what went wrong, in one short word, and how much there is to read. Pure.

Metrics and traces share both. How many tokens a model reads is an estimate, cheap enough for each
call.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from toolyard.errors import ProtocolError
from toolyard.protocol.call import Encoded, Json, JsonObject, Result
from toolyard.protocol.codec import dumps
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


def argument_characters(arguments: Json) -> int:
    return len(dumps(arguments)) if arguments else 0


def result_characters(result: Result) -> int:
    """Of what a model reads: texts, or the structured content where there is no text.

    Pictures and sound are counted by nobody in characters, and left out.
    """
    if isinstance(result, Encoded):
        return len(result.body)
    content = result.get("content")
    if type(content) is list:
        characters = _texts(content)
        if characters == 0 and result.get("structuredContent") is not None:
            return len(dumps(result["structuredContent"]))
        return characters
    return _of_other_methods(result)


def _of_other_methods(result: JsonObject) -> int:
    contents, messages = result.get("contents"), result.get("messages")
    if type(contents) is list:
        return _texts(contents)
    if type(messages) is list:
        return _texts([item.get("content") for item in messages if isinstance(item, dict)])
    return 0


def _texts(items: list[Json]) -> int:
    characters = 0
    for item in items:
        text = item.get("text") if type(item) is dict else None
        if type(text) is str:
            characters += len(text)
    return characters
