"""Who may reach the server at all: Host and Origin, on every route.

Imported before the first answer: no dataclasses.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from toolyard.http.headers import Header

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
# Nothing that another reader could take for something else: no user, path, query or blank.
_AUTHORITY = re.compile(r"(?:\[(?P<v6>[0-9A-Fa-f:.]+)\]|(?P<name>[0-9A-Za-z_.-]+))(?::[0-9]{1,5})?")
_ALLOWED_HEADERS = (
    b"content-type, accept, authorization, last-event-id, mcp-session-id, "
    b"mcp-protocol-version, mcp-method, mcp-name"
)


class OriginGuard(NamedTuple):
    """Refuses foreign Host and Origin headers: the defence against DNS rebinding."""

    hosts: frozenset[str] = LOOPBACK
    origins: frozenset[str] = frozenset()

    def refusal(self, headers: Mapping[str, str]) -> str | None:
        """Why a request is refused; None when it may pass."""
        if not self._knows(headers.get("host", "")):
            return "Host not allowed"
        origin = headers.get("origin")
        if origin is not None and not self.allows_origin(origin):
            return "Origin not allowed"
        return None

    def _knows(self, host: str) -> bool:
        name = host_name(host)
        return name != "" and not self.hosts.isdisjoint(("*", host, name))

    def allows_origin(self, origin: str) -> bool:
        if origin in self.origins or "*" in self.origins:
            return True
        return _host_of_origin(origin) in LOOPBACK

    def cors(self, headers: Mapping[str, str]) -> tuple[Header, ...]:
        """What a browser on an allowed origin needs to see."""
        origin = headers.get("origin")
        if origin is None:
            return ()
        return (
            (b"access-control-allow-origin", origin.encode("latin-1")),
            (b"vary", b"Origin"),
            (b"access-control-expose-headers", b"mcp-session-id, www-authenticate"),
        )

    def preflight(self, headers: Mapping[str, str]) -> tuple[Header, ...]:
        names = headers.get("access-control-request-headers", "")
        extra = [h.strip() for h in names.split(",") if h.strip().lower().startswith("mcp-param-")]
        allow = b", ".join((_ALLOWED_HEADERS, *(name.encode("latin-1") for name in extra)))
        return (
            *self.cors(headers),
            (b"access-control-allow-methods", b"GET, POST, DELETE, OPTIONS"),
            (b"access-control-allow-headers", allow),
            (b"access-control-max-age", b"600"),
        )


@lru_cache(maxsize=256)
def host_name(authority: str) -> str:
    """The host in `host`, `host:port` or `[v6]:port`; empty for anything else."""
    match = _AUTHORITY.fullmatch(authority)
    return (match["v6"] or match["name"]).lower() if match else ""


def _host_of_origin(origin: str) -> str:
    scheme, mark, authority = origin.partition("://")
    return host_name(authority) if mark and scheme in ("http", "https") else ""
