"""What a function makes of its input, so that a table can have values and refusals side by side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from toolyard.errors import ProtocolError


class Refusal(NamedTuple):
    """A ProtocolError as a value."""

    code: int
    message: str
    data: Any = None


def refusal(error: ProtocolError) -> Refusal:
    return Refusal(error.code, error.message, error.data)


def outcome(function: Callable[..., Any], *arguments: Any) -> Any:
    """What it returns, or the error that the client would get."""
    try:
        return function(*arguments)
    except ProtocolError as error:
        return refusal(error)
