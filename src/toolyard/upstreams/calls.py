"""The calls to one upstream: which connection each takes, and when it is sent a second time.

A call is sent again at most once, and only where it provably has not run: it was never written,
or the upstream refused it before reading on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Protocol, runtime_checkable

from toolyard.errors import HEADER_MISMATCH, ProtocolError
from toolyard.protocol.call import Call, Caller, Channel, JsonObject
from toolyard.protocol.eras.headers import parameters
from toolyard.protocol.tasks.words import FORBIDDEN, OPTIONAL, REQUIRED, UPSTREAM, needs_tasks
from toolyard.upstreams.background import Background
from toolyard.upstreams.condition import Condition
from toolyard.upstreams.connections import Connections, Loan, client_of
from toolyard.upstreams.conversation.driving import UpstreamTask, drive
from toolyard.upstreams.conversation.roots import settle
from toolyard.upstreams.conversation.running import Running, TaskForm, passes_tasks_on
from toolyard.upstreams.conversation.session import UpstreamSession
from toolyard.upstreams.link.link import NO_HEADERS, Lost, NotSent, TimedOut
from toolyard.upstreams.lists.listings import Listings


@runtime_checkable
class TracedChannel(Protocol):
    """The channel of a task, which is told where its work goes on."""

    async def goes_on_at(self, upstream: JsonObject) -> None: ...


class Calls:
    """Performs calls over the connections of one upstream."""

    def __init__(self, connections: Connections, listings: Listings, condition: Condition) -> None:
        self._connections = connections
        self._listings = listings
        self._condition = condition
        self._checks = Background()
        self.count = 0

    def perform(
        self, method: str, params: JsonObject, call: Call, channel: Channel
    ) -> Awaitable[JsonObject]:
        """Raises ProtocolError for the upstream's own error, else a LinkError."""
        self.count += 1
        if self._condition.disabled is not None:
            self._condition.refuse_if_disabled()
        return self._attempt(method, params, Running(call, channel), again=True)

    async def _attempt(
        self, method: str, params: JsonObject, running: Running, *, again: bool
    ) -> JsonObject:
        call, loan, clean = running.call, None, False
        session = self._connections.at_hand(call) if running.form is None else None
        try:
            if session is None:
                running.form = running.form or self._form_needed(method, params, call)
                loan = await self._borrow(running)
                session = loan.session
            result = await self._send_as_it_takes_it(session, method, params, running)
            clean = True
            if self._condition.backoff.failures:
                self._condition.backoff.worked()
            return result
        except ProtocolError as error:
            clean = True
            if not (again and self._may_be_sent_again(error, session, running)):
                raise
        except NotSent as error:
            if session is not None:
                session.link.lose(error)
            if not again:
                raise
        except TimedOut:
            self._doubt(session)
            raise
        finally:
            if loan is not None:
                loan.release(clean)
        # Provably not written, or refused unread: a second attempt runs it once.
        return await self._attempt(method, params, running, again=False)

    def _send_as_it_takes_it(
        self, session: UpstreamSession, method: str, params: JsonObject, running: Running
    ) -> Awaitable[JsonObject]:
        """With the log level that is wanted, and as a task where it may be one."""
        level = running.call.log_level
        if level is not None and not session.logs_from(level):
            return self._send_at_level(level, session, method, params, running)
        if not running.tasks:
            if not session.takes_tasks or method != "tools/call":
                return self._send(session, method, params, running)
            support = self._listings.task_support(running.call.caller, params["name"])
            if support in (FORBIDDEN, OPTIONAL):  # and we have no task to make of it
                return self._send(session, method, params, running)
        return self._send_and_see_through(session, method, params, running)

    async def _send_at_level(
        self,
        level: str,
        session: UpstreamSession,
        method: str,
        params: JsonObject,
        running: Running,
    ) -> JsonObject:
        await session.set_level(level)
        return await self._send_as_it_takes_it(session, method, params, running)

    async def _send_and_see_through(
        self, session: UpstreamSession, method: str, params: JsonObject, running: Running
    ) -> JsonObject:
        """The result, be it at once or that of a task over there, whose end is waited for.

        Where the client can take a handle, it is for our caller to make one of it.
        """
        if session.takes_tasks:
            params = await self._as_task(params, running)
        result = await self._send(session, method, params, running)
        if not running.tasks:
            return result
        task = UpstreamTask.of(result, str(params.get("name")))
        if task is None:
            return result
        call = running.call
        if call.task is None and passes_tasks_on(call):
            return {**result, UPSTREAM: task.as_json()}
        if call.task is not None and isinstance(running.channel, TracedChannel):
            await running.channel.goes_on_at(task.as_json())
        return await drive(session, task, running)

    async def resume(self, task: JsonObject, call: Call, channel: Channel) -> JsonObject:
        """Wait for a task that was begun before. Raises as `perform` does."""
        self._condition.refuse_if_disabled()
        running, begun = Running(call, channel), UpstreamTask(**task)
        running.form = "core" if begun.core else "extension"
        loan = await self._borrow(running)
        try:
            return await drive(loan.session, begun, running)
        finally:
            loan.release(True)

    def _form_needed(self, method: str, params: JsonObject, call: Call) -> TaskForm | None:
        """For a tool that runs as a task only, and a client whose own revision has none."""
        if method != "tools/call" or call.revision.tasks != "none":
            return None
        support = self._listings.task_support(call.caller, params["name"])
        return "core" if support == REQUIRED else None

    async def _borrow(self, running: Running) -> Loan:
        loan = await self._connections.lend(running)
        session = loan.session
        try:
            roots = session.roots
            if roots.pending and roots.settling is None and not session.carrier.tried:
                settle(session)  # this call may be the first that can carry the question
            if roots.settling is not None:
                session.carrier.lend(running)
                await asyncio.shield(roots.settling)
        except BaseException:
            loan.release(False)
            raise
        finally:
            if session.owner.session is not None:
                session.carrier.lend(None)  # from now on it is asked itself
        return loan

    # -- arguments that travel in headers ----------------------------------------------

    def _send(
        self, session: UpstreamSession, method: str, params: JsonObject, running: Running
    ) -> Awaitable[JsonObject]:
        if session.link.transport == "stdio" or method != "tools/call" or not session.modern:
            return session.request(method, params, running)
        # Modern servers over HTTP find some of the arguments in headers as well.
        places = self._listings.headers(running.call.caller, params["name"])
        if places is None:
            return self._list_and_send(session, method, params, running)
        headers = parameters(places, params.get("arguments") or {}) if places else NO_HEADERS
        return session.request(method, params, running, headers=headers)

    async def _as_task(self, params: JsonObject, running: Running) -> JsonObject:
        """In the core form it is for us to ask for a task: if we have one, or if we must."""
        call, name = running.call, params["name"]
        support = self._listings.task_support(call.caller, name)
        if support is None:
            await self._listings.get(client_of(call, running.channel.session))
            support = self._listings.task_support(call.caller, name)
        if support == REQUIRED or (support == OPTIONAL and call.task is not None):
            running.tasks = True
            return {**params, "task": {}}
        return params

    async def _list_and_send(
        self, session: UpstreamSession, method: str, params: JsonObject, running: Running
    ) -> JsonObject:
        await self._listings.get(client_of(running.call, running.channel.session))
        places = self._listings.headers(running.call.caller, params["name"])
        headers = parameters(places, params.get("arguments") or {}) if places else NO_HEADERS
        return await session.request(method, params, running, headers=headers)

    def _may_be_sent_again(
        self, error: ProtocolError, session: UpstreamSession | None, running: Running
    ) -> bool:
        """Was it refused unread, for a reason that we can do something about?"""
        if needs_tasks(error) and session is not None:
            return _takes_on(running, session)
        return self._is_outdated(error, session, running.call.caller)

    def _is_outdated(
        self, error: ProtocolError, session: UpstreamSession | None, caller: Caller
    ) -> bool:
        """It missed a header, and read no further: its schema has changed since we saw it."""
        if error.code != HEADER_MISMATCH or session is None or not session.modern:
            return False
        self._listings.forget(caller)
        return True

    def _doubt(self, session: UpstreamSession | None) -> None:
        """After a call timed out: is it one slow call, or does the upstream hang?"""
        if session is not None:
            self._checks.start(_check(session))

    async def close(self) -> None:
        await self._checks.cancel()


def _takes_on(running: Running, session: UpstreamSession) -> bool:
    """It refused to run other than as a task: for a client that knows none, we look after that.

    Over a connection that has them: one of the other era knows no extension. A client of a
    revision that has them hears the refusal: it may declare them and call again.
    """
    if running.call.revision.tasks == "extension" or (running.tasks and session.modern):
        return False
    running.tasks = True
    running.form = "extension"
    return True


async def _check(session: UpstreamSession) -> None:
    if session.link.lost is None and not await session.alive():
        session.link.lose(Lost("does not answer any more"))
