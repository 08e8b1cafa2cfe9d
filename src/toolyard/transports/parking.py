"""Calls of 2026-07-28 that wait for their client to come back with an answer.

In that revision a server cannot ask its client in the middle of a call: the call is answered with
the question (`input_required`) and a `requestState`, and the client makes the call again with
both the state and its answers. The work behind the call need not start over. It runs in a task
of its own, waits here between two requests, and the state that the client holds is a sealed
ticket for it.

    ATTENDED  A request of the client waits for the outcome.
                -> PARKED    the call asks something: the request is answered with the question
                -> OVER      it has ended: the request is answered with its result
                -> GONE      the request was cancelled; or too many calls of this caller wait
    PARKED    No request is open, so nothing the call reports is sent. The client has the ticket.
                -> ATTENDED  `resume` with all answers, and they fit
                -> PARKED    `resume` with answers missing or not fitting: a new ticket
                -> OVER      it ended without an answer, mostly because nobody came in time
                -> GONE      we stop
    OVER      What it did is done and must not be done twice: its result is kept for as long as
              the ticket is good, and `resume` gets it.
    GONE      Cancelled. A ticket for it is refused like any other that is not good.

A ticket is good once, for the caller it was given to. The seal binds it to the same method and
parameters, and to a time.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter
from collections.abc import Coroutine
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from toolyard.errors import INVALID_PARAMS, RATE_LIMITED, ProtocolError
from toolyard.protocol.asking.rounds import asking
from toolyard.protocol.call import Call, JsonObject, Result
from toolyard.transports.channels import ModernChannel, Wire
from toolyard.transports.seal import Sealer, invalid_state


class ParkedState(Enum):
    """See the head of this module."""

    ATTENDED = auto()
    PARKED = auto()
    OVER = auto()
    GONE = auto()


@dataclass(slots=True)
class ParkedCall:
    """A call that may ask its client, from its first request to its last."""

    call: Call
    channel: ModernChannel
    task: asyncio.Task[Result]
    ticket: str | None = None
    # Runs while the result of a call that ended by itself is kept.
    expiry: asyncio.TimerHandle | None = None

    @property
    def state(self) -> ParkedState:
        """Follows from the task, which may end between any two of our steps."""
        if self.task.cancelled():
            return ParkedState.GONE
        if self.task.done():
            return ParkedState.OVER
        return ParkedState.ATTENDED if self.ticket is None else ParkedState.PARKED


class Parking:
    """Where calls wait for their clients, by ticket; so many for each caller."""

    def __init__(self, sealer: Sealer, per_caller: int = 64, home: str = "") -> None:
        """`home`: the name of this process among those that open what it seals."""
        self.sealer = sealer
        self.home = home
        self._per_caller = per_caller
        self._calls: dict[str, ParkedCall] = {}

    def __len__(self) -> int:
        return len(self._calls)

    async def begin(
        self, call: Call, channel: ModernChannel, work: Coroutine[Any, Any, Result]
    ) -> Result:
        """Run a call that may ask: its result, or the question with the state to resume it."""
        task = asyncio.get_running_loop().create_task(work)
        return await self._attend(ParkedCall(call, channel, task))

    def home_of(self, call: Call) -> str:
        """The process in which the call waits that this one resumes; empty if none is known."""
        try:
            state = self.sealer.open(call.request_state or "", call)
        except ProtocolError:
            return ""
        return str(state.get("home", ""))

    async def resume(self, ticket: str, call: Call, wire: Wire) -> Result:
        """Go on with a parked call, now that its client is back on another request."""
        parked_call = self._calls.get(ticket)
        if (
            parked_call is None
            or parked_call.call.caller.id != call.caller.id
            or parked_call.state is ParkedState.GONE
        ):
            raise invalid_state()
        channel = parked_call.channel
        # An answer that is refused leaves the call where it waits, and counted.
        answers = _answers_for(channel, call.input_responses)
        asks = channel.is_asking and parked_call.state is ParkedState.PARKED
        self._leave(ticket)
        if asks and (answers is None or not channel.answer(answers)):
            return self._park(parked_call)
        channel.wire = wire
        return await self._attend(parked_call)

    async def _attend(self, parked_call: ParkedCall) -> Result:
        """Wait until the call has ended, or asks something."""
        question = parked_call.channel.next_question()
        try:
            await asyncio.wait((parked_call.task, question), return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError as cancelled:
            parked_call.task.cancel(*cancelled.args)
            raise
        if parked_call.task.done():
            if parked_call.expiry is not None:
                parked_call.expiry.cancel()
            return parked_call.task.result()
        return self._park(parked_call)

    def _park(self, parked_call: ParkedCall) -> Result:
        call, channel = parked_call.call, parked_call.channel
        counts = Counter(other_call.call.caller.id for other_call in self._calls.values())
        if counts[call.caller.id] >= self._per_caller:
            parked_call.task.cancel()
            why = f"more than {self._per_caller} calls wait for this client's answers"
            raise ProtocolError(RATE_LIMITED, why)
        ticket = parked_call.ticket = secrets.token_urlsafe(16)
        self._calls[ticket] = parked_call
        # The request that it came with is answered: nothing more may be said on its behalf.
        channel.wire = channel.wire.muted()
        parked_call.task.add_done_callback(lambda _task: self._keep_result(ticket))
        state = {"parked": ticket, "home": self.home}
        return asking(channel.questions, self.sealer.seal(state, call))

    def _leave(self, ticket: str) -> None:
        self._calls.pop(ticket).ticket = None

    def _keep_result(self, ticket: str) -> None:
        """A parked call ended by itself: its client may still come for the result."""
        parked_call = self._calls.get(ticket)
        if parked_call is not None:
            parked_call.expiry = asyncio.get_running_loop().call_later(
                self.sealer.lifetime, self._forget, ticket
            )

    def _forget(self, ticket: str) -> None:
        parked_call = self._calls.pop(ticket, None)
        if parked_call is not None and not parked_call.task.cancelled():
            parked_call.task.exception()  # looked at, so that asyncio does not complain

    async def close(self) -> None:
        parked_calls, self._calls = list(self._calls.values()), {}
        for parked_call in parked_calls:
            parked_call.task.cancel()
            if parked_call.expiry is not None:
                parked_call.expiry.cancel()
        tasks = (parked_call.task for parked_call in parked_calls)
        await asyncio.gather(*tasks, return_exceptions=True)


def _answers_for(channel: ModernChannel, responses: JsonObject | None) -> JsonObject | None:
    """The answers to the open questions; None while one is missing, others are ignored."""
    if responses is None or not channel.is_asking:
        return None
    answers = {key: responses[key] for key in channel.questions if key in responses}
    if len(answers) < len(channel.questions):
        return None
    if not all(isinstance(answer, dict) for answer in answers.values()):
        raise ProtocolError(INVALID_PARAMS, "inputResponses must be objects")
    return answers
