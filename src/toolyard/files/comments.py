"""JSON as people write it: comments and trailing commas allowed, every integer exact. Pure."""

from __future__ import annotations

import json
import re
from typing import Any

from toolyard.files.exact import loads
from toolyard.files.objects import DECODER, where_and_what

_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TRAILING_COMMA = re.compile(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])')


class Empty(ValueError):
    """Nothing but comments and blanks."""


def parse(data: bytes) -> Any:
    """Raises ValueError that says what is wrong, with line and column."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"is not UTF-8: {error.reason} at byte {error.start}") from None
    try:
        return loads(text)
    except (ValueError, RecursionError):
        return _parse_relaxed(text)


def _parse_relaxed(text: str) -> Any:
    plain = without_comments(text)
    if not plain.strip():
        raise Empty("is empty")
    try:
        return DECODER.decode(plain)
    except json.JSONDecodeError as error:
        raise ValueError(where_and_what(error)) from None
    except RecursionError:
        raise ValueError("is nested too deeply") from None


def without_comments(text: str, *, trailing_commas: bool = True) -> str:
    """Plain JSON; every value stays where it stands."""
    plain = _COMMENT.sub(_blank, text)
    return _TRAILING_COMMA.sub(_blank, plain) if trailing_commas else plain


def _blank(match: re.Match[str]) -> str:
    """Strings stay; anything else becomes blanks, so that lines and columns stay right."""
    return match[1] or re.sub(r"[^\n]", " ", match[0])
