"""requestState, sealed: a client keeps it for us, and can neither read nor change it."""

from __future__ import annotations

import base64
import hashlib
import os
import time
from collections.abc import Callable

import orjson

from toolyard.errors import INVALID_PARAMS, ProtocolError
from toolyard.protocol.call import Call, JsonObject
from toolyard.protocol.codec import dumps
from toolyard.store.seal import Seal, Unopened


class Sealer:
    """Each seal is bound to one call and expires. Processes that share the seal open them all."""

    def __init__(self, seal: Seal | None = None, lifetime: float = 600) -> None:
        self._seal = seal or Seal([os.urandom(32)])
        self.lifetime = lifetime
        # Within which span something is sealed, as a `traceparent`; None: nobody wants to know.
        self.whence: Callable[[], str] | None = None

    def seal(self, payload: JsonObject, call: Call) -> str:
        if self.whence is not None:
            payload = {**payload, "whence": self.whence()}
        text = orjson.dumps({**payload, "exp": time.time() + self.lifetime})
        blob = self._seal.close(text, binding(call))
        return base64.urlsafe_b64encode(blob).rstrip(b"=").decode()

    def open(self, token: str, call: Call) -> JsonObject:
        """What was sealed for this very call. Raises ProtocolError for anything else."""
        try:
            blob = base64.urlsafe_b64decode(token.encode("ascii") + b"=" * (-len(token) % 4))
            text = self._seal.open(blob, binding(call))
        except (ValueError, Unopened):
            raise invalid_state() from None
        payload: JsonObject = orjson.loads(text)
        if payload["exp"] < time.time():
            raise invalid_state()
        return payload

    def whence_of(self, call: Call) -> str:
        """Within which span the state was sealed that this call brings; empty if nobody knows."""
        try:
            return str(self.open(call.request_state or "", call).get("whence", ""))
        except ProtocolError:
            return ""


def binding(call: Call) -> bytes:
    """What a seal is bound to: caller, method and parameters."""
    parameters = dumps([call.caller.id, call.method, call.params], orjson.OPT_SORT_KEYS)
    return hashlib.sha256(parameters).digest()


def invalid_state() -> ProtocolError:
    return ProtocolError(INVALID_PARAMS, "Invalid or expired requestState")
