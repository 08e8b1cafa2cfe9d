"""The https provider: one guarded GET, no redirects, bounded in size and time."""

from __future__ import annotations

import ssl
import string
from dataclasses import dataclass
from urllib.parse import SplitResult, quote, urlsplit

from toolyard.errors import INVALID_PARAMS, ProtocolError
from toolyard.http.fetching.addresses import NotAllowed, canonical_host
from toolyard.http.fetching.dial import GuardedDial
from toolyard.http.fetching.fetch import (
    DocumentTooLarge,
    FetchBounds,
    Fetched,
    FetchError,
    Forbidden,
    GuardedFetch,
    TooSlow,
)
from toolyard.protocol.call import Call, Channel, JsonObject
from toolyard.scripts.resources.contents import Body, not_found, unreadable

MOST_SECONDS = 60.0
MOST_BYTES = 20 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class HttpsLimits:
    """How long a fetch may take, how much it may bring, and as whom we fetch."""

    seconds: float = 15.0
    max_bytes: int = 10 * 1024 * 1024
    user_agent: str = "toolyard"

    @property
    def bounds(self) -> FetchBounds:
        return FetchBounds(min(self.seconds, MOST_SECONDS), min(self.max_bytes, MOST_BYTES))


class HttpsProvider:
    """Reads `https` URLs that lead to public addresses."""

    def __init__(
        self, dial: GuardedDial, limits: HttpsLimits, context: ssl.SSLContext | None = None
    ) -> None:
        self._limits = limits
        self._bounds = limits.bounds
        self._fetch = GuardedFetch(dial=dial, bounds=self._bounds, tls=context)
        self._headers = {
            "User-Agent": limits.user_agent or "toolyard",
            "Accept": "*/*",
            "Accept-Encoding": "identity",
        }

    async def read(self, arguments: JsonObject, call: Call | None, channel: Channel | None) -> Body:
        uri = arguments["uri"]
        parts = split_url(uri)
        try:
            response = await self._fetch("GET", _plain(parts), self._headers)
        except NotAllowed as refusal:
            raise unreadable(uri, str(refusal)) from None
        except Forbidden as refusal:
            raise unreadable(uri, refusal.why) from None
        except DocumentTooLarge:
            raise unreadable(uri, f"Resource exceeds {self._bounds.max_body} bytes") from None
        except TooSlow:
            raise unreadable(uri, f"timed out after {self._limits.seconds:g}s") from None
        except FetchError as error:
            raise unreadable(uri, f"cannot be fetched: {error.why}") from None
        return _body(uri, response)

    def paths(self, arguments: JsonObject) -> tuple[str, ...]:
        return ()


def split_url(uri: str) -> SplitResult:
    """The parts of an https URL; userinfo and other schemes are refused."""
    try:
        parts = urlsplit(uri)
        port_is_fine = parts.port is None or parts.port > 0
    except ValueError:
        port_is_fine = False
    if not port_is_fine or parts.scheme.lower() != "https" or not parts.hostname:
        raise ProtocolError(INVALID_PARAMS, "Not an https URL", {"uri": uri})
    if "@" in parts.netloc or any(ord(char) <= 32 or ord(char) == 127 for char in uri):
        raise ProtocolError(INVALID_PARAMS, "Not a plain https URL", {"uri": uri})
    return parts


def _plain(parts: SplitResult) -> str:
    """The URL in ASCII. Raises NotAllowed where its host is spelled to mislead."""
    host = canonical_host(parts.hostname or "")
    literal = f"[{host}]" if ":" in host else host
    port = f":{parts.port}" if parts.port else ""
    target = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
    return f"https://{literal}{port}{quote(target, safe=string.punctuation)}"


def _body(uri: str, response: Fetched) -> Body:
    if response.status in (404, 410):
        raise not_found(uri)
    if 300 <= response.status < 400:
        raise unreadable(uri, f"redirect:{response.headers.get('location', '')}")
    if response.status != 200:
        raise unreadable(uri, f"the server answered {response.status}")
    return Body(response.body, response.content_type or None)
