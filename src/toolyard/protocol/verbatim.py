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
from typing import Any, NoReturn

from toolyard.protocol.codec import dumps, exact, half_pairs
from toolyard.protocol.values import Json, JsonObject

_ID_BEFORE = re.compile(
    rb'\s*\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*(\d{1,18})\s*,\s*"result"\s*:\s*(?=\{)'
)
_RESULT_FIRST = re.compile(rb'\s*\{\s*"result"\s*:\s*(?=\{)')
_ID_BEHIND = re.compile(rb'\}(\s*,\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*(\d{1,18})\s*\}\s*)$')
_END = re.compile(rb"\}(\s*\}\s*)$")
# Where the end of an envelope is looked for.
_LONGEST_END = 100


class Verbatim(JsonObject):
    """A result with the text that it was read from. Nobody changes it: a copy has no text."""

    __slots__ = ("text",)

    def __init__(self, value: JsonObject, text: bytes) -> None:
        super().__init__(value)
        self.text = text

    def __setitem__(self, name: str, value: Json) -> NoReturn:
        raise TypeError("a result that is passed on is not changed: make a copy")

    def without(self, name: str) -> JsonObject:
        """A copy without this member; with its text, where that one's place in it is certain."""
        copy = {key: value for key, value in self.items() if key != name}
        key = dumps(name)
        member = key + b":" + dumps(self[name])
        before, found, after = self.text.partition(member)
        if not found or self.text.count(key) != 1 or not copy:
            return copy
        if after.startswith(b","):
            return Verbatim(copy, before + after[1:])
        return Verbatim(copy, before.removesuffix(b",") + after)


def answer_in(data: bytes | bytearray) -> JsonObject | None:
    """The answer in these bytes, its result verbatim; None where it has another form."""
    head = _ID_BEFORE.match(data)
    if head is not None:
        tail, number = _END.search(data, max(0, len(data) - _LONGEST_END)), head[1]
    else:
        head = _RESULT_FIRST.match(data)
        if head is None:
            return None
        tail = _ID_BEHIND.search(data, max(0, len(data) - _LONGEST_END))
        number = tail[2] if tail is not None else b""
    if tail is None:
        return None
    # What stands between is the result if it is JSON by itself.
    text = bytes(memoryview(data)[head.end() : tail.start(1)])
    value = _value(text)
    if value is None:
        return None
    return {"jsonrpc": "2.0", "id": int(number), "result": Verbatim(value, text)}


def _value(text: bytes) -> JsonObject | None:
    if b"\n" in text or b"\r" in text:
        return None
    try:
        value: Any = exact(text)
    except ValueError:
        value = half_pairs(text)
    return value if isinstance(value, dict) else None


def passed_on(result: Verbatim, fit: JsonObject) -> bytes | None:
    """The text of `fit`, where it is the result with nothing but members added to it."""
    if not result or any(name not in fit or fit[name] != result[name] for name in result):
        return None
    if len(fit) == len(result):
        return result.text
    more = dumps({name: value for name, value in fit.items() if name not in result})
    return b"".join((more[:-1], b",", memoryview(result.text)[1:]))
