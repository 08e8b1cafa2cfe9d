"""Bytes of a document to bytes with one entry more or less; every other byte stays. Pure.

Whoever changes a file that belongs to another program must be sure of the result: what comes out
is read again, and must be what went in plus the entry, nothing else, in the same order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from toolyard.files.documents.splices import BOM, Cut, Splice, splice_of
from toolyard.files.documents.spots import (
    MISSING,
    Spot,
    entry_at,
    same,
    without,
)

LARGEST = 16 * 1024 * 1024


class Format(Protocol):
    """One of JSON, TOML and YAML, as a program reads it. All of it raises ValueError."""

    @property
    def bom(self) -> bool:
        """May a document begin with a byte order mark?"""

    @property
    def seed(self) -> str:
        """What a document without entries looks like."""

    def parse(self, text: str) -> Any: ...

    def added(self, text: str, spot: Spot, entry: Any) -> tuple[Cut, ...]:
        """The changes that put an entry in, one after the other."""

    def removed(self, text: str, spot: Spot) -> str: ...


class Rewrite(NamedTuple):
    """The bytes after it, and how to take it back."""

    data: bytes
    splices: tuple[Splice, ...] = ()


class Addition(NamedTuple):
    """An entry and its place."""

    spot: Spot
    entry: Any


def read(data: bytes, form: Format) -> Any:
    """What a document says, to the program that it belongs to. Raises ValueError."""
    text = _text(data, form)
    return form.parse(text if text.strip() else form.seed)


def put(data: bytes, form: Format, additions: Sequence[Addition]) -> Rewrite:
    """Raises ValueError; a document that is blank is filled."""
    text, offset = _text(data, form), len(data) - len(data.removeprefix(BOM))
    splices: list[Splice] = []
    if not text.strip():
        if text != form.seed:
            splices.append(Splice(offset, data[offset:], form.seed.encode()))
        text = form.seed
    for addition in additions:
        before, after = text, text
        form.parse(text)
        for cut in form.added(text, *addition):
            splices.append(splice_of(cut, after, offset))
            after = cut.applied(after)
        _check_added(form, before, after, addition)
        text = after
    return Rewrite(data[:offset] + text.encode(), tuple(splices))


def take(data: bytes, form: Format, spots: Sequence[Spot]) -> bytes:
    """The bytes without these entries. Raises ValueError."""
    text, offset = _text(data, form), len(data) - len(data.removeprefix(BOM))
    for spot in spots:
        before, text = text, form.removed(text, spot)
        expected, remaining = without(form.parse(before), spot), form.parse(text)
        if not same(pruned(expected, spot), pruned(remaining, spot)):
            raise ValueError("cannot be changed safely: take the entry out by hand")
    return data[:offset] + text.encode()


def pruned(document: Any, spot: Spot) -> Any:
    """Without the containers that are empty: whether they are written down makes no difference."""
    while spot.path and (entry_at(document, spot.container) in (MISSING, None, {}, [])):
        spot = spot.container
        document = without(document, spot)
    return document


def _text(data: bytes, form: Format) -> str:
    if len(data) > LARGEST:
        raise ValueError(f"is larger than {LARGEST // 1024 // 1024} MB")
    if data.startswith(BOM) and not form.bom:
        raise ValueError("begins with a byte order mark, which this program cannot read")
    try:
        return data.removeprefix(BOM).decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"is not UTF-8: {error.reason} at byte {error.start}") from None


def _check_added(form: Format, before: str, after: str, addition: Addition) -> None:
    """Raises ValueError: a place that we do not understand must not be changed."""
    spot, entry = addition
    old = form.parse(before)
    try:
        new = form.parse(after)
    except ValueError:
        new = None
    if entry_at(old, spot) is MISSING and same(entry_at(new, spot), entry):
        rest, old = pruned(without(new, spot), spot), pruned(old, spot)
        # A list of tables that was written as empty has moved to the end with its first table.
        if same(rest, old) or (spot.key and rest == old):
            return
    raise ValueError("has no place for the entry that can be changed safely")
