"""JSON as people write it: comments and trailing commas allowed. Knows nothing of registries."""

from __future__ import annotations

import json
import re

from toolyard.protocol.call import Json
from toolyard.virtual.codec import DECODER, loads

_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TRAILING_COMMA = re.compile(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])')


def parse(data: bytes) -> Json:
    """Raises ValueError that says what is wrong, with line and column."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"is not UTF-8: {error.reason} at byte {error.start}") from None
    try:
        return loads(text)
    except (ValueError, RecursionError):
        return _relaxed(text)


def _relaxed(text: str) -> Json:
    plain = _TRAILING_COMMA.sub(_blanked, _COMMENT.sub(_blanked, text))
    if not plain.strip():
        raise ValueError("is empty; {} is a registry with nothing in it")
    try:
        return DECODER.decode(plain)
    except json.JSONDecodeError as error:
        said = error.msg[0].lower() + error.msg[1:]
        raise ValueError(f"line {error.lineno}, column {error.colno}: {said}") from None
    except RecursionError:
        raise ValueError("is nested too deeply") from None


def _blanked(match: re.Match[str]) -> str:
    """Strings stay; what goes leaves blanks, so that lines and columns stay true."""
    return match[1] or re.sub(r"[^\n]", " ", match[0])
