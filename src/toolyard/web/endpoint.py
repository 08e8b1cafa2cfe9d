"""One JSON document at one path, for programs: made anew for each GET."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import parse_qs

from toolyard.access.callers import Authenticator, Unauthorized
from toolyard.http.messages import JSON_TYPE, Header, Receive, Scope, Send, respond
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
    document: Callable[[Mapping[str, str]], Json]  # of the query; raises BadQuery
    # Who may ask; None where the transport has settled that.
    authenticator: Authenticator | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] not in ("GET", "HEAD"):
            await respond(send, 405, b"", ((b"allow", b"GET, HEAD"),))
            return
        try:
            await self._admit(scope)
            body = encoded(self.document(_query(scope)))
        except Unauthorized as refused:
            challenge = (b"www-authenticate", refused.challenge.encode("latin-1", "replace"))
            await respond(
                send, refused.status, _error("not without a token"), (challenge, *HEADERS)
            )
            return
        except BadQuery as refused:
            await respond(send, 400, _error(str(refused)), HEADERS)
            return
        await respond(send, 200, b"" if scope["method"] == "HEAD" else body, HEADERS)

    async def _admit(self, scope: Scope) -> None:
        if self.authenticator is not None:
            sent = [v.decode("latin-1") for k, v in scope["headers"] if k == b"authorization"]
            await self.authenticator.caller(sent)


def _query(scope: Scope) -> dict[str, str]:
    text = scope.get("query_string", b"").decode("latin-1")
    return {key: values[-1] for key, values in parse_qs(text).items()}


def _error(message: str) -> bytes:
    return encoded({"error": message})
