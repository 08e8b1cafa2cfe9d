"""One HTTP request on its way through the MCP endpoint: what was sent, and how to answer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from toolyard.errors import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MISSING_CAPABILITY,
    PARSE_ERROR,
    UNSUPPORTED_REVISION,
    ProtocolError,
)
from toolyard.http.messages import JSON_TYPE, Header, Receive, Scope, Send, respond
from toolyard.protocol.call import Caller
from toolyard.protocol.jsonrpc import RequestId, encode_error

_NOBODY = Caller()
MODERN_STATUS = {
    PARSE_ERROR: 400,
    INVALID_REQUEST: 400,
    INVALID_PARAMS: 400,
    HEADER_MISMATCH: 400,
    MISSING_CAPABILITY: 400,
    UNSUPPORTED_REVISION: 400,
    METHOD_NOT_FOUND: 404,
}


@dataclass(slots=True)
class Exchange:
    scope: Scope
    receive: Receive
    send: Send
    headers: dict[str, str]
    # Headers that were sent more than once.
    repeated: frozenset[str] = frozenset()
    # Who is calling; set once the credentials are checked.
    caller: Caller = _NOBODY

    async def refuse(
        self,
        status: int,
        error: ProtocolError,
        request_id: RequestId | None = None,
        headers: Iterable[Header] = (),
    ) -> None:
        await respond(self.send, status, encode_error(request_id, error), (JSON_TYPE, *headers))

    async def accepted(self) -> None:
        await respond(self.send, 202)
