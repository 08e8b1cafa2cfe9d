"""A modern MCP server behind an authorization server: its one tool says who called it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from tests.peers.web import Answer, Asked, Site, serving_site

TOOL = {"name": "whoami", "inputSchema": {"type": "object"}}


class Authority(Protocol):
    """Who gives out the tokens, and knows what they say."""

    @property
    def issuer(self) -> str: ...

    def claims(self, token: str, audience: str) -> dict[str, Any] | None: ...


@dataclass
class Protected:
    authority: Authority
    needs: str = ""  # a scope, for calls
    site: Site = field(default_factory=Site)
    refused: set[str] = field(default_factory=set)  # tokens that it does not take any more
    received: list[tuple[str, str]] = field(default_factory=list)  # (token, method)
    metadata: dict[str, Any] = field(default_factory=dict)
    # Its tools, for who is asking.
    lists: Callable[[dict[str, Any]], list[dict[str, Any]]] = lambda _claims: [TOOL]

    def __post_init__(self) -> None:
        self.site.routes |= {
            "/mcp": self.mcp,
            "/.well-known/oauth-protected-resource/mcp": self.resource,
        }

    @property
    def url(self) -> str:
        return f"{self.site.origin}/mcp"

    def resource(self, asked: Asked) -> Answer:
        said = {"resource": self.url, "authorization_servers": [self.authority.issuer]}
        return Answer.of({**said, **self.metadata})

    def mcp(self, asked: Asked) -> Answer:
        token = asked.headers.get("authorization", "").removeprefix("Bearer ")
        request = json.loads(asked.body)
        claims = self.claims(token)
        if claims is None:
            where = f"{self.site.origin}/.well-known/oauth-protected-resource/mcp"
            return Answer.of({}, 401, WWW_Authenticate=f'Bearer resource_metadata="{where}"')
        self.received.append((token, request["method"]))
        if request["method"] == "tools/call" and self.needs not in ("", *claims["scope"].split()):
            wants = f'Bearer error="insufficient_scope", scope="{self.needs}"'
            return Answer.of({}, 403, WWW_Authenticate=wants)
        return Answer.of(
            {"jsonrpc": "2.0", "id": request["id"], "result": self.result(request, claims)}
        )

    def claims(self, token: str) -> dict[str, Any] | None:
        return None if token in self.refused else self.authority.claims(token, self.url)

    def result(self, request: dict[str, Any], claims: dict[str, Any]) -> dict[str, Any]:
        method = request["method"]
        if method == "server/discover":
            said = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
            return {**said, "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
        if method == "tools/list":
            listed = {"tools": self.lists(claims), "resultType": "complete"}
            return {**listed, "ttlMs": 0, "cacheScope": "private"}
        return {"content": [{"type": "text", "text": claims["sub"]}], "resultType": "complete"}


@contextmanager
def protected(authority: Authority, **options: Any) -> Iterator[Protected]:
    made = Protected(authority, **options)
    with serving_site(made.site):
        yield made
