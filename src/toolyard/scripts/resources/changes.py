"""Who wants to know that files have changed. Knows no watcher and no resource."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable


class FileChanges:
    """Events by path: an event for a path wakes whoever waits for it or for a folder above."""

    def __init__(self) -> None:
        self._waiting: dict[str, set[asyncio.Event]] = {}

    def expect(self, paths: Iterable[str]) -> Expectation:
        return Expectation(self, tuple(paths))

    def fire(self, paths: Iterable[str]) -> None:
        for path in paths:
            for event in self._waiting.get(path, ()):
                event.set()

    def add(self, path: str, event: asyncio.Event) -> None:
        self._waiting.setdefault(path, set()).add(event)

    def remove(self, path: str, event: asyncio.Event) -> None:
        events = self._waiting.get(path, set())
        events.discard(event)
        if not events:
            self._waiting.pop(path, None)


class Expectation:
    """While entered, `wait` ends when one of the paths changes, or after a time."""

    def __init__(self, changes: FileChanges, paths: tuple[str, ...]) -> None:
        self._changes = changes
        self._paths = paths
        self._event = asyncio.Event()

    def __enter__(self) -> Expectation:
        for path in self._paths:
            self._changes.add(path, self._event)
        return self

    def __exit__(self, *_: object) -> None:
        for path in self._paths:
            self._changes.remove(path, self._event)

    async def wait(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._event.wait()
        except TimeoutError:
            pass
        self._event.clear()
