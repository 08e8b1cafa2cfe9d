"""Hands ended spans to whoever sends them, in a thread of its own.

The loop only appends to a queue. Where the collector is too slow or gone, spans are dropped and
counted: calls never wait for it.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from toolyard.observation.tracing.records import SpanRecord
from toolyard.telemetry import logger

log = logger("traces")
FAREWELL = 3.0  # seconds for the last spans


class BatchSizes:
    """By the variables that every OpenTelemetry SDK reads."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.queue = _whole(environ, "OTEL_BSP_MAX_QUEUE_SIZE", 2048)
        self.batch = min(self.queue, _whole(environ, "OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 512))
        self.delay = _whole(environ, "OTEL_BSP_SCHEDULE_DELAY", 5000) / 1000


def _whole(environ: Mapping[str, str], name: str, default: int) -> int:
    text = environ.get(name, "")
    if text and not (text.isdecimal() and int(text)):
        log.warning("%s: expected a whole number above 0, not %r", name, text)
    return int(text) if text.isdecimal() and int(text) else default


class SpanQueue:
    """Ended spans on their way to `send`, which is called in a thread and may take its time.

    It says whether they have arrived.
    """

    def __init__(self, send: Callable[[Sequence[SpanRecord]], bool], sizes: BatchSizes) -> None:
        self._send = send
        self._sizes = sizes
        self._calm = sizes.batch - 1  # while fewer than these wait, there is nothing else to do
        self._spans: deque[tuple[Any, ...]] = deque()
        self._wake = threading.Event()
        self._is_closing = False
        self._is_dropping = False  # said once each time that it begins
        self.dropped_count = 0  # or lost on the way
        self._thread = threading.Thread(target=self._run, name="spans", daemon=True)
        self._thread.start()

    def put(self, span: tuple[Any, ...]) -> None:
        """Takes the values of a `SpanRecord`, in its order."""
        if len(self._spans) < self._calm:
            self._spans.append(span)
        else:
            self._put_to_many(span)

    def _put_to_many(self, span: tuple[Any, ...]) -> None:
        """With this one a batch is whole, or was before."""
        if len(self._spans) >= self._sizes.queue:
            if not self._is_dropping:
                self._is_dropping = True
                log.warning("spans are dropped: %d wait already", self._sizes.queue)
            self.dropped_count += 1
            return
        self._spans.append(span)
        if len(self._spans) == self._sizes.batch:
            self._wake.set()

    def close(self) -> None:
        """The last spans go out, if the collector takes them soon."""
        self._is_closing = True
        self._wake.set()
        self._thread.join(FAREWELL)

    def _run(self) -> None:
        while not self._is_closing:
            self._wake.wait(self._sizes.delay)
            self._wake.clear()
            self._flush()
        self._flush()

    def _flush(self) -> None:
        while self._spans:
            batch = [self._spans.popleft() for _ in range(min(len(self._spans), self._sizes.batch))]
            self._is_dropping = False
            try:
                is_sent = self._send([SpanRecord._make(span) for span in batch])
            except Exception as error:
                is_sent = False
                log.warning("%d spans could not be sent: %s", len(batch), error)
            if not is_sent:
                self.dropped_count += len(batch)
