"""One caller's account at one server: its grant, renewed, extended and given back in turn."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

from toolyard.access.oauth.browser import Browser
from toolyard.access.oauth.errors import OAuthError, OAuthRefusal
from toolyard.access.oauth.grant import Grant
from toolyard.access.oauth.grants import Granting
from toolyard.access.oauth.issuer.challenge import Wanted
from toolyard.access.oauth.issuer.discovery import Found, discover
from toolyard.access.oauth.issuer.tokens import revoke
from toolyard.errors import LoginRequired, UpstreamError
from toolyard.store.interface import StoreError
from toolyard.telemetry import logger

log = logger("auth")
# A token that is refused this soon after it was obtained would be refused again.
FRESH = 5.0
MAX_ATTEMPTS, ATTEMPTS_WITHIN = 3, 60.0


@dataclass(frozen=True, slots=True)
class AccountId:
    """Which server, for whom."""

    server: str
    url: str
    caller: str

    @property
    def key(self) -> str:
        return f"grant {self.caller} {self.url}"


class Account:
    """A caller at a server. One task at a time works on the grant; others find it renewed."""

    def __init__(self, account_id: AccountId, grants: Granting, browser: Browser | None) -> None:
        self._id = account_id
        self._grants = grants
        self._browser = browser
        self._lock = asyncio.Lock()
        self._attempts: deque[float] = deque(maxlen=MAX_ATTEMPTS)

    @property
    def grant(self) -> Grant | None:
        record = self._grants.vault.get(self._id.key)
        return None if record is None else Grant.unpack(record)

    @property
    def login(self) -> str | None:
        """Names the login, through its renewals; None where a person would have to log in."""
        grant = self.grant
        if grant is not None and (grant.given or self._grants.config.interactive):
            return f"{grant.issuer} {grant.began}"
        return None if self._grants.config.interactive else "without a person"

    async def look(self) -> None:
        """See what other processes have done to it. Raises UpstreamError."""
        try:
            await self._grants.vault.look(self._id.key)
        except StoreError as error:
            raise self._failed(OAuthError(f"logins are in the store: {error}")) from None

    async def _keep(self, grant: Grant) -> None:
        self._grants.vault.put(self._id.key, grant.pack())
        await self._grants.vault.written()

    def forget(self) -> None:
        self._grants.vault.drop(self._id.key)

    # -- headers -----------------------------------------------------------------------

    async def headers(self) -> Mapping[str, str]:
        """Raises LoginRequired where there is nothing to send and nobody who could help."""
        await self.look()
        grant = self.grant
        if grant is not None and grant.expired(self._now()):
            grant = await self._renewed(grant)
        if grant is None:
            if self._grants.config.interactive and self._browser is None:
                raise self._login_required()
            return {}  # the server's refusal says what it wants
        return {"Authorization": f"Bearer {grant.access}"}

    async def _renewed(self, old: Grant) -> Grant | None:
        async with self._lock:
            grant = self.grant
            if grant is None or grant.access != old.access:
                return grant  # another call was faster
            return await self._renew_alone(old)

    async def _renew_alone(self, old: Grant) -> Grant | None:
        """A refresh token is good for one use: of all processes, one may use it."""
        try:
            async with self._grants.vault.alone(self._id.key):
                grant = self.grant
                if grant is None or grant.access != old.access:
                    return grant  # another process was faster
                return await self._renew(grant)
        except TimeoutError:
            raise self._failed(OAuthError("another process has not finished renewing it")) from None
        except OSError as error:
            raise self._failed(OAuthError(f"it cannot be saved: {error.strerror}")) from None
        except StoreError as error:
            if not old.expired(self._now(), 0):
                return old
            raise self._failed(OAuthError(f"logins are in the store: {error}")) from None

    async def _renew(self, grant: Grant) -> Grant | None:
        """None, and forgotten, when the grant has come to its end."""
        if not grant.refresh:
            if grant.expired(self._now(), 0):
                self.forget()
                return None
            return grant
        try:
            new_grant = await self._grants.renew(grant)
        except OAuthRefusal as refusal:
            log.info("%s: the login has ended (%s)", self._id.server, refusal.code)
            self.forget()
            return None
        except OAuthError as error:
            if not grant.expired(self._now(), 0):
                return grant
            raise self._failed(error) from None
        await self._keep(new_grant)
        return new_grant

    # -- refusals ----------------------------------------------------------------------

    async def challenged(self, status: int, demand: Wanted) -> bool:
        """True when there is another token now. Raises LoginRequired."""
        before = self.grant
        async with self._lock:
            if self.grant != before:
                return True
            try:
                await self._grants.vault.look(self._id.key, anew=True)
                if self.grant != before:
                    return True
                return await self._answer(status, demand)
            except OAuthError as error:
                raise self._failed(error) from None
            except StoreError as error:
                raise self._failed(OAuthError(f"logins are in the store: {error}")) from None

    async def _answer(self, status: int, demand: Wanted) -> bool:
        grant = self.grant
        if status == 403 and (grant is None or not self._may_step_up(grant, demand)):
            return False
        if grant is not None and grant.given:
            self.forget()
            raise self._login_required()
        discovery = await discover(self._grants.fetch, self._id.url, demand)
        if grant is not None and grant.issuer != discovery.issuer.issuer:
            self.forget()  # what one issuer gave means nothing to another
            grant = None
        if status == 401 and grant is not None and await self._try_renewing(grant):
            return True
        await self._obtain(discovery, self._scopes(discovery, demand, grant))
        return True

    def _may_step_up(self, grant: Grant, demand: Wanted) -> bool:
        """More scopes may help only where the token lacks some of those asked for."""
        return demand.error == "insufficient_scope" and not set(demand.scopes) <= set(grant.scopes)

    async def _try_renewing(self, grant: Grant) -> bool:
        if not grant.refresh or self._now() - grant.obtained < FRESH:
            return False
        return await self._renew_alone(grant) is not None

    async def _obtain(self, discovery: Found, scopes: tuple[str, ...]) -> None:
        interactive = self._grants.config.interactive
        if interactive and self._browser is None:
            raise self._login_required(scopes)
        self._count_attempt()
        if self._browser is not None and interactive:
            await self._keep(await self._grants.log_in(discovery, scopes, self._browser))
        else:
            await self._keep(await self._grants.without_a_person(discovery, scopes))

    def _count_attempt(self) -> None:
        """A server that is never satisfied must not send us round and round."""
        now = self._now()
        full = len(self._attempts) == MAX_ATTEMPTS
        if full and now - self._attempts[0] < ATTEMPTS_WITHIN:
            raise OAuthError("refuses every token that it is given")
        self._attempts.append(now)

    def _scopes(self, discovery: Found, demand: Wanted, grant: Grant | None) -> tuple[str, ...]:
        scopes = demand.scopes or self._grants.config.scopes or discovery.scopes or ()
        before = grant.scopes if grant is not None else ()
        offline = "offline_access" in (discovery.issuer.scopes or ())
        wants_offline = self._grants.config.interactive and offline and bool(scopes)
        more = ("offline_access",) if wants_offline else ()
        return tuple(dict.fromkeys((*before, *scopes, *more)))

    # -- by hand -----------------------------------------------------------------------

    async def log_in(self, demand: Wanted, browser: Browser, scopes: tuple[str, ...] = ()) -> Grant:
        """A new login, whatever there was before. Raises OAuthError.

        A person takes as long as they like: calls with the grant from before, and renewals of it,
        do not wait for that.
        """
        discovery = await discover(self._grants.fetch, self._id.url, demand)
        all_scopes = scopes + self._scopes(discovery, demand, None)
        if self._grants.config.interactive:
            grant = await self._grants.log_in(discovery, tuple(dict.fromkeys(all_scopes)), browser)
        else:
            grant = await self._grants.without_a_person(discovery, all_scopes)
        async with self._lock:
            await self._keep(grant)
        return grant

    async def give(self, grant: Grant) -> None:
        await self._keep(grant)

    async def log_out(self) -> bool:
        """Forget it, and have the issuer forget it. False where there was nothing."""
        await self.look()
        async with self._lock:
            grant = self.grant
            self.forget()
            await self._grants.vault.written()
        if grant is None:
            return False
        if grant.revocation_endpoint:
            token, hint = (
                (grant.refresh, "refresh_token")
                if grant.refresh
                else (grant.access, "access_token")
            )
            try:
                await revoke(
                    self._grants.fetch, grant.revocation_endpoint, grant.client, token, hint
                )
            except OAuthError as error:
                log.warning("%s did not hear of the logout: %s", grant.issuer, error)
        return True

    def _login_required(self, scopes: tuple[str, ...] = ()) -> LoginRequired:
        return LoginRequired(self._id.server, self._id.url, scopes=scopes)

    def _failed(self, error: OAuthError) -> UpstreamError:
        return UpstreamError(self._id.server, f"could not get a token: {error}")

    def _now(self) -> float:
        return self._grants.clock()
