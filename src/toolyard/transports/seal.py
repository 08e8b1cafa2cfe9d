"""requestState, sealed: a client keeps it for us, and can neither read nor change it."""

from __future__ import annotations

import base64
import hashlib
import os
import time
from functools import cached_property
from typing import Any

import orjson

from toolyard.errors import INVALID_PARAMS, ProtocolError
from toolyard.protocol.call import Call, JsonObject
from toolyard.protocol.codec import dumps

_NONCE = 12


class Sealer:
    """Authenticated encryption under one key; each seal is bound to one call and expires."""

    def __init__(self, key: bytes | None = None, lifetime: float = 600) -> None:
        self._key = key or os.urandom(32)
        self.lifetime = lifetime

    @cached_property
    def _cipher(self) -> Any:
        # 30 ms, and only calls that ask questions need it.
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415

        return AESGCM(hashlib.sha256(self._key).digest())

    def seal(self, payload: JsonObject, call: Call) -> str:
        nonce = os.urandom(_NONCE)
        text = orjson.dumps({**payload, "exp": time.time() + self.lifetime})
        blob = nonce + self._cipher.encrypt(nonce, text, binding(call))
        return base64.urlsafe_b64encode(blob).rstrip(b"=").decode()

    def open(self, token: str, call: Call) -> JsonObject:
        """What was sealed for this very call. Raises ProtocolError for anything else."""
        try:
            blob = base64.urlsafe_b64decode(token.encode("ascii") + b"=" * (-len(token) % 4))
            text = self._cipher.decrypt(blob[:_NONCE], blob[_NONCE:], binding(call))
        except Exception:  # the cipher's own error types are not imported at start
            raise invalid_state() from None
        payload: JsonObject = orjson.loads(text)
        if payload["exp"] < time.time():
            raise invalid_state()
        return payload


def binding(call: Call) -> bytes:
    """What a seal is bound to: caller, method and parameters."""
    parameters = dumps([call.caller.id, call.method, call.params], orjson.OPT_SORT_KEYS)
    return hashlib.sha256(parameters).digest()


def invalid_state() -> ProtocolError:
    return ProtocolError(INVALID_PARAMS, "Invalid or expired requestState")
