"""News of streams: one connection hears for all who wait in this process.

A notice carries nothing: it says that a stream has more. A subscription stays a while after its
last use, because whoever followed a stream comes back for the next event. When the connection
breaks everybody is woken, and asks again.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import monotonic
from typing import Any

from redis.exceptions import RedisError

from toolyard.store.interface import StoreError
from toolyard.store.trips import DEADLINE, Client
from toolyard.store.troubles import trouble

LINGERS = 30.0


class NoticeChannel:
    def __init__(self) -> None:
        self.heard = asyncio.Event()
        self.subscribed = asyncio.Event()
        self.broken = False
        self.waiting = 0
        self.left_at = 0.0


class Notices:
    def __init__(self, client: Client, place: str) -> None:
        self._client = client
        self._place = place
        self._channels: dict[str, NoticeChannel] = {}
        self._pubsub: Any = None
        self._listening: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def of(self, name: str) -> AsyncIterator[NoticeChannel]:
        """From here on each notice is heard. Raises StoreError."""
        channel = self._channels.get(name)
        if channel is None:
            await self._forget_unused()
            channel = self._channels[name] = NoticeChannel()
            await self._trip(self._subscribe(name))
        channel.waiting += 1
        try:
            await self._trip(channel.subscribed.wait())
            yield channel
        finally:
            channel.waiting -= 1
            channel.left_at = monotonic()

    async def close(self) -> None:
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.gather(self._listening, return_exceptions=True)
        await self._hang_up()

    async def _trip(self, going: Any) -> None:
        try:
            async with asyncio.timeout(DEADLINE):
                await going
        except (RedisError, OSError, TimeoutError) as error:
            await self._hang_up()
            raise StoreError(trouble(error, self._place)) from None

    async def _subscribe(self, name: str) -> None:
        if self._pubsub is None:
            self._pubsub = self._client.pubsub()
        await self._pubsub.subscribe(name)
        if self._listening is None:
            self._listening = asyncio.create_task(self._listen(self._pubsub))

    async def _forget_unused(self) -> None:
        before = monotonic() - LINGERS
        unused = [
            name
            for name, channel in self._channels.items()
            if not channel.waiting and channel.left_at < before
        ]
        for name in unused:
            del self._channels[name]
        if unused and self._pubsub is not None:
            await self._trip(self._pubsub.unsubscribe(*unused))

    async def _listen(self, pubsub: Any) -> None:
        try:
            async for message in pubsub.listen():
                channel = self._channels.get(message["channel"].decode())
                if channel is None:
                    continue
                if message["type"] == "subscribe":
                    channel.subscribed.set()
                channel.heard.set()
        except (RedisError, OSError):
            pass  # whoever waits is woken, asks, and is told
        finally:
            self._listening = None
            await self._hang_up()

    async def _hang_up(self) -> None:
        pubsub, self._pubsub = self._pubsub, None
        channels, self._channels = self._channels, {}
        for channel in channels.values():
            channel.broken = True
            channel.subscribed.set()
            channel.heard.set()
        if self._listening is not None and self._listening is not asyncio.current_task():
            self._listening.cancel()
        if pubsub is not None:
            try:
                await pubsub.aclose()
            except (RedisError, OSError):
                pass  # it was broken
