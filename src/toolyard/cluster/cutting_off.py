"""Is the store away from everybody, or only from this process? The others are asked."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from toolyard.cluster.peers import PeerGone, PeerLost, Peers
from toolyard.cluster.roster import Roster
from toolyard.cluster.tenure import Tenure
from toolyard.cluster.visits import Visit
from toolyard.http.fetching.connection import HttpError
from toolyard.http.request import Request
from toolyard.http.response import Response
from toolyard.protocol.call import Caller

SERVICE = "store"
WITHIN = 0.8
_REACHED, _AWAY = b"reached", b"away"
_NOBODY = Caller("", "")


def look_around(name: str, roster: Roster, peers: Peers) -> Callable[[], Awaitable[bool]]:
    async def all_cut_off() -> bool:
        """Nobody else is known, or those that we reach do not reach it either."""
        others = [other for other in roster.cards if other != name]
        if not others:
            return True
        answers = await asyncio.gather(*(_ask(peers, other) for other in others))
        return _AWAY in answers and _REACHED not in answers

    return all_cut_off


async def _ask(peers: Peers, name: str) -> bytes:
    """Empty: it does not answer."""
    visit = Visit(SERVICE, "GET", "/", {}, _NOBODY)
    try:
        async with asyncio.timeout(WITHIN):
            answer = await peers.ask(name, visit)
            try:
                return bytes(await answer.read(100))
            finally:
                answer.close()
    except (PeerGone, PeerLost, HttpError, TimeoutError):
        return b""


def store_service(tenure: Tenure) -> Callable[[Visit, Request, Response], Awaitable[None]]:
    async def answer(_visit: Visit, _request: Request, response: Response) -> None:
        await response.send(200, _REACHED if tenure.hears_the_store() else _AWAY)

    return answer
