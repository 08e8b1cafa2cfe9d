"""Cursors, and how long a page is."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from tests.protocol.outcome import Refusal, outcome
from toolyard.errors import INVALID_PARAMS
from toolyard.protocol.paging import (
    PageSize,
    decode_cursor,
    encode_cursor,
    page_limit,
    page_size,
)

GOOD = {"ver": 1, "collection": "tools", "offset": 50, "hash": "abc"}
INVALID = Refusal(INVALID_PARAMS, "Invalid cursor")
CHANGED = Refusal(INVALID_PARAMS, "Invalid cursor: the list has changed, start again without one")


def packed(value: Any, **changes: Any) -> str:
    fields = {**value, **changes} if isinstance(value, dict) else value
    return base64.urlsafe_b64encode(json.dumps(fields).encode()).rstrip(b"=").decode()


def test_a_cursor_is_what_mcp_bash_would_make() -> None:
    text = b'{"ver":1,"collection":"tools","offset":50,"hash":"abc","timestamp":"now"}'
    cursor = encode_cursor("tools", 50, "abc", "now")
    assert base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)) == text
    assert "=" not in cursor


@pytest.mark.parametrize(
    ("cursor", "offset"),
    [
        (encode_cursor("tools", 0, "abc", ""), 0),
        (encode_cursor("tools", 7, "abc", "2026-07-28T00:00:00Z"), 7),
        (packed(GOOD), 50),
        (packed(GOOD) + "=" * (-len(packed(GOOD)) % 4), 50),
        (packed(GOOD, more="x"), 50),
        (packed(GOOD, hash="abd"), CHANGED),
        (packed(GOOD, hash=None), CHANGED),
        (packed(GOOD, collection="prompts"), INVALID),
        (packed(GOOD, ver=2), INVALID),
        (packed(GOOD, ver="1"), INVALID),
        (packed(GOOD, offset=-1), INVALID),
        (packed(GOOD, offset=True), INVALID),
        (packed(GOOD, offset=1.0), INVALID),
        (packed(GOOD, offset="1"), INVALID),
        (packed({}), INVALID),
        (packed([1]), INVALID),
        (packed(None), INVALID),
        ("", INVALID),
        ("x", INVALID),
        ("%%%%", INVALID),
        ("ü", INVALID),
        ("\ud800", INVALID),
        pytest.param(base64.urlsafe_b64encode(b"[" * 100_000).decode(), INVALID, id="nested"),
        (base64.urlsafe_b64encode(b"\xff\xff\xff").decode(), INVALID),
        (None, INVALID),
        (7, INVALID),
        ({}, INVALID),
    ],
)
def test_a_cursor_is_an_offset_or_refused(cursor: Any, offset: Any) -> None:
    assert outcome(decode_cursor, cursor, "tools", "abc") == offset


@pytest.mark.parametrize(
    ("limit", "items"),
    [
        (1, 1),
        (200, 200),
        (201, 200),
        (2**70, 200),
        (0, 50),
        (-1, 50),
        (True, 50),
        (5.0, 50),
        ("5", 50),
        (None, 50),
    ],
)
def test_a_page_is_as_long_as_was_asked_where_that_makes_sense(limit: Any, items: int) -> None:
    assert page_limit(limit, 50, 200) == items


@pytest.mark.parametrize(
    ("configured", "small", "size"),
    [
        (500, False, PageSize(500, 1000)),
        (5000, False, PageSize(5000, 5000)),
        (5000, True, PageSize(50, 200)),
    ],
)
def test_pages_are_large_unless_small_ones_are_expected(
    configured: int, small: bool, size: PageSize
) -> None:
    assert page_size(configured, small=small) == size
