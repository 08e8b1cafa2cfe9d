"""Results that are passed on byte for byte: the value for whoever looks into it, and its text.

An answer of another server is read once, for its value. If nothing in the result has to change on
its way to the client, its text goes out as it came in: cheaper than to write it anew, and nothing
that a value cannot express is lost (the order and the spelling of members, a name that comes
twice, the escapes, half a surrogate pair). If only members are to be added, they are written
before the text.

Where the envelope has another form than servers write it, or the text cannot stand on one line,
the answer is read like any other message.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple, NoReturn

from toolyard.protocol.codec import TooDeep, TooMany, dumps, exact, half_pairs
from toolyard.protocol.values import JsonObject

_ID_FIRST, _THEN_RESULT = b'{"jsonrpc":"2.0","id":', b',"result":'
_RESULT_FIRST, _THEN_ID = b'{"result":', b',"jsonrpc":"2.0","id":'
_SPACED_ID_FIRST = re.compile(
    rb'\s*\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*(\d{1,18})\s*,\s*"result"\s*:\s*(?=\{)'
)
_SPACED_RESULT_FIRST = re.compile(rb'\s*\{\s*"result"\s*:\s*(?=\{)')
_SPACED_ID_LAST = re.compile(
    rb'\}(\s*,\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*(\d{1,18})\s*\}\s*)$'
)
_SPACED_END = re.compile(rb"\}(\s*\}\s*)$")
# Where the rest of an envelope is looked for. An id has at most 18 digits.
_LONGEST_HEAD, _LONGEST_END = 52, 100


class Place(NamedTuple):
    """Of a result in an answer."""

    start: int
    end: int
    number: bytes | bytearray


class Verbatim(JsonObject):
    """A result with the text that it was read from. Nobody changes it: a copy has no text."""

    __slots__ = ("text",)
    text: bytes

    @classmethod
    def of(cls, value: JsonObject, text: bytes) -> Verbatim:
        # No __init__: this is done for every answer, and a call costs as much as the rest.
        result = cls(value)
        result.text = text
        return result

    def without(self, name: str) -> JsonObject:
        """A copy without this member; with its text, where that one's place in it is certain."""
        copy = {key: value for key, value in self.items() if key != name}
        text = self._text_without(name) if copy else None
        return copy if text is None else Verbatim.of(copy, text)

    def _text_without(self, name: str) -> bytes | None:
        key, text = dumps(name), self.text
        member = key + b":" + dumps(self[name])
        if text.count(key) != 1:
            return None
        # The first or the last member belongs to the result itself, whatever else is in it.
        if text.startswith(b"{" + member + b","):
            return b"{" + text[len(member) + 2 :]
        if text.endswith(b"," + member + b"}"):
            return text[: -len(member) - 2] + b"}"
        return None


def _unchangeable(*_: object, **__: object) -> NoReturn:
    raise TypeError("a result that is passed on is not changed: make a copy")


_CHANGES = ("__setitem__", "__delitem__", "__ior__", "clear", "pop", "popitem")
for _change in (*_CHANGES, "setdefault", "update"):
    setattr(Verbatim, _change, _unchangeable)


def answer_in(data: bytes | bytearray) -> JsonObject | None:
    """The answer in these bytes, its result verbatim; None where it has another form."""
    place = _usual_place(data) or _unusual_place(data)
    if place is None:
        return None
    start, end, number = place
    # What stands between is the result if it is JSON by itself.
    text = bytes(data[start:end])
    value = _value(text)
    if value is None:
        return None
    return {"jsonrpc": "2.0", "id": int(number), "result": Verbatim.of(value, text)}


def _usual_place(data: bytes | bytearray) -> Place | None:
    """Where the result begins and ends, and the id, as most servers write an answer."""
    if not data.endswith(b"}"):
        return None
    if data.startswith(_ID_FIRST):
        start = data.find(_THEN_RESULT, len(_ID_FIRST), _LONGEST_HEAD)
        end, number = len(data) - 1, data[len(_ID_FIRST) : start]
        start += len(_THEN_RESULT)
    elif data.startswith(_RESULT_FIRST):
        end = data.rfind(_THEN_ID, max(0, len(data) - _LONGEST_END))
        start, number = len(_RESULT_FIRST), data[end + len(_THEN_ID) : -1]
    else:
        return None
    return Place(start, end, number) if number.isdigit() and end > start else None


def _unusual_place(data: bytes | bytearray) -> Place | None:
    """The same with spaces in between."""
    head = _SPACED_ID_FIRST.match(data)
    if head is not None:
        tail = _SPACED_END.search(data, max(0, len(data) - _LONGEST_END))
        return Place(head.end(), tail.start(1), head[1]) if tail is not None else None
    head = _SPACED_RESULT_FIRST.match(data)
    if head is None:
        return None
    tail = _SPACED_ID_LAST.search(data, max(0, len(data) - _LONGEST_END))
    return Place(head.end(), tail.start(1), tail[2]) if tail is not None else None


def _value(text: bytes) -> JsonObject | None:
    if b"\n" in text or b"\r" in text:
        return None
    try:
        value: Any = exact(text)
    except (TooDeep, TooMany):
        return None
    except ValueError:
        value = half_pairs(text)
    return value if isinstance(value, dict) else None


def passed_on(result: Verbatim, fit: JsonObject) -> bytes | None:
    """The text of `fit`, where it is the result with nothing but members added to it."""
    for name, value in result.items():
        # No default: any value could be that of a member which has been dropped.
        if name not in fit or (fit[name] is not value and fit[name] != value):
            return None
    if len(fit) == len(result):
        return result.text
    if not result:
        return None
    more = dumps({name: value for name, value in fit.items() if name not in result})
    return b"".join((more[:-1], b",", memoryview(result.text)[1:]))
