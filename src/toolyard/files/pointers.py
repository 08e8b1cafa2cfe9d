"""JSON pointers (RFC 6901). Pure."""

from __future__ import annotations


def escape(key: str) -> str:
    """A key as one part of a pointer."""
    return key.replace("~", "~0").replace("/", "~1")


def unescape(part: str) -> str:
    return part.replace("~1", "/").replace("~0", "~")
