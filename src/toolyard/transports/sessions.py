"""A handshake session: one client, from before its `initialize` until it is gone.

A session knows no transport. Whoever owns it (stdio, an HTTP session) passes on what the client
sends: requests to `answer`, notifications to `hear`, responses to `settle`. What the session has
to say goes out through an Outlet.

    NEW       Nothing is settled. `initialize` and `ping` are answered, everything else is refused.
                -> GREETED   `initialize`, here or before the session was made
                -> ENDING    `shutdown`, as from every state but the last
    GREETED   The revision and what the client can do are settled, for good. As before, but a
              second `initialize` is refused.
                -> READY     `notifications/initialized`
    READY     Every method of the revision goes to the handler, and news to the client.
    ENDING    The client has asked us to end, which it may if it started us (stdio). Running calls
              go on; new requests are refused, except `shutdown` and `exit`.
    CLOSED    `close` was called, from any state: the client is gone, or we go. Calls are
              cancelled, open questions fail, and whoever registered with `on_close` is told.

Meanwhile requests pass in both directions, independently of each other:

* Those of the client are tasks in `_inflight`. A task ends with its answer; cancelled by the
  client it ends without one; cancelled by `close` it ends with the last word, if there is one.
* Ours to the client are futures in `_pending`, which `settle` completes. A client that has ended
  its input but still reads (`hear_no_more`) gets its answers and is asked nothing more.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from enum import Enum, auto
from typing import NamedTuple, Protocol, TypeAlias

from toolyard.errors import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    SHUTTING_DOWN,
    ProtocolError,
    ToolError,
    shown,
)
from toolyard.protocol.asking.asked import fitting_answer
from toolyard.protocol.asking.putting import fit_all, refuse_unaskable
from toolyard.protocol.call import Call, Caller, Client, Json, JsonObject, Result
from toolyard.protocol.cancelling import reason_in, reason_of
from toolyard.protocol.client import UNKNOWN
from toolyard.protocol.eras.handshake import Answered, gate, greet, log_level
from toolyard.protocol.jsonrpc import (
    Notification,
    RequestId,
    RpcRequest,
    RpcResponse,
    encode_error,
    encode_notification,
    encode_request,
    encode_result,
    is_request_id,
)
from toolyard.protocol.revisions import LATEST_HANDSHAKE, Revision
from toolyard.protocol.shape import shape_error
from toolyard.telemetry import logger
from toolyard.transports.answer import Edge, bug, encode, handle, in_rounds, noted
from toolyard.transports.channels import SessionChannel, Wire

log = logger("transports")
_ENDS_PROCESS = frozenset({"shutdown", "exit"})
_NONE: frozenset[str] = frozenset()


class Outlet(Protocol):
    """Where a session's messages go."""

    def send(self, message: bytes, related: RequestId | None) -> None:
        """Send a message; `related` names the request that it belongs to."""

    def end(self, related: RequestId) -> None:
        """Close the stream of a request early; its client polls for the rest."""


class HandshakeState(Enum):
    """See the head of this module."""

    NEW = auto()
    GREETED = auto()
    READY = auto()
    ENDING = auto()
    CLOSED = auto()


_BEFORE_READY = (HandshakeState.NEW, HandshakeState.GREETED)
_UNHEARD = (*_BEFORE_READY, HandshakeState.CLOSED)


class Agreement(NamedTuple):
    """What `initialize` settles."""

    revision: Revision
    client: Client

    @classmethod
    def made(cls, early: Answered) -> Agreement | None:
        """The one that was made before the session; None if there was none."""
        if early.revision is None or early.client is None:
            return None
        return cls(early.revision, early.client)


# What holds until then.
_UNSETTLED = Agreement(LATEST_HANDSHAKE, UNKNOWN)


