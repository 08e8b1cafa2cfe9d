"""Deep JSON: one linear pass, whoever sends it, and nothing hides in strings."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.attacks.nested import chains
from toolyard.errors import ProtocolError
from toolyard.protocol.codec import MAX_DEPTH, loads

MIB = 1 << 20


def refused(data: bytes) -> bool:
    try:
        loads(data)
    except ProtocolError as error:
        assert "200 levels" in error.message
        return True
    return False


SHAPES = {
    "lists": chains(190, MIB),
    "objects": chains(190, MIB, b'{"a":', b"}"),
    "strings between": chains(190, MIB, b'["]]",', b"]"),
    "one after the other": b"[" + b"[]," * (MIB // 3) + b"1]",
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_megabyte_that_is_nested_190_deep_takes_no_longer_than_its_parts(shape: str) -> None:
    data = SHAPES[shape]
    loads(data)
    began = time.process_time()
    loads(data)
    assert time.process_time() - began < 1.0


@pytest.mark.parametrize("depth", [MAX_DEPTH - 1, MAX_DEPTH, MAX_DEPTH + 1, MAX_DEPTH + 300])
@pytest.mark.parametrize("size", [0, 10_000])
def test_the_depth_is_counted_exactly(depth: int, size: int) -> None:
    assert refused(chains(depth, max(size, 4 * depth))) is (depth > MAX_DEPTH)


def test_brackets_in_strings_hide_no_depth_and_add_none() -> None:
    # Closed in strings and opened in others at the end: in balance, and really 300 deep.
    hidden = b'["]",' * 300 + b'"' + b"[" * 300 + b'"' + b"]" * 300
    assert refused(hidden)
    assert not refused(b'["' + b"[" * 5000 + b'"]')
    assert not refused(b'["' + b'\\"[' * 5000 + b'\\\\", 1]')


@given(
    st.lists(
        st.sampled_from(["[", "{", '"', '\\"', "\\\\", "]", "}", "a"]), min_size=1, max_size=30
    ),
    st.integers(150, 250),
)
@settings(max_examples=200, deadline=None)
def test_any_string_at_any_depth_is_counted_right(text: list[str], depth: int) -> None:
    inside = "".join(piece for piece in text if piece != '"') * 20
    data = ("[" * depth + f'"{inside}","{inside}"' + "]" * depth).encode()
    assert refused(data) is (depth > MAX_DEPTH)
