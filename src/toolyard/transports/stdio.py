"""MCP over stdin and stdout: a line a message, a task a request, both eras on one connection.

Requests of 2026-07-28 stand alone; all others belong to the one handshake session. From its
first line to its last answer the transport only goes forward through these states:

    SERVING    Lines are read, and each request starts a task.
    DRAINING   The input has ended. What it asked for is still answered, within the limits of
               each call; streams that only listen end, and the client is asked nothing more.
    STOPPING   `stop`: a signal, `exit`, nothing received for long, an orphan. Calls that run have
               a grace to finish, unless we were draining already.
    HURRYING   The client said `shutdown`, and nothing since: they have had it.
    CUT_OFF    Nobody reads our answers any more: there is nobody to finish for.

Then whoever still waits for a result and can read is told that there will be none, and all that
runs is cancelled. `_ended` is set when SERVING is over, `_stopped` when DRAINING is.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from dataclasses import dataclass
from enum import IntEnum, auto
from functools import partial
from typing import TYPE_CHECKING, Any

from toolyard.errors import (
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    SHUTTING_DOWN,
    ProtocolError,
    shown,
)
from toolyard.files.lines import Lines, TooLong
from toolyard.processes.descriptors import (
    CHUNK,
    LineWriter,
    can_poll,
    has_reader,
)
from toolyard.protocol.call import Caller, Json, JsonObject
from toolyard.protocol.cancelling import reason_in
from toolyard.protocol.eras.handshake import Answered
from toolyard.protocol.eras.keys import SUBSCRIPTION_ID
from toolyard.protocol.eras.modern import is_modern, open_envelope
from toolyard.protocol.jsonrpc import (
    Message,
    Notification,
    RequestId,
    RpcRequest,
    RpcResponse,
    encode_batch,
    encode_error,
    encode_result,
    is_request_id,
)
from toolyard.protocol.revisions import ALL
from toolyard.protocol.shape import shape_error
from toolyard.telemetry import logger
from toolyard.transports.answer import Edge, answer_modern_noted, bug, encode, modern_call
from toolyard.transports.batches import answer_batch
from toolyard.transports.leaving import until_idle, until_orphaned
from toolyard.transports.sessions import Agreement, HandshakeSession
from toolyard.transports.unread import MOST_UNREAD, Unread

if TYPE_CHECKING:
    from toolyard.transports.payloads import PayloadLog

log = logger("stdio")
_KNOWN_METHODS = frozenset[str]().union(*(revision.methods for revision in ALL.values()))
_LISTEN = "subscriptions/listen"
# The answer to a request that gets no result because we stop.
_LAST_WORD = ProtocolError(SHUTTING_DOWN, "Server shutting down", "ended before there was a result")
LAST_WORDS = 1.0  # seconds for sending that answer
LOOK = 0.2  # seconds between checks that somebody still reads, once the input has ended


@dataclass(frozen=True, slots=True)
class StdioSettings:
    stdin: int = 0
    stdout: int = 1
    max_line: int = 16 * 1024 * 1024
    # How long running calls may go on after we were told to stop.
    grace: float = 5.0
    # How long they may go on, and a reader may take to read, once the input has ended.
    patience: float = 600.0
    idle_timeout: float | None = None
    orphan_check: float | None = None
    # Bytes that may wait for the client to read them.
    max_unread: int = MOST_UNREAD


class StdioState(IntEnum):
    """See the head of this module."""

    SERVING = auto()
    DRAINING = auto()
    STOPPING = auto()
    HURRYING = auto()
    CUT_OFF = auto()


class StdioTransport:
    """One connection over pipes, and everything that runs for it."""

    def __init__(
        self,
        edge: Edge,
        settings: StdioSettings,
        early: Answered,
        payloads: PayloadLog | None = None,
    ) -> None:
        self._edge = edge
        self._payloads = payloads
        self._settings = settings
        self._state = StdioState.SERVING
        self._ended = asyncio.Event()
        self._stopped = asyncio.Event()
        self._writer = LineWriter(settings.stdout, self._lost)
        self._unread = Unread(self._writer, settings.max_unread, self._line, self._listen)
        hold = self._unread.hold
        self._lines = Lines(hold, settings.max_line, lambda: hold(TooLong()))
        self._tasks: set[asyncio.Task[None]] = set()
        self._modern: dict[RequestId, asyncio.Task[None]] = {}
        self._listeners: set[asyncio.Task[None]] = set()
        self._caller = Caller()
        self._session = HandshakeSession(
            edge, "stdio", self._caller, self, owns_process=True, agreement=Agreement.made(early)
        )
        self._last_heard = 0.0
        self._early = early
        self._polls = can_poll(settings.stdin) or os.isatty(settings.stdin)

    # -- the Outlet of its session
    def send(self, message: bytes, _related: RequestId | None = None) -> None:
        if self._payloads is not None:
            self._payloads.said(message)
        self._unread.write(message)

    def end(self, _related: RequestId) -> None:
        """There is one stream only, and it stays."""

    async def serve(self) -> None:
        """Answer until the input ends, the client is gone or we are told to stop."""
        loop = asyncio.get_running_loop()
        self._last_heard = loop.time()
        if self._early.ready:
            self._start(self._session.hear(Notification("notifications/initialized", {})))
        self._take(self._early.remainder)
        watchers = [loop.create_task(watch) for watch in self._watchers()]
        try:
            if self._polls:
                self._listen(self._unread.room.is_set())
                await self._ended.wait()
                loop.remove_reader(self._settings.stdin)
            else:
                await self._read_file()
        finally:
            for watcher in watchers:
                watcher.cancel()
            await self._finish()

    def stop(self) -> None:
        self._enter(StdioState.STOPPING)

    def _enter(self, state: StdioState) -> None:
        self._state = max(state, self._state)
        self._ended.set()
        if state > StdioState.DRAINING:
            self._stopped.set()

    def _listen(self, on: bool) -> None:
        if on and self._polls and not self._ended.is_set():
            asyncio.get_running_loop().add_reader(self._settings.stdin, self._readable)
        elif self._polls:
            asyncio.get_running_loop().remove_reader(self._settings.stdin)

    def _readable(self) -> None:
        chunk = os.read(self._settings.stdin, CHUNK)
        if chunk:
            self._take(chunk)
            return
        self._end_of_input()

    def _end_of_input(self) -> None:
        self._lines.flush()
        self._unread.take()
        self._enter(StdioState.DRAINING)

    async def _read_file(self) -> None:
        while chunk := os.read(self._settings.stdin, CHUNK):
            self._take(chunk)
            await asyncio.sleep(0)
            await self._unread.room.wait()
        self._end_of_input()

    def _take(self, chunk: bytes) -> None:
        self._lines.feed(chunk)
        self._unread.take()

    def _line(self, line: bytes | bytearray | TooLong) -> None:
        self._last_heard = asyncio.get_running_loop().time()
        if isinstance(line, TooLong):
            why = f"a line may have {self._settings.max_line} bytes"
            self.send(encode_error(None, ProtocolError(INVALID_REQUEST, "Line too long", why)))
            return
        line = bytes(line).strip()
        if not line:
            return
        if self._payloads is not None:
            self._payloads.heard(line)
        message = self._edge.decode(line)
        if isinstance(message, list):
            self._start(self._batch(message))
        else:
            self._dispatch(message)

    def _dispatch(self, message: Message) -> None:
        if isinstance(message, RpcRequest):
            self._request(message)
        elif isinstance(message, Notification):
            self._notification(message)
        elif isinstance(message, RpcResponse):
            self._session.settle(message)
        else:
            self.send(encode_error(message.id, message.error))

    def _request(self, request: RpcRequest) -> None:
        if request.id in self._modern:
            error = ProtocolError(INVALID_REQUEST, "This id is already in use")
            self.send(encode_error(request.id, error))
        elif self._is_modern(request):
            task = self._modern[request.id] = self._start(self._answer_modern(request))
            if request.method == _LISTEN:
                self._listeners.add(task)
                task.add_done_callback(self._listeners.discard)
        else:
            self._start(self._answer_on_session(request))

    def _is_modern(self, request: RpcRequest) -> bool:
        """Body first: the envelope decides; without one, a method that only modern clients have."""
        if "_meta" in request.params and is_modern(request.params):
            return True
        return request.method == "server/discover" and not self._session.is_greeted

    async def _answer_modern(self, request: RpcRequest) -> None:
        try:
            answer = await self._modern_answer(request)
        except asyncio.CancelledError:
            if self._modern.get(request.id) is not asyncio.current_task():
                return  # its client cancelled it: it gets no answer
            answer = _last_word(request)
        finally:
            if self._modern.get(request.id) is asyncio.current_task():
                del self._modern[request.id]
        self.send(answer)

    async def _modern_answer(self, request: RpcRequest) -> bytes:
        revision = None
        try:
            envelope = open_envelope(request.params)
            revision = envelope.revision
            call = modern_call(request, envelope, revision, self._caller)
            result = await answer_modern_noted(self._edge, call, self.send)
            return encode(self._edge, call, result)
        except Exception as raised:
            error = raised if isinstance(raised, ProtocolError) else bug(request.method)
            return encode_error(request.id, shape_error(error, revision) if revision else error)

    async def _answer_on_session(self, request: RpcRequest) -> None:
        if not self._session.is_greeted and request.method not in _KNOWN_METHODS:
            error = ProtocolError(METHOD_NOT_FOUND, "Method not found", shown(request.method))
            self.send(encode_error(request.id, error))
            return
        answer = await self._session.answer(request)
        if answer is not None:
            self.send(answer)
        if request.method == "exit" and self._session.is_ending:
            self.stop()
        elif request.method == "shutdown" and self._session.is_ending:
            asyncio.get_running_loop().call_later(self._settings.grace, self._stop_at_once)

    def _stop_at_once(self) -> None:
        """The client said `shutdown` and nothing since: what still runs has had its time."""
        self._enter(StdioState.HURRYING)

    def _notification(self, notification: Notification) -> None:
        if notification.method == "notifications/cancelled":
            self._cancel(notification.params)
            return
        if notification.method == "exit" and self._session.is_ending:
            self.stop()
            return
        self._start(self._session.hear(notification))

    def _cancel(self, params: JsonObject) -> None:
        request_id: Json = params.get("requestId")
        task = self._modern.pop(request_id, None) if is_request_id(request_id) else None
        if task is not None:
            task.cancel(reason_in(params))
        else:
            # Not at once: the requests that came in the same read must have begun.
            asyncio.get_running_loop().call_soon(self._session.cancel, params)

    async def _batch(self, messages: list[Message]) -> None:
        """One array in, one array out, if the revision has batches."""
        session = self._session
        if not session.is_greeted or not (session.revision.batches or self._edge.batches):
            why = (
                f"Batch arrays are not allowed for protocol {session.revision}"
                if session.is_greeted
                else "Batch arrays are not allowed before initialize"
            )
            self.send(encode_error(None, ProtocolError(INVALID_REQUEST, "Invalid Request", why)))
            return
        answers = await answer_batch(self._session, messages)
        if answers:
            self.send(encode_batch(answers))

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.error("a request task failed", exc_info=task.exception())

    def _watchers(self) -> Iterator[Coroutine[Any, Any, None]]:
        if self._settings.idle_timeout:
            timeout, is_busy = self._settings.idle_timeout, self._tasks.__len__
            yield self._stop_after(partial(until_idle, timeout, lambda: self._last_heard, is_busy))
        if self._settings.orphan_check:
            yield self._stop_after(partial(until_orphaned, self._settings.orphan_check))

    async def _stop_after(self, reason: Callable[[], Awaitable[None]]) -> None:
        await reason()
        self.stop()

    def _lost(self) -> None:
        self._enter(StdioState.CUT_OFF)

    async def _finish(self) -> None:
        if self._has_reader():
            if not self._stopped.is_set():
                await self._see_through()
            elif self._tasks and self._state is StdioState.STOPPING:
                await asyncio.wait(tuple(self._tasks), timeout=self._settings.grace)
        if self._tasks and self._has_reader():
            await self._say_that_we_end()
        self._session.close()
        running = tuple(self._tasks)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await self._writer.drain(self._settings.grace)

    def _has_reader(self) -> bool:
        return self._state is not StdioState.CUT_OFF and has_reader(self._settings.stdout)

    async def _see_through(self) -> None:
        """The input has ended: answer what it asked for, within the limits of each call."""
        self._session.hear_no_more()
        for task in self._listeners:
            task.cancel()
        stop = asyncio.create_task(self._stopped.wait())
        clock = asyncio.get_running_loop().time
        until = clock() + self._settings.patience
        while self._has_reader() and not stop.done() and clock() < until:
            if self._tasks:
                tasks = {*self._tasks, stop}
                await asyncio.wait(tasks, timeout=LOOK, return_when=asyncio.FIRST_COMPLETED)
            elif not await self._writer.drain(LOOK):
                break
        stop.cancel()

    async def _say_that_we_end(self) -> None:
        """Tell whoever waits for a result that there will be none."""
        await asyncio.sleep(0)  # so that a request that has just been read is under way
        self._session.close(_LAST_WORD)
        for task in tuple(self._modern.values()):
            task.cancel()
        if self._tasks:
            await asyncio.wait(tuple(self._tasks), timeout=LAST_WORDS)


def _last_word(request: RpcRequest) -> bytes:
    if request.method == _LISTEN:
        result = {"resultType": "complete", "_meta": {SUBSCRIPTION_ID: request.id}}
        return encode_result(request.id, result)
    return encode_error(request.id, _LAST_WORD)
