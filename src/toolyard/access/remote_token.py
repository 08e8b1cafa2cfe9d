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
    def __init__(
        self,
        token: str,
        keys: tuple[str, ...],
        max_failures: int = 10,
        clock: Callable[[], float] = time.monotonic,
        refused: Callable[[], None] = _nothing,
    ) -> None:
        """`refused` is called for each request that is."""
        self._token = token.encode()
        self._keys = keys
        self._clock = clock
        self._refused = refused
        self._failures: deque[float] = deque(maxlen=max(1, max_failures))

    def __call__(self, message: Message) -> Message:
        """The message without the token; what lacks it becomes an error and nothing else."""
        if not isinstance(message, RpcRequest | Notification):
            return message
        meta = message.params.get("_meta")
        given = meta if isinstance(meta, dict) else {}
        if isinstance(message, RpcRequest) and not self._is_right(given):
            self._refused()
            return Malformed(message.id, self._refusal())
        return message._replace(params=self._stripped(message.params, given))

    def _is_right(self, meta: JsonObject) -> bool:
        return any(self._matches(meta.get(key)) for key in self._keys)

    def _matches(self, value: Json) -> bool:
        return isinstance(value, str) and hmac.compare_digest(
            value.encode("utf-8", "surrogatepass"), self._token
        )

    def _refusal(self) -> ProtocolError:
        now, failures = self._clock(), self._failures
        throttled = len(failures) == failures.maxlen and now - failures[0] < _MINUTE
        failures.append(now)
        more = " (throttled)" if throttled else ""
        return ProtocolError(INVALID_PARAMS, f"Remote token missing or invalid{more}")

    def _stripped(self, params: JsonObject, meta: JsonObject) -> JsonObject:
        if not any(key in meta for key in self._keys):
            return params
        kept = {key: value for key, value in meta.items() if key not in self._keys}
        return {**params, "_meta": kept}
