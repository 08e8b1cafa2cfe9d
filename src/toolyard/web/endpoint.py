"""One JSON document at one path, for programs: made anew for each GET."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from toolyard.access.callers import Authenticator, Unauthorized
from toolyard.http.headers import JSON_TYPE, Header
from toolyard.http.request import Request
from toolyard.http.response import Response
from toolyard.protocol.call import Json
from toolyard.web.encode import encoded

HEADERS: tuple[Header, ...] = (
    JSON_TYPE,
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
)


class BadQuery(Exception):
    """400, and what the query should have said."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Answers GET and HEAD with the document, to those who may read it."""

    document: Callable[[Mapping[str, str]], Json]  # of the query; raises BadQuery
    # Who may ask; None where the transport has checked that already.
    authenticator: Authenticator | None = None

    async def __call__(self, request: Request, response: Response) -> None:
        if request.method not in ("GET", "HEAD"):
            await response.send(405, b"", ((b"allow", b"GET, HEAD"),))
            return
        try:
            await self._admit(request)
            body = encoded(self.document(request.query))
        except Unauthorized as refused:
            message = _error("a valid token is needed")
            await response.send(refused.status, message, (refused.header, *HEADERS))
            return
        except BadQuery as refused:
            await response.send(400, _error(str(refused)), HEADERS)
            return
        await response.send(200, b"" if request.method == "HEAD" else body, HEADERS)

    async def _admit(self, request: Request) -> None:
        if self.authenticator is not None:
            await self.authenticator.caller(request.authorization)


def _error(message: str) -> bytes:
    return encoded({"error": message})
