"""The process that runs a server answers the others: `copies` says what they ask, and how."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, TypeAlias

from toolyard.app.workers.copies import LINK_ERRORS, SILENCE
from toolyard.cluster.door import Service
from toolyard.cluster.forwarding import NOT_HERE
from toolyard.cluster.visits import Visit
from toolyard.errors import MISSING_CAPABILITY, ProtocolError
from toolyard.http.request import Request
from toolyard.http.response import Response
from toolyard.protocol.call import Call, Caller, Channel, Client, Json, JsonObject, Questions
from toolyard.protocol.codec import dumps, loads
from toolyard.protocol.guise import guise_of
from toolyard.protocol.revisions import ALL, LATEST, Revision
from toolyard.upstreams.connections import Downstream
from toolyard.upstreams.link.link import LinkError
from toolyard.upstreams.lists.disk import written
from toolyard.upstreams.upstream import Upstream

BEAT = SILENCE / 4
_HEADERS = ((b"content-type", b"application/x-ndjson"),)
FindUpstream: TypeAlias = Callable[[str], Upstream | None]


def copy_service(find: FindUpstream) -> Service:
    async def answer(visit: Visit, request: Request, response: Response) -> None:
        body: Any = loads(visit.body)
        upstream = find(str(body["server"]))
        if upstream is None or not await upstream.is_here():
            await response.send(NOT_HERE)
            return
        teller = _Teller()
        work = _WORK[visit.target](upstream, body, visit.caller, teller)
        response.start(_HEADERS)
        await request.while_connected(_answered(work, teller, response))

    return answer


class _Teller(Channel):
    """What a call says on its way, in lines."""

    def __init__(self) -> None:
        self.lines: asyncio.Queue[list[Any] | None] = asyncio.Queue()

    def say(self, *line: Any) -> None:
        self.lines.put_nowait(list(line))

    def notify(self, method: str, params: JsonObject) -> None:
        self.say("notify", method, params)

    def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        self.say("progress", progress, total, message)

    def log(self, level: str, data: Json, logger: str | None = None) -> None:
        self.say("log", level, data, logger)

    async def goes_on_at(self, task: JsonObject) -> None:
        self.say("goes_on_at", task)

    async def ask(self, questions: Questions, timeout: float | None = None) -> JsonObject:
        raise ProtocolError(MISSING_CAPABILITY, "This client cannot be asked")


async def _answered(work: Coroutine[Any, Any, None], teller: _Teller, response: Response) -> None:
    task = asyncio.get_running_loop().create_task(_done(work, teller))
    try:
        line: list[Any] | None = []
        while line is not None:
            await response.write((dumps(line) if line else b"") + b"\n")
            line = await _next(teller)
        await response.end()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _next(teller: _Teller) -> list[Any] | None:
    try:
        async with asyncio.timeout(BEAT):
            return await teller.lines.get()
    except TimeoutError:
        return []


async def _done(work: Coroutine[Any, Any, None], teller: _Teller) -> None:
    try:
        await work
    except ProtocolError as error:
        teller.say("error", error.code, error.message, error.data)
    except LinkError as error:
        kind = next(
            (name for name, known in LINK_ERRORS.items() if type(error) is known), "NotSent"
        )
        teller.say("link", kind, str(error))
    teller.lines.put_nowait(None)


async def _perform(upstream: Upstream, body: Any, caller: Caller, teller: _Teller) -> None:
    call = _unpacked(body, caller)
    teller.say("result", await upstream.perform(body["method"], body["params"], call, teller))


async def _resume(upstream: Upstream, body: Any, caller: Caller, teller: _Teller) -> None:
    call = _unpacked(body, caller)
    teller.say("result", await upstream.resume(body["begun"], call, teller))


async def _listing(upstream: Upstream, body: Any, caller: Caller, teller: _Teller) -> None:
    call = _unpacked(body, caller)
    client = Downstream(caller, guise_of(call.revision, call.client), None, call.revision)
    record = await upstream.listings.whole(client)
    teller.say("record", written(record).decode())


async def _subscribe(upstream: Upstream, body: Any, caller: Caller, teller: _Teller) -> None:
    call, changed = _unpacked(body, caller), lambda: teller.say("changed")
    end = await upstream.subscribe(body["uri"], call, teller, changed)
    try:
        teller.say("listening")
        await asyncio.Event().wait()
    finally:
        end()


async def _changes(upstream: Upstream, body: Any, caller: Caller, teller: _Teller) -> None:
    end = upstream.hear_changes(lambda: teller.say("changed"))
    try:
        await asyncio.Event().wait()
    finally:
        end()


_WORK: Mapping[str, Callable[[Upstream, Any, Caller, _Teller], Coroutine[Any, Any, None]]] = {
    "/perform": _perform,
    "/resume": _resume,
    "/listing": _listing,
    "/subscribe": _subscribe,
    "/changes": _changes,
}


def _unpacked(body: Any, caller: Caller) -> Call:
    responses, state = body["inputs"]
    return Call(
        body["of"],
        body.get("params", {}),
        _revision(body["revision"]),
        Client(*body["client"]),
        caller,
        body["meta"],
        responses,
        state,
        log_level=body["log"],
        task=body["task"],
    )


def _revision(date: str) -> Revision:
    return ALL.get(date, LATEST)
