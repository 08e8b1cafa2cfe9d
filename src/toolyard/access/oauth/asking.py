"""A call needs a login: its client is asked to open the login page.

For callers on this machine: the login page sends their browser back to a loopback port.
"""

from __future__ import annotations

import secrets

from toolyard.access.oauth.accounts import Accounts
from toolyard.access.oauth.browser import WAIT
from toolyard.access.oauth.config import Server
from toolyard.access.oauth.errors import OAuthError
from toolyard.access.oauth.pending import PendingLogin
from toolyard.errors import LoginRequired, UpstreamError
from toolyard.protocol.call import Call, Channel, JsonObject
from toolyard.protocol.client import ELICIT
from toolyard.protocol.revisions import ELICITATION_COMPLETE


async def ask_to_log_in(
    accounts: Accounts, server: Server, call: Call, channel: Channel, requirement: LoginRequired
) -> bool:
    """False where the client cannot be asked, or its user declined."""
    if not call.client.supports(ELICIT, "url"):
        return False
    try:
        async with accounts.pending(server, call.caller, requirement.scopes).joined() as login:
            link = await login.link()
            if link and not await _agreed(login, _question(server, link), channel):
                return False
            await login.end()
            return True
    except OAuthError as error:
        raise UpstreamError(server.name, f"the login failed: {error}") from None


async def _agreed(login: PendingLogin, question: JsonObject, channel: Channel) -> bool:
    """Does its user log in? Whoever has done so, here or elsewhere, need not say it."""
    done = {"elicitationId": question["params"]["elicitationId"]}
    leave = login.when_over(lambda: channel.notify(ELICITATION_COMPLETE, done))
    try:
        answers = await channel.ask({"login": question}, WAIT)
    finally:
        leave()
    accepted: bool = answers["login"].get("action") == "accept"
    return accepted


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
