"""Servers of the registry that run in one process for several: how the others ask that one.

    POST /perform    a call: lines of progress and log messages, then its result or its error
    POST /resume     the same, of a task that was begun before
    POST /listing    what the server lists to such a client
    POST /subscribe  a line whenever a resource may have changed
    POST /changes    a line whenever a list may have changed

Each line is a JSON array that begins with what it is. An empty one says that somebody is there.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from toolyard.cluster.cluster import Cluster
from toolyard.cluster.homes import FolderHomes, Homes, NoHome, StoreHomes
from toolyard.cluster.peers import PeerGone, PeerLost, Peers
from toolyard.cluster.visits import Visit
from toolyard.errors import ProtocolError
from toolyard.files.lines import Lines
from toolyard.http.fetching.connection import HttpError
from toolyard.protocol.call import Call, Caller, Channel, Client, JsonObject
from toolyard.protocol.codec import dumps, loads
from toolyard.upstreams.calls import TracedChannel
from toolyard.upstreams.connections import Downstream
from toolyard.upstreams.definition import ServerDefinition
from toolyard.upstreams.link.link import Down, LinkError, Lost, NotSent, TimedOut
from toolyard.upstreams.lists.disk import UpstreamRecord, read_record

SERVICE = "upstream"
SILENCE = 30.0  # of a process that says four times in this time that it is there
LINK_ERRORS: Mapping[str, type[LinkError]] = {
    error.__name__: error for error in (NotSent, Lost, TimedOut, Down)
}


@dataclass(slots=True)
class PeerCopies:
    """Finds out where a server runs, and asks there."""

    cluster: Cluster
    homes: Mapping[str, Homes]  # by what a definition says of its copies
    _copies: dict[tuple[str, str], PeerCopy] = field(default_factory=dict)

    async def elsewhere(
        self, definition: ServerDefinition, changed: Callable[[], None]
    ) -> PeerCopy | None:
        homes = self.homes.get(definition.copies)
        if homes is None:
            return None
        try:
            process = await homes.find(definition.identity)
        except NoHome as why:
            raise NotSent(f"runs in another process, which cannot be found: {why}") from None
        if process is None:
            return None
        key = (definition.identity, process)
        copy = self._copies.get(key)
        if copy is None:

            def gone() -> None:
                self._copies.pop(key, None)
                homes.gone(definition.identity)
                changed()

            copy = self._copies[key] = PeerCopy(self.cluster.peers, process, definition, gone)
            copy.follow(changed)
        return copy

    async def close(self) -> None:
        for copy in tuple(self._copies.values()):
            await copy.close()
        for homes in {id(one): one for one in self.homes.values()}.values():
            await homes.close()


class PeerCopy:
    """A server that another process runs."""

    def __init__(
        self,
        peers: Peers,
        process: str,
        definition: ServerDefinition,
        gone: Callable[[], None],
    ) -> None:
        self._peers = peers
        self._process = process
        self._definition = definition
        self._gone = gone
        self._tasks: set[asyncio.Task[None]] = set()

    async def perform(
        self, method: str, params: JsonObject, call: Call, channel: Channel
    ) -> JsonObject:
        body = {"method": method, "params": params, **_packed(call)}
        return await self._result("/perform", body, call, channel)

    async def resume(self, task: JsonObject, call: Call, channel: Channel) -> JsonObject:
        return await self._result("/resume", {"begun": task, **_packed(call)}, call, channel)

    async def _result(
        self, path: str, body: JsonObject, call: Call, channel: Channel
    ) -> JsonObject:
        async with aclosing(self._lines(path, body, call.caller)) as lines:
            async for kind, *rest in lines:
                if kind == "result":
                    result: JsonObject = rest[0]
                    return result
                if kind != "goes_on_at":
                    getattr(channel, kind)(*rest)
                elif isinstance(channel, TracedChannel):
                    await channel.goes_on_at(*rest)
        raise Lost("the process that runs it does not say how the call ended")

    async def listing(self, client: Downstream) -> UpstreamRecord:
        call = Call("", {}, client.revision, Client({}, dict(client.guise.capabilities)))
        async with aclosing(self._lines("/listing", _packed(call), client.caller)) as lines:
            async for _, text in lines:
                record = read_record(text.encode(), self._definition.name)
                if record is not None:
                    return record
        raise Lost("the process that runs it does not say what it lists")

    async def subscribe(
        self, uri: str, call: Call, changed: Callable[[], None]
    ) -> Callable[[], None]:
        lines = self._lines("/subscribe", {"uri": uri, **_packed(call)}, call.caller)
        await anext(lines)  # it listens
        task = self._start(_each(lines, changed))
        return lambda: void(task.cancel())

    def follow(self, changed: Callable[[], None]) -> None:
        """Until that process is gone."""
        self._start(_each(self._lines("/changes", {}, Caller("", "")), changed, self._gone))

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _lines(
        self, path: str, body: JsonObject, caller: Caller
    ) -> AsyncGenerator[list[Any]]:
        """Raises ProtocolError and a LinkError."""
        whole = {"server": self._definition.identity, **body}
        visit = Visit(SERVICE, "POST", path, {}, caller, dumps(whole))
        try:
            answer = await self._peers.ask(self._process, visit)
        except PeerGone as error:
            self._gone()
            raise NotSent(f"the process that runs it is gone: {error}") from None
        except PeerLost as error:
            raise Lost(f"the process that runs it is lost: {error}") from None
        try:
            if answer.status != 200:
                self._gone()
                raise NotSent("it has moved to another process")
            async for line in _cut(answer.chunk):
                yield _checked(line)
        except (HttpError, TimeoutError) as error:
            raise Lost(f"the process that runs it is lost: {error}") from None
        finally:
            answer.close()

    async def close(self) -> None:
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _each(
    lines: AsyncIterator[list[Any]],
    changed: Callable[[], None],
    ended: Callable[[], None] | None = None,
) -> None:
    """Whatever ends it, something may have changed that nobody told of."""
    try:
        async for _ in lines:
            changed()
    except (LinkError, ProtocolError):
        pass
    (ended or changed)()


async def _cut(chunk: Callable[[], Any]) -> AsyncIterator[list[Any]]:
    """Lines that say something."""
    lines: list[bytes | bytearray] = []
    cutter = Lines(lines.append, sys.maxsize)  # the limits of the process that says it hold
    while True:
        async with asyncio.timeout(SILENCE):
            part = await chunk()
        if not part:
            return
        cutter.feed(part)
        for line in lines:
            if line:
                value: Any = loads(bytes(line))
                yield value
        lines.clear()


def _checked(line: list[Any]) -> list[Any]:
    if line[0] == "error":
        raise ProtocolError(*line[1:])
    if line[0] == "link":
        raise LINK_ERRORS.get(line[1], Lost)(line[2])
    return line


def _packed(call: Call) -> JsonObject:
    return {
        "revision": call.revision.date,
        "client": [call.client.info, call.client.capabilities],
        "meta": call.meta,
        "log": call.log_level,
        "inputs": [call.input_responses, call.request_state],
        "of": call.method,
        "task": call.task,
    }


def copies_of(cluster: Cluster) -> PeerCopies | None:
    """None: nobody else could run anything for this process."""
    homes: dict[str, Homes] = {}
    if cluster.folder is not None:
        homes["machine"] = homes["cluster"] = FolderHomes(cluster.folder, cluster.name)
    if cluster.store is not None:
        homes["cluster"] = StoreHomes(cluster.store, cluster.name)
    return PeerCopies(cluster, homes) if homes else None


def void(_: object) -> None:
    """Nobody waits for it."""
