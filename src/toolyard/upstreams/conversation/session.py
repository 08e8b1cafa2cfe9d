"""A conversation with one upstream after the greeting: requests out, everything else in.

Knows the upstream's revision and no transport.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from time import perf_counter
from typing import Any

from toolyard.errors import INTERNAL_ERROR, METHOD_NOT_FOUND, ProtocolError, ToolError
from toolyard.processes.pacing import Pace
from toolyard.protocol.asking.fitting import fit_answer
from toolyard.protocol.call import Json, JsonObject
from toolyard.protocol.cancelling import reason_in, reason_of
from toolyard.protocol.client import CAPABILITY, ROOTS
from toolyard.protocol.eras.keys import CAPABILITIES
from toolyard.telemetry import logger
from toolyard.upstreams.background import Background
from toolyard.upstreams.conversation.carrier import Carrier
from toolyard.upstreams.conversation.envelope import (
    error_object,
    protocol_error,
    related_in,
    result_of,
    seal,
    unstamped,
    whole,
    without_token,
)
from toolyard.upstreams.conversation.intake import RootsIntake
from toolyard.upstreams.conversation.levels import LogLevel
from toolyard.upstreams.conversation.observing import UNWATCHED, Watch, noted
from toolyard.upstreams.conversation.peer import Peer
from toolyard.upstreams.conversation.running import (
    Deadlines,
    Limits,
    Owner,
    Running,
    latest_of_one_client,
)
from toolyard.upstreams.link.link import NO_HEADERS, Link, LinkError, Outgoing, Refusal, TimedOut

log = logger("upstreams")

NOBODY = Owner({}, shared=True)
# Questions that are open at the same time; those beyond are not answered.
MOST_QUESTIONS = 100
# How long closing waits for cancellations that are still on their way out.
FAREWELL = 2.0


class UpstreamSession:
    """The conversation over one link: our requests, its questions, what either side announces.

    `owner` is the client that it is for. Until the greeting has set `peer`, only `greet` may be
    used.
    """

    def __init__(
        self,
        server: str,
        link: Link,
        *,
        limits: Limits,
        owner: Owner = NOBODY,
        on_notification: Callable[[str, JsonObject], None] = lambda method, params: None,
        watch: Watch = UNWATCHED,
    ) -> None:
        self.server = server
        self.link = link
        self.party = (link.transport, server, link.address or server)
        self.limits, self.owner = limits, owner
        self.peer = Peer()
        self.takes_tasks = False
        self.on_notification = on_notification
        self._observe, self._note = watch.observe, watch.note_of(self)
        self._ids = itertools.count(1)
        self._running: dict[int, Running] = {}
        self._deadlines = Deadlines(limits.longest)
        self._questions: dict[str, asyncio.Task[None]] = {}
        self._listens: dict[int, asyncio.Future[JsonObject]] = {}
        self._background = Background()
        self._stray = Pace(limits.message_rate)  # what it logs outside of calls
        # Cancellations that are on their way out.
        self._farewells: set[asyncio.Task[None]] = set()
        self._log_level = LogLevel()
        self.carrier = Carrier(owner.borrower)
        self.roots = RootsIntake(self._background)
        self._on_lost: Callable[[LinkError], None] | None = None

    def meet(self, peer: Peer) -> None:
        """The greeting is over: this is who is at the other end."""
        self.peer = peer
        self.takes_tasks = peer.takes_tasks

    @property
    def modern(self) -> bool:
        return self.peer.revision.modern

    @property
    def busy(self) -> bool:
        return bool(self._running or self._questions)

    # -- requests ----------------------------------------------------------------------

    def request(
        self,
        method: str,
        params: JsonObject,
        running: Running | None = None,
        *,
        headers: Mapping[str, str] = NO_HEADERS,
        timeout: float | None = None,
    ) -> Coroutine[Any, Any, JsonObject]:
        """The result. Raises ProtocolError for the upstream's error, else a LinkError."""
        out, limit = self._outgoing(method, params, running, headers), timeout or self.limits.call
        if self._observe is None:
            return self._exchange(out, running, limit)
        return self._observe(self, self._exchange, out, running, limit)

    def request_as(
        self, capabilities: JsonObject, method: str, params: JsonObject
    ) -> Coroutine[Any, Any, JsonObject]:
        """The same for a client that can do this: modern upstreams hear it with each request."""
        out = self._outgoing(method, params, None, NO_HEADERS)
        if self.modern and capabilities:
            meta = {**out.params["_meta"], CAPABILITIES: capabilities}
            out = out._replace(params={**out.params, "_meta": meta})
        if self._observe is None:
            return self._exchange(out, None, self.limits.call)
        return self._observe(self, self._exchange, out, None, self.limits.call)

    async def greet(self, method: str, params: JsonObject, version: str | None) -> JsonObject:
        """A request before a revision is settled, never cancelled. Modern ones name a `version`."""
        out = Outgoing(next(self._ids), method, params, version, modern=version is not None)
        if self._observe is None:
            return await self._greet(out)
        return await self._observe(self, self._greet, out, None, None)

    async def _greet(
        self, out: Outgoing, _running: Running | None = None, _limit: float | None = None
    ) -> JsonObject:
        try:
            return await noted(self, out, self._note)
        except asyncio.CancelledError:
            self.link.forget(out.id)
            raise

    async def listen(self, filters: JsonObject) -> None:
        """`subscriptions/listen`: returns when the upstream ends it, and not before."""
        out = self._outgoing("subscriptions/listen", {"notifications": filters}, None, NO_HEADERS)
        send = partial(self._observe, self, self._exchange) if self._observe else self._exchange
        exchange = asyncio.ensure_future(send(out, None, None))
        self._listens[out.id] = exchange
        try:
            await exchange
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
        finally:
            del self._listens[out.id]

    def _outgoing(
        self, method: str, params: JsonObject, running: Running | None, headers: Mapping[str, str]
    ) -> Outgoing:
        request_id, revision = next(self._ids), self.peer.revision
        call, tasks = (running.call, running.tasks) if running is not None else (None, False)
        params = seal(params, revision, call, tasks=tasks)
        if running is not None and running.token is not None:
            # Our own token, because two clients may have chosen the same.
            meta = {**params.get("_meta", {}), "progressToken": request_id}
            params = {**params, "_meta": meta}
        return Outgoing(request_id, method, params, revision.date, revision.modern, headers)

    async def _exchange(
        self, out: Outgoing, running: Running | None, timeout: float | None
    ) -> JsonObject:
        start = perf_counter() if self._note is not None else 0.0
        result: JsonObject | None = None
        deadline = self._deadlines.start(timeout) if timeout is not None else None
        if running is not None:
            self._running[out.id] = running
            running.number = out.id
            running.deadline = deadline
            running.message_rate = self.limits.message_rate
        try:
            result = result_of(
                await self.link.exchange(out), tasks=running is not None and running.tasks
            )
        except Refusal as refusal:
            if refusal.error is None:
                raise
            raise protocol_error(refusal.error) from None
        except asyncio.CancelledError as cancellation:
            self.link.forget(out.id)
            if deadline is not None and deadline.caused():
                self._cancel(out, "timed out")
                raise TimedOut(f"did not answer {out.method} within {timeout:g} s") from None
            self._cancel(out, reason_of(cancellation, "the client cancelled the call"))
            raise
        finally:
            if deadline is not None:
                self._deadlines.stop(deadline)
            if running is not None:
                del self._running[out.id]
            if self._note is not None:
                self._note(out, result, start)
        return unstamped(result) if "_meta" in result else result

    def _cancel(self, out: Outgoing, reason: str) -> None:
        """Tell the upstream. Over modern HTTP the closed stream has said it already."""
        if self.link.lost is not None or (self.modern and self.link.transport != "stdio"):
            return
        params = {"requestId": out.id, "reason": reason}
        self._bid_farewell(self.notify("notifications/cancelled", params))

    def send_off(self, method: str, params: JsonObject, capabilities: JsonObject) -> None:
        """A last request for something that nobody waits for."""
        if self.link.lost is None:
            self._bid_farewell(self._sent_off(method, params, capabilities))

    def _bid_farewell(self, work: Coroutine[Any, Any, None]) -> None:
        task = self._background.start(work)
        self._farewells.add(task)
        task.add_done_callback(self._farewells.discard)

    async def _sent_off(self, method: str, params: JsonObject, capabilities: JsonObject) -> None:
        try:
            await self.request_as(capabilities, method, params)
        except (ProtocolError, LinkError) as error:
            log.debug("%s: %s: %s", self.server, method, error)

    def attend(self, running: Running) -> Callable[[], None]:
        """Go on hearing what it says of a request that it has answered; returns what ends that."""
        self._running[running.number] = running
        return partial(self._running.__delitem__, running.number)

    async def notify(self, method: str, params: JsonObject) -> None:
        message: JsonObject = {"jsonrpc": "2.0", "method": method}
        if params:
            message["params"] = params
        try:
            await self.link.send(message, self.peer.revision.date)
        except LinkError as error:
            log.debug("%s: %s was not delivered: %s", self.server, method, error)

    def logs_from(self, level: str) -> bool:
        levels = self._log_level
        return level in levels.enough or levels.suffices(level, settable=self.peer.has_levels)

    async def set_level(self, level: str) -> None:
        """Have a handshake-era upstream log from `level` on, for whoever asked for most."""
        self._log_level.lower_to(level)
        try:
            await self.request("logging/setLevel", {"level": level})
        except ProtocolError as error:
            log.debug("%s: logging/setLevel: %s", self.server, error)

    async def alive(self) -> bool:
        """Does it still answer anything?"""
        method = "server/discover" if self.modern else "ping"
        try:
            await self.request(method, {}, timeout=self.limits.probe)
        except ProtocolError:
            return True
        except LinkError:
            return False
        return True

    # -- what comes in unasked ---------------------------------------------------------

    def receive(self, message: JsonObject, request_id: int | None) -> None:
        method = message["method"]
        params = message.get("params")
        params = params if isinstance(params, dict) else {}
        if not isinstance(method, str):
            return
        if "id" in message and len(self._questions) >= MOST_QUESTIONS:
            log.warning("%s asks more than %d things at once", self.server, MOST_QUESTIONS)
        elif "id" in message:
            task = self._background.start(self._answer(message["id"], method, params, request_id))
            self._questions[repr(message["id"])] = task
            if method == ROOTS:
                self.roots.note(task)
        else:
            self._on_notification(method, params, request_id)

    def _on_notification(self, method: str, params: JsonObject, request_id: int | None) -> None:
        if method == "notifications/progress":
            running = self._running.get(whole(params.get("progressToken")))
            if running is not None and running.token is not None:
                running.progress(params)
        elif method == "notifications/message":
            self._on_message(params, request_id)
        elif method == "notifications/cancelled":
            self._on_cancelled(params)
        elif method == "notifications/elicitation/complete":
            self._tell_client(method, params, request_id)
        else:
            self.on_notification(method, params)

    def _on_cancelled(self, params: JsonObject) -> None:
        """It takes back a question, or ends a listen of ours."""
        request_id: Json = params.get("requestId")
        task = self._questions.get(repr(request_id)) or self._listens.get(whole(request_id))
        if task is not None:
            task.cancel(reason_in(params))

    def _on_message(self, params: JsonObject, request_id: int | None) -> None:
        running = self._meant(request_id)
        if running is not None:
            running.message(params)
        elif self.owner.session is not None:
            if self._stray.admits():
                self.owner.session.notify("notifications/message", params)
        else:
            log.debug("%s: %s", self.server, params.get("data"))

    def _tell_client(self, method: str, params: JsonObject, request_id: int | None) -> None:
        running = self._meant(request_id)
        if running is not None:
            running.channel.notify(method, params)
        elif self.owner.session is not None:
            self.owner.session.notify(method, params)

    def on_polling(self, request_id: int) -> None:
        """What it does to us we do to the client of the call, where that can be done."""
        running = self._running.get(request_id)
        if running is not None and not self.modern:
            running.channel.close_stream()

    def _meant(self, request_id: int | None) -> Running | None:
        if request_id is not None and request_id in self._running:
            return self._running[request_id]
        return latest_of_one_client(self._running.values())

    # -- questions ---------------------------------------------------------------------

    async def _answer(
        self, question_id: Json, method: str, params: JsonObject, request_id: int | None
    ) -> None:
        answer: JsonObject = {"jsonrpc": "2.0", "id": question_id}
        try:
            answer_of_client = await self._ask(method, params, request_id)
            answer["result"] = {
                **fit_answer(method, answer_of_client, self.peer.revision),
                **related_in(params),
            }
        except ProtocolError as error:
            answer["error"] = error_object(error)
        except ToolError as error:
            answer["error"] = {"code": INTERNAL_ERROR, "message": error.message}
        finally:
            self._questions.pop(repr(question_id), None)
        try:
            await self.link.send(answer, self.peer.revision.date)
        except LinkError as error:
            log.debug("%s: the answer to %s was not delivered: %s", self.server, method, error)

    async def _ask(self, method: str, params: JsonObject, request_id: int | None) -> Json:
        if method == "ping":
            return {}
        capability = CAPABILITY.get(method)
        if capability is None or capability not in self.owner.capabilities:
            raise ProtocolError(METHOD_NOT_FOUND, f"This client does not answer {method}")
        params = without_token(params)
        running = self._meant(request_id)
        if running is None:
            running = self.carrier.running
            self.roots.keeps = self.roots.keeps or method == ROOTS
        if running is not None:
            return await running.ask(method, params)
        if self.owner.session is not None:
            client, within = self.owner.session, self.limits.call
            return await self.carrier.ask(client, method, params, within)
        raise ProtocolError(METHOD_NOT_FOUND, f"No call is running that {method} could belong to")

    # -- the end -----------------------------------------------------------------------

    def when_lost(self, callback: Callable[[LinkError], None]) -> None:
        """Whoever opened it hears when it is lost; until then the greeting fails by itself."""
        self._on_lost = callback

    def on_lost(self, error: LinkError) -> None:
        if self._on_lost is not None:
            self._on_lost(error)

    async def close(self) -> None:
        if self._farewells and self.link.lost is None:
            # Otherwise it would go on working for nobody.
            await asyncio.wait(tuple(self._farewells), timeout=FAREWELL)
        await self._background.cancel()
        await self.link.close()
        self._deadlines.close()
