"""Calls that wait for their client to come back with an answer. Bound to who made them.

One that ends without the answer has run: its result waits as long as its question would.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any

from toolyard.errors import INVALID_PARAMS, RATE_LIMITED, ProtocolError
from toolyard.protocol.asking.rounds import asking
from toolyard.protocol.call import Call, JsonObject, Result
from toolyard.transports.channels import ModernChannel, Wire
from toolyard.transports.seal import Sealer, invalid_state


@dataclass(slots=True)
class ParkedCall:
    call: Call
    channel: ModernChannel
    task: asyncio.Task[Result]
    # Until when the result of a call that ended by itself is kept.
    expiry: asyncio.TimerHandle | None = None


class Parking:
    def __init__(self, sealer: Sealer, per_caller: int = 64) -> None:
        self.sealer = sealer
        self._per_caller = per_caller
        self._parked: dict[str, ParkedCall] = {}

    def __len__(self) -> int:
        return len(self._parked)

    async def begin(
        self, call: Call, channel: ModernChannel, work: Coroutine[Any, Any, Result]
    ) -> Result:
        """Run a call that may ask: its result, or the question with the state to resume it."""
        task = asyncio.get_running_loop().create_task(work)
        return await self._round(ParkedCall(call, channel, task))

    async def resume(self, ticket: str, call: Call, wire: Wire) -> Result:
        """Go on with a parked call, now that its client is back on another request."""
        parked = self._parked.get(ticket)
        if parked is None or parked.call.caller.id != call.caller.id or parked.task.cancelled():
            raise invalid_state()
        # An answer that is refused leaves the call where it waits, and counted.
        answers = _fitting(call.input_responses, parked.channel)
        del self._parked[ticket]
        asks = parked.channel.waiting and not parked.task.done()
        if asks and (answers is None or not parked.channel.answer(answers)):
            return self._park(parked)
        parked.channel.wire = wire
        return await self._round(parked)

    async def _round(self, parked: ParkedCall) -> Result:
        asked = parked.channel.asked()
        try:
            await asyncio.wait((parked.task, asked), return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError as cancelled:
            parked.task.cancel(*cancelled.args)
            raise
        if parked.task.done():
            if parked.expiry is not None:
                parked.expiry.cancel()
            return parked.task.result()
        return self._park(parked)

    def _park(self, parked: ParkedCall) -> Result:
        held = Counter(other.call.caller.id for other in self._parked.values())
        if held[parked.call.caller.id] >= self._per_caller:
            parked.task.cancel()
            why = f"more than {self._per_caller} calls wait for this client's answers"
            raise ProtocolError(RATE_LIMITED, why)
        ticket = secrets.token_urlsafe(16)
        self._parked[ticket] = parked
        # The request that it came with is answered: nothing more may be said on its behalf.
        parked.channel.wire = parked.channel.wire.muted()
        parked.task.add_done_callback(lambda _task: self._ended(ticket))
        return asking(parked.channel.questions, self.sealer.seal({"parked": ticket}, parked.call))

    def _ended(self, ticket: str) -> None:
        """A parked call that ended by itself: somebody may still come for its result."""
        parked = self._parked.get(ticket)
        if parked is not None:
            parked.expiry = asyncio.get_running_loop().call_later(
                self.sealer.lifetime, self._forget, ticket
            )

    def _forget(self, ticket: str) -> None:
        parked = self._parked.pop(ticket, None)
        if parked is not None and not parked.task.cancelled():
            parked.task.exception()  # seen, though nobody came for it

    async def close(self) -> None:
        parked, self._parked = list(self._parked.values()), {}
        for each in parked:
            each.task.cancel()
            if each.expiry is not None:
                each.expiry.cancel()
        await asyncio.gather(*(each.task for each in parked), return_exceptions=True)


def _fitting(responses: JsonObject | None, channel: ModernChannel) -> JsonObject | None:
    """The answers to the open questions; None while one is missing, extra ones ignored."""
    if responses is None or not channel.waiting:
        return None
    answers = {key: responses[key] for key in channel.questions if key in responses}
    if len(answers) < len(channel.questions):
        return None
    if not all(isinstance(answer, dict) for answer in answers.values()):
        raise ProtocolError(INVALID_PARAMS, "inputResponses must be objects")
    return answers
