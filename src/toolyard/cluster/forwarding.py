"""Pass a request on to another process, and its answer back, part by part. Knows no MCP.

A client that leaves takes its request along: the connection to the other process is cut, and
that process sees its client leave. What that means is decided there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from toolyard.cluster.peers import PeerLost, Peers
from toolyard.cluster.visits import Visit
from toolyard.http.fetching.client import ClientResponse
from toolyard.http.fetching.connection import HttpError
from toolyard.http.headers import Header
from toolyard.http.request import Request
from toolyard.http.response import Response

# It is somebody else's, or nobody's: the answer of a process that was asked in vain.
NOT_HERE = 421
# A stream that has nothing to say sends a comment four times in this time.
SILENCE = 60.0
MOST_WHOLE = 1024 * 1024 * 1024
# Of a connection, not of a request; and credentials, which were checked here.
_OWN = frozenset(
    {
        *("authorization", "connection", "content-length", "cookie", "expect", "host"),
        *("keep-alive", "te", "trailer", "transfer-encoding", "upgrade"),
    }
)
_NOT_PASSED_BACK = frozenset({"connection", "content-length", "date", "transfer-encoding"})


class NotThere(Exception):
    """It does not have what was asked for, and has done nothing."""


def passed_on(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name not in _OWN}


async def forward(
    peers: Peers, name: str, visit: Visit, request: Request, response: Response
) -> None:
    """Raises PeerGone and NotThere before anything is answered, and PeerLost."""
    outcome: list[Exception] = []

    async def relay() -> None:
        try:
            answer = await peers.ask(name, visit)
            try:
                await _pass_back(answer, response)
            finally:
                answer.close()
        except Exception as error:
            outcome.append(error)

    await request.while_connected(relay())
    if outcome:
        raise outcome[0]


async def _pass_back(answer: ClientResponse, response: Response) -> None:
    if answer.status == NOT_HERE:
        raise NotThere
    headers = _passed_back(answer.headers)
    whole = answer.at_hand(MOST_WHOLE)
    if whole is not None:
        await response.send(answer.status, bytes(whole), headers)
        return
    part = await _next_part(answer)
    response.start(headers, answer.status)
    while part:
        await response.write(bytes(part))
        part = await _next_part(answer)
    await response.end()


async def _next_part(answer: ClientResponse) -> bytes:
    try:
        async with asyncio.timeout(SILENCE):
            return await answer.chunk()
    except HttpError as error:
        raise PeerLost(str(error)) from None
    except TimeoutError:
        raise PeerLost("it says nothing any more") from None


def _passed_back(headers: Mapping[str, str]) -> tuple[Header, ...]:
    return tuple(
        (name.encode("latin-1"), value.encode("latin-1"))
        for name, value in headers.items()
        if name not in _NOT_PASSED_BACK
    )
