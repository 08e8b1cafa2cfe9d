"""Trips to Redis: gathered into pipelines, each with a deadline, none while it is away.

    open ──a trip fails──> away ──a look succeeds──> open
      │                     ^ │
      │                     └─┘ a look fails: again, after a longer pause
      └──it refuses to write──> open, with an error in its condition, until a write succeeds
                                and none was refused for a while: a full store still takes
                                what needs no memory

Commands that are issued while others are under way wait for these and go together: under load
there is one trip for many. Whoever waits when the store goes away is told at once.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from redis.asyncio import Redis
from redis.asyncio.cluster import RedisCluster
from redis.exceptions import RedisError, ResponseError

from toolyard.store.interface import StoreCondition, StoreError
from toolyard.store.troubles import NotAStore, away, refusal, trouble
from toolyard.telemetry import logger

log = logger("store")
DEADLINE = 1.0
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 2.0
MOST_AT_ONCE = 1_000
CALM = 5.0  # seconds without a refusal

Client: TypeAlias = "Redis | RedisCluster"
Command: TypeAlias = tuple[Any, ...]
_Waiting: TypeAlias = tuple[Command, "asyncio.Future[Any]"]


class Trips:
    def __init__(self, client: Client, place: str, deadline: float = DEADLINE) -> None:
        self._client = client
        self._deadline = deadline
        self._queue: list[_Waiting] = []
        self._sending: asyncio.Task[None] | None = None
        self._looking: asyncio.Task[None] | None = None
        self._on_return: list[Callable[[], None]] = []
        self._last_refusal = -CALM
        self.condition = StoreCondition(place, False, time.time(), "not looked for yet")

    def on_return(self, callback: Callable[[], None]) -> None:
        self._on_return.append(callback)

    async def open(self) -> None:
        """The first look. Raises NotAStore; a store that is away is looked for again."""
        try:
            await self._look()
        except NotAStore:
            raise
        except StoreError as error:
            self._lose(str(error))
        else:
            self._set(True)

    async def close(self) -> None:
        for task in (self._sending, self._looking):
            if task is not None:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
        self._fail_all("the store is closed")
        try:
            async with asyncio.timeout(self._deadline):
                await self._client.aclose()
        except (RedisError, OSError, TimeoutError):
            pass  # it is gone either way

    # -- going -------------------------------------------------------------------------

    async def go(self, *command: Any, writes: bool = False) -> Any:
        """The reply; an error that is the command's own is raised as it is. Raises StoreError."""
        if not self.condition.reachable:
            raise StoreError(self.condition.error)
        reply: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._queue.append((command, reply))
        if self._sending is None:
            self._sending = asyncio.create_task(self._send())
        try:
            answer = await reply
        except ResponseError as error:
            raise self._refused(error) from None
        if writes and self.condition.error and time.monotonic() - self._last_refusal > CALM:
            self._returned()
        return answer

    def _refused(self, error: ResponseError) -> Exception:
        if away(error):
            self._lose(trouble(error, self.condition.place))
            return StoreError(self.condition.error)
        what = refusal(error)
        if what is None:
            return error
        self._last_refusal = time.monotonic()
        said = f"the store at {self.condition.place} {what}"
        if said != self.condition.error:
            log.error("%s", said)
            self._set(True, said)
        return StoreError(said)

    async def _send(self) -> None:
        try:
            while self._queue:
                batch, self._queue = self._queue[:MOST_AT_ONCE], self._queue[MOST_AT_ONCE:]
                await self._send_together(batch)
        finally:
            self._sending = None

    async def _send_together(self, batch: Sequence[_Waiting]) -> None:
        try:
            async with asyncio.timeout(self._deadline):
                replies = await self._replies([command for command, _ in batch])
        except (RedisError, OSError, TimeoutError) as error:
            self._lose(trouble(error, self.condition.place))
            _fail(batch, self.condition.error)
            return
        except BaseException:
            _fail(batch, "the store is closed")
            raise
        for (_, waiting), reply in zip(batch, replies, strict=True):
            if waiting.done():
                continue
            if isinstance(reply, BaseException):
                waiting.set_exception(reply)
            else:
                waiting.set_result(reply)

    async def _replies(self, commands: Sequence[Command]) -> list[Any]:
        if isinstance(self._client, RedisCluster):
            # Its pipelines take no scripts.
            going = (self._client.execute_command(*command) for command in commands)
            return await asyncio.gather(*going, return_exceptions=True)
        pipeline = self._client.pipeline(transaction=False)
        for command in commands:
            pipeline.execute_command(*command)
        return await pipeline.execute(raise_on_error=False)

    # -- away and back -----------------------------------------------------------------

    def _lose(self, why: str) -> None:
        if self.condition.reachable:
            log.warning("%s; what needs no store goes on", why)
        if self.condition.reachable or why != self.condition.error:
            self._set(False, why)
        self._fail_all(why)
        if self._looking is None:
            self._looking = asyncio.create_task(self._look_again())

    def _fail_all(self, why: str) -> None:
        waiting, self._queue = self._queue, []
        _fail(waiting, why)

    async def _look_again(self) -> None:
        pause = FIRST_PAUSE
        try:
            while not self.condition.reachable:
                await asyncio.sleep(pause)
                pause = min(pause * 2, LONGEST_PAUSE)
                try:
                    await self._look()
                except StoreError as error:
                    self._set(False, str(error))
                else:
                    log.warning("the store at %s is back", self.condition.place)
                    self._returned()
        finally:
            self._looking = None

    async def _look(self) -> None:
        try:
            async with asyncio.timeout(self._deadline):
                await self._client.execute_command("PING")
        except (RedisError, OSError, TimeoutError) as error:
            raise trouble_of(error, self.condition.place) from None

    def _returned(self) -> None:
        self._set(True)
        for callback in tuple(self._on_return):
            callback()

    def _set(self, reachable: bool, error: str = "") -> None:
        before = self.condition
        since = before.since if before.reachable == reachable else time.time()
        self.condition = StoreCondition(before.place, reachable, since, error)


def trouble_of(error: Exception, place: str) -> StoreError:
    said = trouble(error, place)
    return StoreError(said) if away(error) else NotAStore(said)


def _fail(batch: Sequence[_Waiting], why: str) -> None:
    for _, waiting in batch:
        if not waiting.done():
            waiting.set_exception(StoreError(why))
