"""Logins at the OAuth servers of the registry, begun and ended from the page."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from toolyard.access.oauth.browser import Loopback
from toolyard.access.oauth.errors import OAuthError
from toolyard.access.oauth.grant import Grant
from toolyard.app.access import Logins
from toolyard.app.federation import Federation
from toolyard.errors import UpstreamError
from toolyard.protocol.call import Caller, JsonObject
from toolyard.upstreams.definition import ServerDefinition

LINK_WITHIN = 30.0


@dataclass(slots=True)
class PageLogins:
    """The page only names a server: what is known of it comes from the registry."""

    federation: Federation
    logins: Logins
    caller: Caller
    _running: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    _errors: dict[str, str] = field(default_factory=dict)

    def states(self) -> list[JsonObject]:
        return [self._state(server) for server in self._servers()]

    def _state(self, server: ServerDefinition) -> JsonObject:
        grant = self.logins.accounts.account(server, self.caller).grant
        return {
            "server": server.name,
            "url": (server.url or "").partition("?")[0],
            "pending": server.name in self._running,
            "error": self._errors.get(server.name),
            **_grant_facts(grant),
        }

    async def log_in(self, name: str) -> str | None:
        """The page to open; None if there is no such server. Raises UpstreamError."""
        server = self._server_named(name)
        if server is None:
            return None
        await self._stop(name)
        self._errors.pop(name, None)
        links: asyncio.Queue[str] = asyncio.Queue()
        task = asyncio.get_running_loop().create_task(
            self._work(server, Loopback(links.put_nowait))
        )
        self._running[name] = task
        task.add_done_callback(lambda _: self._running.pop(name, None))
        link = asyncio.get_running_loop().create_task(links.get())
        await asyncio.wait({link, task}, timeout=LINK_WITHIN, return_when=asyncio.FIRST_COMPLETED)
        if link.done():
            return link.result()
        link.cancel()
        await self._stop(name)
        if name in self._errors:
            raise UpstreamError(name, self._errors[name])
        return ""  # it let us in without a person

    async def _work(self, server: ServerDefinition, browser: Loopback) -> None:
        accounts = self.logins.accounts
        try:
            requirement = await accounts.wanted_by(server)
            await accounts.account(server, self.caller).log_in(requirement, browser)
        except OAuthError as error:
            self._errors[server.name] = str(error)

    async def _stop(self, name: str) -> None:
        task = self._running.get(name)
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def log_out(self, name: str) -> bool:
        server = self._server_named(name)
        if server is None:
            return False
        await self._stop(name)
        self._errors.pop(name, None)
        await self.logins.accounts.account(server, self.caller).log_out()
        return True

    def _server_named(self, name: str) -> ServerDefinition | None:
        return next((server for server in self._servers() if server.name == name), None)

    def _servers(self) -> list[ServerDefinition]:
        return [server for server in self.federation.oauth_servers() if server.url]


def _grant_facts(grant: Grant | None) -> JsonObject:
    """What the page may show of a grant: nothing of its tokens."""
    if grant is None:
        return {"loggedIn": False}
    return {
        "loggedIn": True,
        "issuer": grant.issuer,
        "scopes": list(grant.scopes),
        "expires": grant.expires,
        "renews": bool(grant.refresh),
    }
