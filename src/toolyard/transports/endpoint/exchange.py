"""One HTTP request on its way through the MCP endpoint: what was sent, and how to answer."""

from __future__ import annotations

from dataclasses import dataclass

from toolyard.errors import (
    HEADER_MISMATCH,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MISSING_CAPABILITY,
    PARSE_ERROR,
    UNSUPPORTED_REVISION,
    ProtocolError,
)
from toolyard.http.headers import JSON_TYPE, Header
from toolyard.http.request import Request, query_fields
from toolyard.http.response import Response
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
    """A request with its response, and who sent it."""

    request: Request
    response: Response
    headers: dict[str, str]
    # Who is calling; set once the credentials are checked.
    caller: Caller = _NOBODY
    # What was posted, for whoever passes it on.
    body: bytes = b""
    # Another process has passed it on to us: nobody is to get it from us.
    visiting: bool = False
    # The query that the client sent to that process.
    visiting_query: bytes = b""
    # Nothing happens by it that must not happen twice.
    repeatable: bool = False

    @property
    def query(self) -> bytes:
        return self.visiting_query if self.visiting else self.request.head.query

    @property
    def address(self) -> dict[str, str] | None:
        """The fields of the query; None if there are none, as with most clients."""
        query = self.visiting_query if self.visiting else self.request.head.query
        return query_fields(query) if query else None

    async def refuse(
        self,
        status: int,
        error: ProtocolError,
        request_id: RequestId | None = None,
        headers: tuple[Header, ...] = (),
    ) -> None:
        await self.response.send(status, encode_error(request_id, error), (JSON_TYPE, *headers))

    async def accepted(self) -> None:
        await self.response.send(202)


def may_have_run() -> ProtocolError:
    """For whoever waits for something that another process did."""
    why = "The process that ran this is gone: it may have run, and was not tried again"
    return ProtocolError(INTERNAL_ERROR, why)
