"""Servers ask for their client's roots when they are greeted: calls wait until they have them.

Nothing says that a server will ask, or that it is done. It answers in order, so when it
answers a ping it has asked already, if it asks; and looking at the folders takes it a moment.
"""

from __future__ import annotations

import asyncio

from toolyard.upstreams.link.link import LinkError
from toolyard.upstreams.session import UpstreamSession

# Seconds: for a sign of life, for the client's answer on a session, for looking at the folders.
PATIENCE = 5.0
LOOKS_FOR = 0.1
# Over HTTP a question may come on another stream than the answer to a ping.
ON_ANOTHER_STREAM = 0.1


def wants_roots(session: UpstreamSession) -> bool:
    return "roots" in session.owner.capabilities and not session.modern


async def settle(session: UpstreamSession, *, changed: bool = False) -> None:
    """Wait until it has asked for the roots and taken them in. It need not ask."""
    before = session.roots_asked
    try:
        if changed:
            await session.notify("notifications/roots/list_changed", {})
        await session.alive()
        if session.link.transport != "stdio" and session.roots_asked == before:
            await asyncio.sleep(ON_ANOTHER_STREAM)
        if session.roots_asked == before and not session.roots_pending:
            return
        # A client that has to come back with the answer may take as long as with any other.
        async with asyncio.timeout(PATIENCE if session.owner.session else session.limits.longest):
            await session.roots_answered()
        await session.alive()
        await asyncio.sleep(LOOKS_FOR)
    except (LinkError, TimeoutError):
        return
