"""The JSON value inside a tool's result. Knows nothing of schemas."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from toolyard.files.exact import loads
from toolyard.files.objects import DECODER
from toolyard.protocol.call import Json, JsonObject
from toolyard.virtual.query.paths import MISSING

_FENCE = "```"
_LANGUAGE = re.compile(r"[A-Za-z0-9_+.-]*")
_OPENING = re.compile(r"[{\[]")
_CLOSER = {"{": "}", "[": "]"}
# How often the search for an embedded value may try, and how much it may read again.
_TRIES = 1_000
_REREAD = 200_000
_TOO_DEEP = 1_000


def value_of(result: JsonObject) -> Json:
    """What the result says, as JSON: its structured content, or what its text holds; or MISSING."""
    texts = texts_of(result)
    if "structuredContent" not in result or result["structuredContent"] is None:
        return find_json(texts)
    content = result["structuredContent"]
    text = _only_string(content)
    if text is None:
        return content
    if text in (*texts, "\n".join(texts)):
        return find_json(texts)
    inside = find_json([text])
    if inside is not MISSING and (not texts or inside == find_json(texts)):
        return inside
    return content


def texts_of(result: JsonObject) -> list[str]:
    content = result.get("content")
    return [
        block["text"].removeprefix("\ufeff")
        for block in (content if isinstance(content, list) else ())
        if isinstance(block, dict)
        and block.get("type") == "text"
        and isinstance(block.get("text"), str)
    ]


def _only_string(content: Json) -> str | None:
    if not isinstance(content, dict) or len(content) != 1:
        return None
    member = next(iter(content.values()))
    return member.removeprefix("\ufeff") if isinstance(member, str) else None


def find_json(texts: list[str]) -> Json:
    """The surest place first, over all texts: a whole text, a fenced block, something embedded."""
    value = find_stated(texts)
    return find_embedded(texts) if value is MISSING else value


def find_stated(texts: list[str]) -> Json:
    """A text that is JSON as a whole, or a fenced block that is."""
    candidates = (*texts, *(block for text in texts for block in _fenced(text)))
    return next((value for text in candidates if (value := _parsed(text)) is not MISSING), MISSING)


def find_embedded(texts: list[str]) -> Json:
    """The first balanced object or array that parses, anywhere in the texts."""
    values = map(_embedded, texts)
    return next((value for value in values if value is not MISSING), MISSING)


def _parsed(text: str) -> Json:
    try:
        return loads(text)
    except (ValueError, RecursionError):
        return MISSING


def _fenced(text: str) -> Iterator[str]:
    at = text.find(_FENCE)
    while at >= 0:
        begin = at + len(_FENCE)
        end = text.find(f"\n{_FENCE}", begin)  # a fence inside a string is not on its own line
        end = text.find(_FENCE, begin) if end < 0 else end + 1
        if end < 0:
            return
        language = _LANGUAGE.match(text, begin)
        yield text[language.end() if language else begin : end]
        yield text[begin:end]
        at = text.find(_FENCE, end + len(_FENCE))


def _embedded(text: str) -> Json:
    whole = _parsed_to_last_closer(text)
    if whole is not MISSING:
        return whole
    reread = len(text) + _REREAD
    for bracket in islice(_OPENING.finditer(text), _TRIES):
        start = bracket.start()
        try:
            return DECODER.raw_decode(text, start)[0]
        except RecursionError:
            reread -= _TOO_DEEP
        except ValueError as error:
            reread -= getattr(error, "pos", start) - start
        if reread < 0:
            break
    return MISSING


def _parsed_to_last_closer(text: str) -> Json:
    """The usual case, done fast: one value, with words before and after it."""
    bracket = _OPENING.search(text)
    if bracket is None:
        return MISSING
    end = text.rfind(_CLOSER[bracket[0]])
    return _parsed(text[bracket.start() : end + 1])
