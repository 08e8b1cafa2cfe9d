"""Sealed values: who holds one for us can neither read nor change it. Knows no MCP."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from typing import Any

_NONCE = 12


class Unopened(Exception):
    """Sealed with another key, bound to something else, or damaged."""


class Seal:
    """Authenticated encryption: the first key seals, each of them opens. Keys of 32 bytes."""

    def __init__(self, keys: Sequence[bytes]) -> None:
        self._keys = tuple(keys)

    @cached_property
    def _ciphers(self) -> tuple[Any, ...]:
        # 30 ms, and most processes never seal anything.
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415

        return tuple(AESGCM(key) for key in self._keys)

    def close(self, plain: bytes, bound: bytes) -> bytes:
        """It opens only together with the bytes that it is bound to."""
        nonce = os.urandom(_NONCE)
        sealed: bytes = self._ciphers[0].encrypt(nonce, plain, bound)
        return nonce + sealed

    def open(self, sealed: bytes, bound: bytes) -> bytes:
        """Raises Unopened."""
        for cipher in self._ciphers:
            try:
                plain: bytes = cipher.decrypt(sealed[:_NONCE], sealed[_NONCE:], bound)
            except Exception:  # the cipher's own error types are not imported at start
                continue
            return plain
        raise Unopened
