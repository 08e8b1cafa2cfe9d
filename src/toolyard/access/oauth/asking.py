"""A call needs a login: its client is asked to open the login page.

For callers on this machine: the login page sends their browser back to a loopback port.
"""

from __future__ import annotations

import asyncio
import secrets

from toolyard.access.oauth.accounts import Accounts
from toolyard.access.oauth.browser import WAIT, Loopback
from toolyard.access.oauth.config import Server
from toolyard.access.oauth.errors import OAuthError
from toolyard.errors import LoginRequired, UpstreamError
from toolyard.protocol.call import Call, Channel, JsonObject
from toolyard.protocol.client import ELICIT


async def ask_to_log_in(
    accounts: Accounts, server: Server, call: Call, channel: Channel, requirement: LoginRequired
) -> bool:
    """False where the client cannot be asked, or its user declined."""
    if not call.client.supports(ELICIT, "url"):
        return False
    links: asyncio.Queue[str] = asyncio.Queue()
    browser = Loopback(links.put_nowait)
    account = accounts.account(server, call.caller)

    async def log_in() -> None:
        await account.log_in(await accounts.wanted_by(server), browser, requirement.scopes)

    login = asyncio.get_running_loop().create_task(log_in())
    try:
        link = await _first(links, login)
        answers = await channel.ask({"login": _question(server, link)}, WAIT)
        if answers["login"].get("action") != "accept":
            return False
        await login
        return True
    except OAuthError as error:
        raise UpstreamError(server.name, f"the login failed: {error}") from None
    finally:
        login.cancel()
        await asyncio.gather(login, return_exceptions=True)


async def _first(links: asyncio.Queue[str], login: asyncio.Task[None]) -> str:
    """The link to open, or the error because of which there is none."""
    arrival = asyncio.get_running_loop().create_task(links.get())
    await asyncio.wait({arrival, login}, return_when=asyncio.FIRST_COMPLETED)
    if not arrival.done():
        arrival.cancel()
        await login
    return await arrival


def _question(server: Server, link: str) -> JsonObject:
    return {
        "method": ELICIT,
        "params": {
            "mode": "url",
            "message": f"{server.name} ({server.url}) wants you to log in.",
            "url": link,
            "elicitationId": secrets.token_urlsafe(16),
        },
    }
