"""/readyz: may a balancer send requests here? Says to everybody whether, and in short why not.

Not ready means that another process would serve better. A store that is away from all of them is
no such reason: what needs none goes on, and a balancer that has nobody left serves nobody.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field

from toolyard.app.build import App
from toolyard.http.request import Request
from toolyard.http.response import Response
from toolyard.protocol.call import JsonObject
from toolyard.web.encode import encoded
from toolyard.web.endpoint import HEADERS

PATH = "/readyz"


@dataclass(slots=True)
class Readiness:
    """A Responder."""

    app: App
    draining: bool = False
    asked: bool = False  # ever: somebody goes by what we say
    _listing: asyncio.Task[object] | None = field(default=None)

    async def __call__(self, request: Request, response: Response) -> None:
        if request.method not in ("GET", "HEAD"):
            await response.send(405, b"", ((b"allow", b"GET, HEAD"),))
            return
        self.asked = True
        document = self.document()
        body = b"" if request.method == "HEAD" else encoded(document)
        await response.send(200 if document["ready"] else 503, body, HEADERS)

    def document(self) -> JsonObject:
        obstacles, remarks = list(self._obstacles()), list(self._remarks())
        return {"ready": not obstacles, "because": obstacles, "remarks": remarks}

    async def drain(self) -> None:
        """From now on others are to be asked."""
        self.draining = True
        if self._listing is not None:
            self._listing.cancel()
            await asyncio.gather(self._listing, return_exceptions=True)

    def _obstacles(self) -> Iterator[str]:
        if self.draining:
            yield "it is about to end"
        if not self._has_catalog():
            yield "it has not listed yet what it serves"
        standing = self.app.standing
        if standing is None:
            return
        if standing.cut_off:
            yield "it is cut off from the store"
        for difference in standing.differences():
            if difference.is_ours:
                yield f"a process that was there before has {difference.what}"

    def _remarks(self) -> Iterator[str]:
        standing = self.app.standing
        if standing is None:
            return
        if standing.trouble:
            yield "the store cannot be used: what needs none goes on"
        for difference in standing.differences():
            if not difference.is_ours:
                yield f"another process has {difference.what}"

    def _has_catalog(self) -> bool:
        """Asked for by whoever wants to know: a process that nobody probes reads it when used."""
        keeper = self.app.keeper
        if keeper.at_hand is None and self._listing is None:
            self._listing = asyncio.create_task(keeper.catalog())
            self._listing.add_done_callback(self._listed)
        return keeper.at_hand is not None

    def _listed(self, task: asyncio.Task[object]) -> None:
        self._listing = None
        if not task.cancelled():
            task.exception()  # the keeper's troubles say it
