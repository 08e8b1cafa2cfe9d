"""The credentials of every caller at every upstream. A token goes to the server it is for."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from toolyard.access.oauth.account import Account, AccountId
from toolyard.access.oauth.browser import Browser
from toolyard.access.oauth.config import Server, read_oauth
from toolyard.access.oauth.errors import OAuthError
from toolyard.access.oauth.grants import Granting
from toolyard.access.oauth.issuer.challenge import Wanted, read_challenge
from toolyard.access.oauth.issuer.metadata import canonical
from toolyard.access.oauth.pending import PendingLogin
from toolyard.access.oauth.vault import Vault
from toolyard.http.challenge import Challenge
from toolyard.http.fetching.fetch import FetchError, GuardedFetch
from toolyard.protocol.call import Caller

# Any request will do: what counts is how it is refused.
_PROBE = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
_PROBE_HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
}


# Whoever uses the page sits at this machine.
SAME_PERSON = {"page": "local"}


class Accounts:
    """Every account, made at first use. With a `browser` logins happen by themselves."""

    def __init__(
        self,
        vault: Vault,
        *,
        browser: Callable[[GuardedFetch], Browser] | None = None,
        document_url: str = "",
        fetch_for: Callable[[str], GuardedFetch] = GuardedFetch,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._vault = vault
        self._browser = browser
        self._document_url = document_url
        self._fetch_for = fetch_for
        self._clock = clock
        self._accounts: dict[tuple[str, str, str], Account] = {}
        self._pending: dict[tuple[Account, tuple[str, ...]], PendingLogin] = {}

    async def authorize(self, server: Server, caller: Caller) -> Mapping[str, str]:
        return await self.account(server, caller).headers()

    async def on_challenge(self, server: Server, caller: Caller, challenge: Challenge) -> bool:
        demand = read_challenge(challenge.header)
        return await self.account(server, caller).challenged(challenge.status, demand)

    async def close(self) -> None:
        """What is known is kept."""
        await self._vault.close()

    def account(self, server: Server, caller: Caller) -> Account:
        url = canonical(server.url or "")
        key = (server.name, url, SAME_PERSON.get(caller.id, caller.id))
        account = self._accounts.get(key)
        if account is None:
            fetch = self._fetch_for(url)
            grants = Granting(
                fetch, self._vault, read_oauth(server), self._document_url, self._clock
            )
            browser = self._browser(fetch) if self._browser is not None else None
            account = self._accounts[key] = Account(AccountId(*key), grants, browser)
        return account

    def pending(self, server: Server, caller: Caller, scopes: tuple[str, ...] = ()) -> PendingLogin:
        """The login that is under way there, or a new one."""
        account = self.account(server, caller)
        key = (account, scopes)
        login = self._pending.get(key)
        if login is None:

            async def log_in(browser: Browser) -> None:
                await account.log_in(await self.wanted_by(server), browser, scopes)

            login = self._pending[key] = PendingLogin(log_in)
            login.when_over(lambda: self._pending.pop(key, None))
        return login

    def login_page(self, server: Server, caller: Caller) -> str | None:
        """The page that a login under way waits for, empty while not known; None without one."""
        account = self.account(server, caller)
        pages = [login.page for (whose, _), login in self._pending.items() if whose is account]
        return max(pages, default=None)

    async def wanted_by(self, server: Server) -> Wanted:
        """What the server asks for when it is asked without credentials. Raises OAuthError."""
        url = canonical(server.url or "")
        try:
            answer = await self._fetch_for(url)("POST", url, _PROBE_HEADERS, _PROBE)
        except FetchError as error:
            raise OAuthError(str(error)) from None
        return read_challenge(answer.headers.get("www-authenticate", ""))
