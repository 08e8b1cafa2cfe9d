"""How the worker that is scraped, or draws the page, asks the others what they have counted."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from toolyard.app.page.others import PeerPages
from toolyard.cluster.cluster import Cluster
from toolyard.cluster.door import Service
from toolyard.cluster.visits import Visit
from toolyard.http.headers import JSON_TYPE
from toolyard.http.request import Request
from toolyard.http.response import Response
from toolyard.observation import history
from toolyard.observation.history import History
from toolyard.observation.metrics import Metrics
from toolyard.observation.series import Metric
from toolyard.observation.workers import packed, together, unpacked
from toolyard.protocol.call import JsonObject
from toolyard.web.encode import encoded

SERVICE = "metrics"
HISTORY = "history"


def of_all_workers(metrics: Metrics, cluster: Cluster) -> Callable[[], Awaitable[list[Metric]]]:
    others = PeerPages(cluster, SERVICE)

    async def read() -> list[Metric]:
        answers = await others.ask("")
        by_process = {name: unpacked(document) for name, document in answers.items()}
        return together({others.name: metrics.read(), **by_process})

    return read


def metrics_service(metrics: Metrics) -> Service:
    async def answer(_visit: Visit, _request: Request, response: Response) -> None:
        await response.send(200, encoded(packed(metrics.read())), (JSON_TYPE,))

    return answer


def history_of_all(own: History, cluster: Cluster) -> Callable[[], Awaitable[JsonObject]]:
    others = PeerPages(cluster, HISTORY)

    async def read() -> JsonObject:
        answers = await others.ask("")
        return history.document_of([own.minutes(), *map(history.unpacked, answers.values())])

    return read


def history_service(own: History) -> Service:
    async def answer(_visit: Visit, _request: Request, response: Response) -> None:
        await response.send(200, encoded(history.packed(own.minutes())), (JSON_TYPE,))

    return answer
