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
from typing import NoReturn

from toolyard.protocol.codec import TooDeep, TooMany, dumps, exact, exact_part, half_pairs
from toolyard.protocol.values import Json, JsonObject

# The id first, then the result, with or without spaces in between.
_ID_FIRST = re.compile(
    rb'\s*\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*(\d{1,18})\s*,\s*"result"\s*:\s*(?=\{)'
)
_END = re.compile(rb"\}(\s*\}\s*)$")
# The result first, then the id.
_RESULT_FIRST = re.compile(rb'\s*\{\s*"result"\s*:\s*(?=\{)')
_ID_LAST = re.compile(rb'\}(\s*,\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*(\d{1,18})\s*\}\s*)$')
_NEWLINE, _RETURN = b"\n\r"  # as numbers, which are found faster than bytes
# Where the rest of an envelope is looked for. An id has at most 18 digits.
_LONGEST_END = 100
# From here on a copy is worth avoiding.
_LONG = 16 * 1024


class Verbatim(JsonObject):
    """A result with the text that it was read from. Nobody changes it: a copy has no text."""

    __slots__ = ("text",)
    text: bytes | memoryview  # of a long answer that part which is the result, not a copy

    @classmethod
    def of(cls, value: JsonObject, text: bytes | memoryview) -> Verbatim:
        result = cls(value)
        result.text = text
        return result

    def without(self, name: str) -> JsonObject:
        """A copy without this member; with its text, where that one's place in it is certain."""
        copy = Verbatim(self)
        value = dict.pop(copy, name)
        text = self._text_without(*_members.text(name, value)) if copy else None
        if text is None:
            return {**copy}
        copy.text = text
        return copy

    def _text_without(self, key: bytes, member: bytes) -> bytes | None:
        text = bytes(self.text)  # which is no copy of what are bytes already
        if text.count(key) != 1:
            return None
        # The first or the last member belongs to the result itself, whatever else is in it.
        if text.startswith(b"{" + member + b","):
            return b"{" + text[len(member) + 2 :]
        if text.endswith(b"," + member + b"}"):
            return text[: -len(member) - 2] + b"}"
        return None


class _Members:
    """The member that was written last: a server says the same about itself in each answer."""

    def __init__(self) -> None:
        self._name: str = ""
        self._value: Json = None
        self._texts = (b"", b"")

    def text(self, name: str, value: Json) -> tuple[bytes, bytes]:
        """Its key, and all of it. An equal value may be spelled otherwise: whoever looks for the
        text in another one does not find it then."""
        if name != self._name or value != self._value:
            key = dumps(name)
            self._name, self._value, self._texts = name, value, (key, key + b":" + dumps(value))
        return self._texts


_members = _Members()


def _unchangeable(*_: object, **__: object) -> NoReturn:
    raise TypeError("a result that is passed on is not changed: make a copy")


_CHANGES = ("__setitem__", "__delitem__", "__ior__", "clear", "pop", "popitem")
for _change in (*_CHANGES, "setdefault", "update"):
    setattr(Verbatim, _change, _unchangeable)


def answer_in(data: bytes | bytearray) -> JsonObject | None:
    """The answer in these bytes, its result verbatim; None where it has another form."""
    head = _ID_FIRST.match(data)
    if head is not None and data.endswith(b"}}"):  # as nearly every server writes it
        start, end, number = head.end(), len(data) - 1, head[1]
    else:
        place = _unusual_place(data, head)
        if place is None:
            return None
        start, end, number = place
    # What stands between is the result if it is JSON by itself.
    if end - start > _LONG:
        return _long_answer(data, start, end, number)
    text = data[start:end] if type(data) is bytes else bytes(memoryview(data)[start:end])
    if _NEWLINE in text or _RETURN in text:
        return None
    try:
        value = exact(text)
    except (TooDeep, TooMany):
        return None
    except ValueError:
        value = half_pairs(text)
    if type(value) is not dict:
        return None
    result = Verbatim(value)
    result.text = text
    return {"jsonrpc": "2.0", "id": int(number), "result": result}


def _long_answer(data: bytes | bytearray, start: int, end: int, number: bytes) -> JsonObject | None:
    """The same without a copy of the result."""
    if data.find(b"\n", start, end) >= 0 or data.find(b"\r", start, end) >= 0:
        return None
    text = memoryview(data)[start:end]
    try:
        value = exact_part(data, start, end)
    except (TooDeep, TooMany):
        return None
    except ValueError:
        value = half_pairs(bytes(text))
    if not isinstance(value, dict):
        return None
    return {"jsonrpc": "2.0", "id": int(number), "result": Verbatim.of(value, text)}


def _unusual_place(
    data: bytes | bytearray, head: re.Match[bytes] | None
) -> tuple[int, int, bytes] | None:
    """Where the result begins and ends, and the id, in the other forms that servers write."""
    window = max(0, len(data) - _LONGEST_END)
    if head is not None:
        tail = _END.search(data, window)
        return (head.end(), tail.start(1), head[1]) if tail is not None else None
    head, tail = _RESULT_FIRST.match(data), _ID_LAST.search(data, window)
    if head is None or tail is None:
        return None
    return head.end(), tail.start(1), tail[2]


def passed_on(result: Verbatim, fit: JsonObject) -> bytes | memoryview | None:
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
