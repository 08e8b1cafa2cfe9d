"""What an edit would change, line by line, without anybody's secrets."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from toolyard.clients.importing.secrets import is_secret, secrets_among
from toolyard.clients.linking import Edit
from toolyard.files.documents.document import read
from toolyard.telemetry import Mask, one_line

_CONTEXT = 3
# Everything below these is taken for a secret, whatever it looks like.
_PRIVATE = {"env", "environment", "envs", "headers", "http_headers", "oauth", "apiKey", "auth"}


def diff_of(edit: Edit) -> str:
    before, after = edit.original.content.decode(), (edit.data or b"").decode()
    mask = Mask(_secrets(edit))
    lines = _unified(before.splitlines(), after.splitlines())
    head = [f"--- {edit.file.path}", f"+++ {edit.file.path}"]
    return "\n".join([*head, *(one_line(mask(line)) for line in lines)])


def _unified(old: list[str], new: list[str]) -> Iterator[str]:
    """Only what lies between the first and the last change is compared: files can be huge."""
    top = _equal(old, new)
    bottom = _equal(old[top:][::-1], new[top:][::-1])
    start = max(top - _CONTEXT, 0)
    end = max(bottom - _CONTEXT, 0)
    parts = old[start : len(old) - end], new[start : len(new) - end]
    yield from list(difflib.unified_diff(*parts, n=_CONTEXT, lineterm=""))[2:]


def _equal(one: list[str], other: list[str]) -> int:
    """How many lines at the beginning are the same."""
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count


def _secrets(edit: Edit) -> set[str]:
    """Of both: what unlink brings back may be secret as well."""
    secrets: set[str] = set()
    for data in (edit.original.content, edit.data or b""):
        with suppress(ValueError):
            secrets |= set(_texts(read(data, edit.file.client.form), "", private=False))
    return secrets


def _texts(value: Any, key: str, *, private: bool) -> Iterator[str]:
    if isinstance(value, dict):
        for name, part in value.items():
            yield from _texts(part, str(name), private=private or name in _PRIVATE)
    elif isinstance(value, list):
        yield from secrets_among([part for part in value if isinstance(part, str)])
        for part in value:
            yield from _texts(part, key, private=private)
    elif isinstance(value, str):
        if private or is_secret(key, value):
            yield value
        yield from secrets_among([value])
