"""MCP over stdin and stdout: a line a message, a task a request, both eras on one connection."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from toolyard.errors import (
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    ProtocolError,
    shown,
)
from toolyard.protocol.call import Caller, Client, Json
from toolyard.protocol.jsonrpc import (
    Message,
    Notification,
    Request,
    RequestId,
    Response,
    encode_batch,
    encode_error,
    is_request_id,
)
from toolyard.protocol.modern import is_modern, open_envelope
from toolyard.protocol.revisions import ALL, Revision
from toolyard.protocol.shape import shape_error
from toolyard.telemetry import logger
from toolyard.transports.answer import Edge, answer_modern, encode, modern_call
from toolyard.transports.channels import Wire
from toolyard.transports.lines import CHUNK, LineSplitter, LineWriter, TooLong, can_poll, has_reader
from toolyard.transports.sessions import HandshakeSession, answer_batch

if TYPE_CHECKING:
    from toolyard.transports.payloads import PayloadLog

log = logger("stdio")
_KNOWN_METHODS = frozenset[str]().union(*(revision.methods for revision in ALL.values()))


@dataclass(frozen=True, slots=True)
class Answered:
    """What was read and answered before the loop ran, so that the client did not wait."""

    rest: bytes = b""
    revision: Revision | None = None
    client: Client | None = None
    # The client has said `notifications/initialized`.
    ready: bool = False


@dataclass(frozen=True, slots=True)
class StdioSettings:
    stdin: int = 0
    stdout: int = 1
    max_line: int = 16 * 1024 * 1024
    # How long running calls may go on after the input has ended.
    grace: float = 5.0
    idle_timeout: float | None = None
    orphan_check: float | None = None


class StdioTransport:
    def __init__(self, edge: Edge, settings: StdioSettings, answered: Answered) -> None:
        self._edge = edge
        self._settings = settings
        self._ended = asyncio.Event()
        self._broken = False
        self._hurried = False
        self._splitter = LineSplitter(settings.max_line)
        self._writer = LineWriter(settings.stdout, self._lost)
        self._tasks: set[asyncio.Task[None]] = set()
        self._modern: dict[RequestId, asyncio.Task[None]] = {}
        self._caller = Caller()
        self._session = HandshakeSession(edge, "stdio", self._caller, self, owns_process=True)
        self._last_heard = 0.0
        if answered.revision is not None and answered.client is not None:
            self._session.adopt(answered.revision, answered.client)
        self._first = answered
        self.payloads: PayloadLog | None = None

    # What a session needs of its transport.
    def send(self, message: bytes, _related: RequestId | None = None) -> None:
        if self.payloads is not None:
            self.payloads.said(message)
        self._writer.write(message)

    def end(self, _related: RequestId) -> None:
        """There is one stream only, and it stays."""

    async def serve(self) -> None:
        """Answer until the input ends, the client is gone or we are told to stop."""
        loop = asyncio.get_running_loop()
        self._last_heard = loop.time()
        if self._first.ready:
            self._start(self._session.hear(Notification("notifications/initialized", {})))
        self._take(self._first.rest)
        watchers = [loop.create_task(watch) for watch in self._watchers()]
        try:
            if can_poll(self._settings.stdin) or os.isatty(self._settings.stdin):
                loop.add_reader(self._settings.stdin, self._readable)
                await self._ended.wait()
                loop.remove_reader(self._settings.stdin)
            else:
                await self._read_file()
        finally:
            for watcher in watchers:
                watcher.cancel()
            await self._finish()

    def stop(self) -> None:
        self._ended.set()

    def _readable(self) -> None:
        chunk = os.read(self._settings.stdin, CHUNK)
        if chunk:
            self._take(chunk)
            return
        self._end_of_input()

    def _end_of_input(self) -> None:
        for line in self._splitter.flush():
            self._line(line)
        self._ended.set()

    async def _read_file(self) -> None:
        while chunk := os.read(self._settings.stdin, CHUNK):
            self._take(chunk)
            await asyncio.sleep(0)
        self._end_of_input()

    def _take(self, chunk: bytes) -> None:
        for line in self._splitter.feed(chunk):
            self._line(line)

    def _line(self, line: bytes | TooLong) -> None:
        self._last_heard = asyncio.get_running_loop().time()
        if isinstance(line, TooLong):
            why = f"a line may have {self._settings.max_line} bytes"
            self.send(encode_error(None, ProtocolError(INVALID_REQUEST, "Line too long", why)))
            return
        line = line.strip()
        if not line:
            return
        if self.payloads is not None:
            self.payloads.heard(line)
        message = self._edge.decode(line)
        if isinstance(message, list):
            self._start(self._batch(message))
        else:
            self._dispatch(message)

    def _dispatch(self, message: Message) -> None:
        if isinstance(message, Request):
            self._request(message)
        elif isinstance(message, Notification):
            self._notification(message)
        elif isinstance(message, Response):
            self._session.settle(message)
        else:
            self.send(encode_error(message.id, message.error))

    def _request(self, request: Request) -> None:
        if request.id in self._modern:
            error = ProtocolError(INVALID_REQUEST, "This id is already in use")
            self.send(encode_error(request.id, error))
        elif self._is_modern(request):
            self._modern[request.id] = self._start(self._answer_modern(request))
        else:
            self._start(self._answer_on_session(request))

    def _is_modern(self, request: Request) -> bool:
        """Body first: the envelope decides; without one, a method that only modern clients have."""
        if is_modern(request.params):
            return True
        return request.method == "server/discover" and not self._session.greeted.done

    async def _answer_modern(self, request: Request) -> None:
        try:
            answer = await self._modern_answer(request)
        except asyncio.CancelledError:
            return  # given up by its client, or by our end: nothing more is said about it
        finally:
            if self._modern.get(request.id) is asyncio.current_task():
                del self._modern[request.id]
        self.send(answer)

    async def _modern_answer(self, request: Request) -> bytes:
        revision = None
        try:
            envelope = open_envelope(request.params)
            revision = envelope.revision
            call = modern_call(request, envelope, self._caller)
            wire = Wire(
                self.send, revision, envelope.meta.get("progressToken"), lambda: envelope.level
            )
            return encode(self._edge, call, await answer_modern(self._edge, call, wire))
        except ProtocolError as error:
            return encode_error(request.id, shape_error(error, revision) if revision else error)

    async def _answer_on_session(self, request: Request) -> None:
        if not self._session.greeted.done and request.method not in _KNOWN_METHODS:
            error = ProtocolError(METHOD_NOT_FOUND, "Method not found", shown(request.method))
            self.send(encode_error(request.id, error))
            return
        answer = await self._session.answer(request)
        if answer is not None:
            self.send(answer)
        if request.method == "exit" and self._session.greeted.shutting_down:
            self.stop()
        elif request.method == "shutdown" and self._session.greeted.shutting_down:
            asyncio.get_running_loop().call_later(self._settings.grace, self._stop_at_once)

    def _stop_at_once(self) -> None:
        """The client said `shutdown` and then nothing: what still runs had its time."""
        self._hurried = True
        self.stop()

    def _notification(self, notification: Notification) -> None:
        if notification.method == "notifications/cancelled":
            self._cancel(notification.params.get("requestId"))
            return
        if notification.method == "exit" and self._session.greeted.shutting_down:
            self.stop()
            return
        self._start(self._session.hear(notification))

    def _cancel(self, request_id: Json) -> None:
        task = self._modern.pop(request_id, None) if is_request_id(request_id) else None
        if task is not None:
            task.cancel()
        else:
            self._session.cancel(request_id)

    async def _batch(self, messages: list[Message]) -> None:
        """One array in, one array out, where the revision has batches."""
        greeted = self._session.greeted
        if not greeted.done or not (greeted.revision.batches or self._edge.batches):
            why = (
                f"Batch arrays are not allowed for protocol {greeted.revision}"
                if greeted.done
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
            yield self._leave_when_idle(self._settings.idle_timeout)
        if self._settings.orphan_check:
            yield self._leave_when_orphaned(self._settings.orphan_check)

    async def _leave_when_idle(self, timeout: float) -> None:
        loop = asyncio.get_running_loop()
        while (left := self._last_heard + timeout - loop.time()) > 0 or self._tasks:
            await asyncio.sleep(max(left, 0.05))
        log.info("nothing was heard for %g s: leaving", timeout)
        self.stop()

    async def _leave_when_orphaned(self, interval: float) -> None:
        parent = os.getppid()
        while os.getppid() == parent:
            await asyncio.sleep(interval)
        log.info("the parent process is gone: leaving")
        self.stop()

    def _lost(self) -> None:
        """Nobody reads our answers any more."""
        self._broken = True
        self._ended.set()

    async def _finish(self) -> None:
        waits = not (self._broken or self._hurried) and has_reader(self._settings.stdout)
        if self._tasks and waits:
            await asyncio.wait(tuple(self._tasks), timeout=self._settings.grace)
        self._session.close()
        running = tuple(self._tasks)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await self._writer.drain(self._settings.grace)
