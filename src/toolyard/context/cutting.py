"""A result within a limit: cut between whole items or lines, never inside JSON. Pure.

What is cut away is kept elsewhere, and a sentence at the end says what is missing and how to get
it. A result that must keep to a schema cannot be cut at all.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from toolyard.context.sizes import CHARACTERS_PER_TOKEN
from toolyard.protocol.call import Json, JsonObject
from toolyard.protocol.codec import dumps, exact

# In a tool's `extra`: how many bytes its results may have.
LIMIT = "resultLimit"
# Room for the sentence, and for what JSON adds around a text.
_MARGIN = 600
SMALLEST_LIMIT = 2_000
_AMOUNT = re.compile(r"([0-9]{1,12})\s*(tokens|bytes|b|kb|mb)?")
_BYTES = {"tokens": CHARACTERS_PER_TOKEN, "bytes": 1, "b": 1, "kb": 1_000, "mb": 1_000_000}
_SAID_BY_TEXT = frozenset({"content", "structuredContent", "isError", "resultType"})
# How deep a list is looked for that can be cut.
_DEEPEST = 6


def limit_of(value: object) -> int | None:
    """Bytes: from a number of tokens, or a text such as "64 kB". None for none.

    Raises ValueError with what is wrong.
    """
    if value in (None, "", 0, "0"):
        return None
    match = _AMOUNT.fullmatch(str(value).strip().lower()) if not isinstance(value, bool) else None
    if match is None:
        raise ValueError('must be a number of tokens, or a text such as "8000 tokens" or "64 kB"')
    size = int(match[1]) * _BYTES[match[2] or "tokens"]
    if size < SMALLEST_LIMIT:
        raise ValueError(f"must be {SMALLEST_LIMIT} bytes or more, not {size}")
    return size


class KeptText(NamedTuple):
    """What is kept of a result: the text that ranges and paths are read from."""

    text: str
    is_json: bool


def kept(result: JsonObject) -> KeptText:
    """The one text of a result that has no more than that; else all of the result as JSON."""
    content = result.get("content")
    items = content if isinstance(content, list) else []
    only_item = items[0] if len(items) == 1 and isinstance(items[0], dict) else {}
    text = only_item.get("text")
    if isinstance(text, str) and only_item.keys() == {"type", "text"}:
        value = _json_in(text)
        more = {key: part for key, part in result.items() if key not in _SAID_BY_TEXT}
        if not more and result.get("structuredContent", value) == value:
            return KeptText(text, value is not None)
    return KeptText(dumps(result).decode(), True)


def cut(result: JsonObject, limit: int, sentence: str) -> JsonObject:
    """As much of the content as fits, and the sentence."""
    room = limit - _MARGIN - len(sentence)
    content: list[Json] = []
    items = result.get("content")
    for item in items if isinstance(items, list) else []:
        size = len(dumps(item)) + 1
        if size <= room:
            content.append(item)
            room -= size
            continue
        part = _part_of(item, room)
        if part is not None:
            content.append(part)
        break
    return {"content": [*content, {"type": "text", "text": sentence}]}


def _part_of(item: Json, room: int) -> JsonObject | None:
    """The beginning of a text; nothing of a picture or of JSON without a list."""
    text = item.get("text") if isinstance(item, dict) and item.get("type") == "text" else None
    if not isinstance(text, str):
        return None
    value = _json_in(text)
    part = _lines_of(text, room) if value is None else _items_of(value, room)
    return {**item, "text": part} if part else None


def _json_in(text: str) -> Json:
    """The value, if the whole text is an object or a list as JSON."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return exact(text.encode())
    except ValueError:
        return None


def _lines_of(text: str, room: int) -> str:
    start = text.encode()[: max(0, _raw_room(text, room))].decode(errors="ignore")
    end = start.rfind("\n")
    if end < 0:  # one long line, and no JSON
        end = max(start.rfind(" "), 0) or len(start)
    return start[:end]


def _raw_room(text: str, room: int) -> int:
    """Bytes of the text that fit, where JSON escapes some of its characters."""
    sample = text[:10_000]
    escaped = len(dumps(sample)) / max(1, len(sample.encode()))
    size = int(room / escaped)
    while size > 0 and len(dumps(text.encode()[:size].decode(errors="ignore"))) > room:
        size = size * 9 // 10
    return size


def _items_of(value: Json, room: int) -> str:
    """The value with fewer items in its largest list; empty if that does not suffice."""
    path = _largest_list(value)
    if path is None:
        return ""
    items = _at(value, path)
    low, high = 0, len(items)
    best = ""
    while low <= high:  # a part is JSON in a JSON string: what that takes is found by trying
        middle = (low + high) // 2
        text = dumps(_with(value, path, items[:middle])).decode()
        if len(dumps(text)) <= room:
            best, low = text, middle + 1
        else:
            high = middle - 1
    return best


def _largest_list(value: Json) -> tuple[str, ...] | None:
    """The way to the list that takes the most room, through objects."""
    if isinstance(value, list):
        return ()
    best: tuple[int, tuple[str, ...]] | None = None
    todo: list[tuple[Json, tuple[str, ...]]] = [(value, ())]
    while todo:
        at, path = todo.pop()
        for key, child in at.items() if isinstance(at, dict) else ():
            if isinstance(child, list):
                size = len(dumps(child))
                best = max(best or (0, ()), (size, (*path, key)))
            elif isinstance(child, dict) and len(path) < _DEEPEST:
                todo.append((child, (*path, key)))
    return None if best is None else best[1]


def _at(value: Json, path: tuple[str, ...]) -> list[Json]:
    for key in path:
        value = value[key]
    items: list[Json] = value
    return items


def _with(value: Json, path: tuple[str, ...], items: list[Json]) -> Json:
    if not path:
        return items
    return {**value, path[0]: _with(value[path[0]], path[1:], items)}
