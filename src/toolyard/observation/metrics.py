"""Everything that is counted in one process, and the metrics made of it."""

from __future__ import annotations

from collections.abc import Callable

from toolyard.observation.operations import ClientOperations, ServerOperations, folded_metric
from toolyard.observation.series import Metric
from toolyard.observation.vitals import ServerVitals, vital_metrics


class Metrics:
    """Counts requests from the start; what else there is to see is known once it is attached."""

    def __init__(self, transport: str, most: int) -> None:
        self.server = ServerOperations(transport, most)
        self.client = ClientOperations(most)
        self._vitals: ServerVitals | None = None
        # What else is counted in this process, by others.
        self.more: list[Callable[[], Metric]] = []

    def attach(self, vitals: ServerVitals) -> None:
        self._vitals = vitals
        self.server.knows = lambda name: name in vitals.catalog.tools

    def read(self) -> list[Metric]:
        vitals = () if self._vitals is None else vital_metrics(self._vitals)
        more = [read() for read in self.more]
        overflow = folded_metric({**self.server.folded_counts, **self.client.folded_counts})
        return [*self.server.metrics(), *self.client.metrics(), overflow, *vitals, *more]
