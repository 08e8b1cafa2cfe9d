"""`GET /metrics`: what Prometheus scrapes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

from toolyard.http.headers import Header
from toolyard.http.request import Request
from toolyard.http.response import Response
from toolyard.observation.exposition import CONTENT_TYPE, exposition
from toolyard.observation.series import Metric

HEADERS: tuple[Header, ...] = (
    (b"content-type", CONTENT_TYPE),
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
)


@dataclass(frozen=True, slots=True)
class MetricsEndpoint:
    """Whom it answers is decided by the transport."""

    read: Callable[[], Awaitable[Iterable[Metric]]]

    async def __call__(self, request: Request, response: Response) -> None:
        if request.method not in ("GET", "HEAD"):
            await response.send(405, b"", ((b"allow", b"GET, HEAD"),))
            return
        # Thousands of series are megabytes of text: calls go on meanwhile.
        body = await asyncio.to_thread(exposition, await self.read())
        await response.send(200, b"" if request.method == "HEAD" else body, HEADERS)
