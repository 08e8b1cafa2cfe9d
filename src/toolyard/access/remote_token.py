"""The remote token of mcp-bash: a secret in the `_meta` of every request, gone once checked."""

from __future__ import annotations

import hmac
import time
from collections import deque
from collections.abc import Callable

from toolyard.errors import INVALID_PARAMS, ProtocolError
from toolyard.protocol.call import Json, JsonObject
from toolyard.protocol.jsonrpc import Malformed, Message, Notification, RpcRequest

_MINUTE = 60.0


def _nothing() -> None: ...


class RemoteToken:
    """Checks every request for the token, and takes it out."""

    def __init__(
        self,
        token: str,
        keys: tuple[str, ...],
        max_failures: int = 10,
        clock: Callable[[], float] = time.monotonic,
        on_refusal: Callable[[], None] = _nothing,
    ) -> None:
        """`on_refusal` is called for each request that is refused."""
        self._token = token.encode()
        self._keys = keys
        self._clock = clock
        self._on_refusal = on_refusal
        self._failures: deque[float] = deque(maxlen=max(1, max_failures))

    def __call__(self, message: Message) -> Message:
        """The message without the token; a request that lacks it becomes an error."""
        if not isinstance(message, RpcRequest | Notification):
            return message
        value = message.params.get("_meta")
        fields = value if isinstance(value, dict) else {}
        if isinstance(message, RpcRequest) and not self._is_right(fields):
            self._on_refusal()
            return Malformed(message.id, self._refusal())
        return message._replace(params=self._stripped(message.params, fields))

    def _is_right(self, meta: JsonObject) -> bool:
        return any(self._matches(meta.get(key)) for key in self._keys)

    def _matches(self, value: Json) -> bool:
        return isinstance(value, str) and hmac.compare_digest(
            value.encode("utf-8", "surrogatepass"), self._token
        )

    def _refusal(self) -> ProtocolError:
        now, failures = self._clock(), self._failures
        too_many = len(failures) == failures.maxlen and now - failures[0] < _MINUTE
        failures.append(now)
        more = " (throttled)" if too_many else ""
        return ProtocolError(INVALID_PARAMS, f"Remote token missing or invalid{more}")

    def _stripped(self, params: JsonObject, meta: JsonObject) -> JsonObject:
        if not any(key in meta for key in self._keys):
            return params
        other_fields = {key: value for key, value in meta.items() if key not in self._keys}
        return {**params, "_meta": other_fields}