class HandshakeSession:
    """One client of a handshake revision: what is settled with it, and what runs for it."""

    def __init__(
        self,
        edge: Edge,
        key: str,
        caller: Caller,
        outlet: Outlet,
        *,
        owns_process: bool = False,
        agreement: Agreement | None = None,
    ) -> None:
        """`owns_process`: it may end our program. `agreement`: it was greeted before."""
        self._loop = asyncio.get_running_loop()
        self._edge = edge
        self._owns_process = owns_process
        self.key = key
        self._outlet = outlet
        self.caller = caller
        self._agreement = agreement or _UNSETTLED
        self._state = HandshakeState.NEW if agreement is None else HandshakeState.GREETED
        # The methods that go straight to the handler; none before the client is ready.
        self._open: frozenset[str] = _NONE
        self.level = edge.log_level
        # The query of the address that the client uses; None if it has none.
        self.address: Mapping[str, str] | None = None
        self._inflight: dict[RequestId, asyncio.Task[object]] = {}
        self._cancelled: set[asyncio.Task[object]] = set()
        self._pending: dict[RequestId, asyncio.Future[Json]] = {}
        self._next_id = 0
        self._silent = False  # the client has ended its input
        self._last_word: ProtocolError | None = None
        self._closers: list[Callable[[], None]] = []

    @property
    def revision(self) -> Revision:
        return self._agreement.revision

    def _enter(self, state: HandshakeState) -> None:
        if not self.is_closed:
            self._state = state

    @property
    def is_greeted(self) -> bool:
        return self._agreement is not _UNSETTLED

    @property
    def is_ending(self) -> bool:
        return self._state is HandshakeState.ENDING

    @property
    def is_closed(self) -> bool:
        return self._state is HandshakeState.CLOSED

    async def answer(self, request: RpcRequest) -> bytes | None:
        """The answer to a request; None if it was cancelled, or nobody is there to hear it."""
        if request.id in self._inflight:
            return encode_error(
                request.id, ProtocolError(INVALID_REQUEST, "This id is already in use")
            )
        task = asyncio.current_task(self._loop)
        assert task is not None
        self._inflight[request.id] = task
        try:
            result = None if request.method in self._open else await self._own_answer(request)
            if result is not None:
                return encode_result(request.id, result)
            call = self._call(request)
            return encode(
                self._edge, call, await in_rounds(self._edge, call, SessionChannel(call, self))
            )
        except Exception as raised:
            error = raised if isinstance(raised, ProtocolError) else bug(request.method)
            return encode_error(request.id, shape_error(error, self.revision))
        except asyncio.CancelledError:
            if task not in self._cancelled:
                raise
            task.uncancel()
            last_word = self._last_word if self._inflight.get(request.id) is task else None
            return encode_error(request.id, last_word) if last_word is not None else None
        finally:
            if self._inflight.get(request.id) is task:
                del self._inflight[request.id]
            self._cancelled.discard(task)

    async def _own_answer(self, request: RpcRequest) -> Result | None:
        """The result of a method that concerns the session alone; None for all other methods."""
        handler = self._own_handler(request)
        if handler is None:
            return None
        if self._edge.observe is None and self._edge.note is None:
            return handler(self, request.params)

        async def answer(_edge: Edge, _call: Call, session: HandshakeSession) -> JsonObject:
            return handler(session, request.params)

        return await noted(self._edge, self._call(request), self, answer, self)

    def _own_handler(self, request: RpcRequest) -> OwnHandler | None:
        in_revision = request.method in self.revision.methods
        if not in_revision or (request.method in _ENDS_PROCESS and not self._owns_process):
            raise ProtocolError(METHOD_NOT_FOUND, "Method not found", shown(request.method))
        if self.is_ending and request.method not in _ENDS_PROCESS:
            raise ProtocolError(SHUTTING_DOWN, "Server shutting down")
        gate(request.method, initialized=self._state not in _BEFORE_READY)
        return _OWN.get(request.method)

    def _initialize(self, params: JsonObject) -> JsonObject:
        if self.is_greeted:
            raise ProtocolError(INVALID_REQUEST, "Server already initialized")
        identity = self._edge.identity_for(self.caller)
        greeting = greet(identity, params, self._edge.manner)
        self._agreement = Agreement(greeting.revision, greeting.client)
        self._enter(HandshakeState.GREETED)
        return greeting.result

    def _ping(self, _params: JsonObject) -> JsonObject:
        return {}

    def _set_level(self, params: JsonObject) -> JsonObject:
        self.level = log_level(params, self._edge.manner)
        return {}

    def _shutdown(self, _params: JsonObject) -> JsonObject:
        self._enter(HandshakeState.ENDING)
        self._open = _NONE
        return {}

    def _exit(self, _params: JsonObject) -> JsonObject:
        if not self.is_ending:
            raise ProtocolError(-32005, "Shutdown not requested")
        return {}

    def _call(self, request: RpcRequest) -> Call:
        request_id, method, params = request
        meta = None
        if "_meta" in params:
            meta = params["_meta"]
            params = {key: value for key, value in params.items() if key != "_meta"}
        return Call(
            method,
            params,
            self._agreement.revision,
            self._agreement.client,
            self.caller,
            meta if isinstance(meta, dict) else {},
            log_level=self.level,
            id=request_id,
            address=self.address,
        )

    def wire(self, call: Call) -> Wire:
        return Wire(
            send=lambda message: self._outlet.send(message, call.id),
            revision=call.revision,
            token=call.meta.get("progressToken"),
            level=lambda: self.level,
            end=lambda: self._outlet.end(call.id) if call.id is not None else None,
        )

    async def hear(self, notification: Notification) -> None:
        """A notification from the client. Unknown ones are ignored, as JSON-RPC asks."""
        if notification.method == "notifications/cancelled":
            self.cancel(notification.params)
            return
        if notification.method == "notifications/initialized":
            if self._state is not HandshakeState.GREETED:
                return
            self._enter(HandshakeState.READY)
            self._open = self.revision.methods - _OWN.keys()
        call = self._call(RpcRequest("", notification.method, notification.params))
        try:
            await handle(self._edge, call, SessionChannel(call, self))
        except ProtocolError as error:
            log.debug("notification %s: %s", notification.method, error)

    def cancel(self, params: JsonObject) -> None:
        """The client has cancelled a request: stop it, and send no answer."""
        request_id: Json = params.get("requestId")
        task = self._inflight.pop(request_id, None) if is_request_id(request_id) else None
        if task is not None:
            self._cancelled.add(task)
            task.cancel(reason_in(params))

    def settle(self, response: RpcResponse) -> None:
        """The client's answer to something that we asked."""
        future = self._pending.get(response.id) if response.id is not None else None
        if future is None or future.done():
            return
        if response.error is None:
            future.set_result(response.result)
            return
        error = response.error
        code = error.get("code")
        code = code if type(code) is int else INTERNAL_ERROR
        future.set_exception(ProtocolError(code, str(error.get("message", "")), error.get("data")))

    def notify(self, method: str, params: JsonObject) -> None:
        if self._state not in _UNHEARD and self.revision.may_hear(method):
            self._outlet.send(encode_notification(method, params), None)

    def send(self, message: bytes) -> None:
        if not self.is_closed:
            self._outlet.send(message, None)

    def log(self, level: str, data: Json, logger: str) -> None:
        Wire(self.send, self.revision, level=lambda: self.level).log(level, data, logger)

    async def ask(self, method: str, params: JsonObject, timeout: float) -> Json:
        question: JsonObject = {"method": method, "params": params}
        refuse_unaskable({"": question}, self._agreement.client, self.revision)
        rendition = fit_all({"": question}, self.revision)[""]

        async def put(current: JsonObject) -> Json:
            params = rendition.params if current is question else rendition.saying(current)
            return rendition.answer(await self.request(method, params, None, timeout))

        return await fitting_answer(question, put)

    async def request(
        self, method: str, params: JsonObject | None, related: RequestId | None, timeout: float
    ) -> Json:
        """Send a request to the client and wait for its answer."""
        if self._silent:
            raise ToolError("the client has ended its input: it cannot answer")
        self._next_id += 1
        request_id = self._next_id
        answer: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._pending[request_id] = answer
        self._outlet.send(encode_request(request_id, method, params), related)
        try:
            async with asyncio.timeout(timeout):
                return await answer
        except (TimeoutError, asyncio.CancelledError) as ended:
            params = {"requestId": request_id, "reason": reason_of(ended, "no longer needed")}
            self._outlet.send(encode_notification("notifications/cancelled", params), related)
            raise
        finally:
            del self._pending[request_id]

    def ask_from(self, count: int) -> None:
        """Our questions have higher ids: another process may have used those up to there."""
        self._next_id = count

    def on_close(self, callback: Callable[[], None]) -> None:
        self._closers.append(callback)

    @property
    def busy(self) -> bool:
        return bool(self._inflight)

    def hear_no_more(self) -> None:
        """The client has ended its input, but still reads."""
        self._silent = True
        self._fail_pending("the client has ended its input: it cannot answer")

    def close(self, last_word: ProtocolError | None = None) -> None:
        """The client is gone: nobody waits for its calls, its answers or its news.

        If it is still there and we are the ones who go, every call ends with the last word.
        """
        self._last_word = last_word
        closers, self._closers = self._closers, []
        for callback in closers:
            callback()
        self._state = HandshakeState.CLOSED
        for task in tuple(self._inflight.values()):
            self._cancelled.add(task)
            task.cancel()
        self._fail_pending("the client is gone")

    def _fail_pending(self, why: str) -> None:
        for future in tuple(self._pending.values()):
            if not future.done():
                future.set_exception(ToolError(why))


OwnHandler: TypeAlias = Callable[[HandshakeSession, JsonObject], JsonObject]
_OWN: Mapping[str, OwnHandler] = {
    "initialize": HandshakeSession._initialize,
    "ping": HandshakeSession._ping,
    "logging/setLevel": HandshakeSession._set_level,
    "shutdown": HandshakeSession._shutdown,
    "exit": HandshakeSession._exit,
}
