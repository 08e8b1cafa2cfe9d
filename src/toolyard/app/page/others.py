"""How the page of one process asks the others that serve the same."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import orjson

from toolyard.cluster.cluster import Cluster
from toolyard.cluster.door import Service
from toolyard.cluster.peers import PeerGone, PeerLost
from toolyard.cluster.visits import Visit
from toolyard.http.fetching.connection import HttpError
from toolyard.http.headers import JSON_TYPE
from toolyard.http.request import Request
from toolyard.http.response import Response
from toolyard.protocol.call import Caller, JsonObject
from toolyard.web.encode import encoded
from toolyard.web.others import answer_others
from toolyard.web.window import Window

SERVICE = "calls"
WITHIN = 1.0
MOST_BYTES = 64 * 1024 * 1024
_NOBODY = Caller("", "")


class PeerPages:
    """Others, by the peer addresses."""

    def __init__(self, cluster: Cluster, service: str = SERVICE) -> None:
        self._service = service
        self._peers = cluster.peers
        self.name = cluster.name

    async def ask(self, target: str) -> Mapping[str, JsonObject]:
        names = [name for name in self._peers.names() if name != self.name]
        answers = await asyncio.gather(*(self.ask_one(name, target) for name in names))
        pairs = zip(names, answers, strict=True)
        return {name: answer for name, answer in pairs if answer is not None}

    async def ask_one(self, process: str, target: str) -> JsonObject | None:
        visit = Visit(self._service, "GET", target, {}, _NOBODY)
        try:
            async with asyncio.timeout(WITHIN):
                answer = await self._peers.ask(process, visit)
                try:
                    body = await answer.read(MOST_BYTES)
                finally:
                    answer.close()
        except (PeerGone, PeerLost, HttpError, TimeoutError):
            return None
        document: JsonObject | None = orjson.loads(body) if answer.status == 200 else None
        return document


def calls_service(window: Window) -> Service:
    async def answer(visit: Visit, _request: Request, response: Response) -> None:
        document = answer_others(window, visit.target)
        if document is None:
            await response.send(404)
        else:
            await response.send(200, encoded(document), (JSON_TYPE,))

    return answer
