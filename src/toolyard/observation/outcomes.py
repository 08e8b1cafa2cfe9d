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
from toolyard.protocol.verbatim import Verbatim
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


def failure_of(error: BaseException | None) -> str:
    if isinstance(error, ProtocolError):
        return str(error.code)
    if isinstance(error, asyncio.CancelledError):
        return CANCELLED
    if isinstance(error, Refusal):
        return str(error.status)
    return _LINK_ERRORS.get(type(error), "error") if error is not None else "error"


def argument_characters(arguments: Json) -> int:
    """As the JSON that a model writes; none where none were sent."""
    return 0 if arguments is None else len(dumps(arguments))


def result_characters(result: Result) -> int:
    """Of what a model reads: texts, or the structured content where there is no text.

    Pictures and sound are counted by nobody in characters, and left out.
    """
    if isinstance(result, Encoded):
        return len(result.body)
    content = result.get("content")
    if type(content) is not list:
        return _of_other_methods(result)
    characters = 0
    for item in content:
        text = item.get("text") if type(item) is dict else None
        if type(text) is str:
            characters += len(text)
    if characters or result.get("structuredContent") is None:
        return characters
    return len(result.text) if type(result) is Verbatim else len(dumps(result["structuredContent"]))


def _of_other_methods(result: JsonObject) -> int:
    contents, messages = result.get("contents"), result.get("messages")
    if type(contents) is list:
        return _texts(contents)
    if type(messages) is list:
        return _texts([item.get("content") for item in messages if isinstance(item, dict)])
    return 0


def _texts(items: list[Json]) -> int:
    texts = [item.get("text") for item in items if isinstance(item, dict)]
    return sum(len(text) for text in texts if isinstance(text, str))
