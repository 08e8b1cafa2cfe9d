"""JSON that is nested deep."""

from __future__ import annotations


def chains(depth: int, size: int, opened: bytes = b"[", closed: bytes = b"]") -> bytes:
    """That much JSON, all of it nested that deep."""
    one = opened * (depth - 1) + b"1" + closed * (depth - 1)
    return b"[" + b",".join([one] * (size // len(one))) + b"]"
