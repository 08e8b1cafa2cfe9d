"""What one process alone answers for all: the first by name of those that are there.

Something that lives between two requests and is no session, like a call made on the page, needs
no store for that: while its process is there, all others send requests for it there.
"""

from __future__ import annotations

from toolyard.cluster.cluster import Cluster
from toolyard.cluster.forwarding import forward
from toolyard.cluster.peers import PeerGone, PeerLost
from toolyard.cluster.visits import Visit
from toolyard.http.request import BodyTooLarge, Disconnected, Request
from toolyard.http.response import Responder, Response
from toolyard.http.serving.request_heads import read_head
from toolyard.protocol.call import Caller

MOST_BYTES = 16 * 1024 * 1024
_NOBODY = Caller("", "")  # whoever answers looks at the credentials


class AtHome:
    """A Responder: paths below a prefix are answered at home, all others here."""

    def __init__(self, cluster: Cluster, service: str, prefix: str, responder: Responder) -> None:
        self._cluster = cluster
        self._service = service
        self._prefix = prefix
        self._responder = responder

    async def __call__(self, request: Request, response: Response) -> None:
        if request.path.startswith(self._prefix):
            try:
                if await self._passed_on(request, response):
                    return
            except Disconnected:
                return
            except BodyTooLarge:
                await response.send(413)
                return
        await self._responder(request, response)

    async def _passed_on(self, request: Request, response: Response) -> bool:
        visit = None
        for name in self._cluster.peers.names():
            if name >= self._cluster.name:
                break
            visit = visit or await self._visit(request)
            try:
                await forward(self._cluster.peers, name, visit, request, response)
            except PeerGone:
                continue
            except PeerLost:
                if not response.begun:
                    await response.send(502)
            return True
        if visit is not None:
            request.carry(request.head, visit.body)
        return False

    async def _visit(self, request: Request) -> Visit:
        body = await request.read(MOST_BYTES)
        path = f"{request.path}?{request.head.query.decode('latin-1')}"
        return Visit(self._service, request.method, path, request.headers, _NOBODY, body)

    async def visit(self, visit: Visit, request: Request, response: Response) -> None:
        """What another process passes on to us."""
        path, _, query = visit.target.partition("?")
        headers = [
            (name.encode(), value.encode("latin-1")) for name, value in visit.headers.items()
        ]
        url = path.encode("latin-1") + (b"?" + query.encode("latin-1") if query else b"")
        request.carry(read_head(visit.method, url, "1.1", headers), visit.body)
        await self._responder(request, response)
