"""Logins at the OAuth servers of the registry, begun and ended from the page."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from toolyard.access.oauth.errors import OAuthError
from toolyard.access.oauth.grant import Grant
from toolyard.access.oauth.pending import PendingLogin
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
    _waiting: dict[PendingLogin, asyncio.Task[None]] = field(default_factory=dict)
    _errors: dict[str, str] = field(default_factory=dict)

    def states(self) -> list[JsonObject]:
        return [self._state(server) for server in self._servers()]

    def _state(self, server: ServerDefinition) -> JsonObject:
        accounts = self.logins.accounts
        grant = accounts.account(server, self.caller).grant
        page = accounts.login_page(server, self.caller)
        return {
            "server": server.name,
            "url": (server.url or "").partition("?")[0],
            "pending": page is not None,
            "link": page or "",
            "error": self._errors.get(server.name),
            **_grant_facts(grant),
        }

    async def log_in(self, name: str) -> str | None:
        """The page to open, empty where it let us in without a person; None for no such server.

        Raises UpstreamError.
        """
        server = self._server_named(name)
        if server is None:
            return None
        self._errors.pop(name, None)
        login = self.logins.accounts.pending(server, self.caller)
        if login not in self._waiting:
            self._waiting[login] = asyncio.get_running_loop().create_task(self._wait(name, login))
        try:
            async with asyncio.timeout(LINK_WITHIN):
                return await login.link()
        except OAuthError as error:
            raise UpstreamError(name, str(error)) from None
        except TimeoutError:
            await self._leave(login)
            why = f"did not say within {LINK_WITHIN:g} s where to log in"
            raise UpstreamError(name, why) from None

    async def _wait(self, name: str, login: PendingLogin) -> None:
        """Keep the login open for as long as a person may take."""
        try:
            async with login.joined():
                await login.end()
        except OAuthError as error:
            self._errors[name] = str(error)
        finally:
            self._waiting.pop(login, None)

    async def _leave(self, login: PendingLogin) -> None:
        """Wait no longer; it goes on where a call waits for it too."""
        task = self._waiting.get(login)
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def log_out(self, name: str) -> bool:
        server = self._server_named(name)
        if server is None:
            return False
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
