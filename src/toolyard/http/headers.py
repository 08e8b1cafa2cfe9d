"""Headers as they are sent, and those that many responses have."""

from __future__ import annotations

from typing import TypeAlias

Header: TypeAlias = tuple[bytes, bytes]

JSON_TYPE: Header = (b"content-type", b"application/json")
TEXT_TYPE: Header = (b"content-type", b"text/plain; charset=utf-8")
