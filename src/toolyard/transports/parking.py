"""Calls that wait for their client to come back with an answer. Bound to who made them."""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any

from toolyard.errors import INVALID_PARAMS, ProtocolError, ToolError
from toolyard.protocol.call import Call, JsonObject, Result
from toolyard.transports.channels import ModernChannel, Wire
from toolyard.transports.seal import Sealer, invalid_state


@dataclass(slots=True)
class ParkedCall:
    call: Call
    channel: ModernChannel
    task: asyncio.Task[Result]


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
        parked = self._parked.pop(ticket, None)
        if parked is None or parked.call.caller.id != call.caller.id or parked.task.done():
            raise invalid_state()
        parked.channel.wire = wire
        answers = _fitting(call.input_responses, parked.channel)
        if answers is None or not parked.channel.answer(answers):
            return self._park(parked)
        return await self._round(parked)

    async def _round(self, parked: ParkedCall) -> Result:
        asked = parked.channel.asked()
        try:
            await asyncio.wait((parked.task, asked), return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            parked.task.cancel()
            raise
        if parked.task.done():
            return parked.task.result()
        return self._park(parked)

    def _park(self, parked: ParkedCall) -> Result:
        held = Counter(other.call.caller.id for other in self._parked.values())
        if held[parked.call.caller.id] >= self._per_caller:
            parked.task.cancel()
            raise ToolError(f"more than {self._per_caller} calls wait for this client's answers")
        ticket = secrets.token_urlsafe(16)
        self._parked[ticket] = parked
        parked.task.add_done_callback(lambda _task: self._expired(ticket))
        return {
            "resultType": "input_required",
            "inputRequests": dict(parked.channel.questions),
            "requestState": self.sealer.seal({"parked": ticket}, parked.call),
        }

    def _expired(self, ticket: str) -> None:
        """A parked call that ended by itself (its question timed out) is forgotten."""
        parked = self._parked.pop(ticket, None)
        if parked is not None and not parked.task.cancelled():
            parked.task.exception()

    async def close(self) -> None:
        parked, self._parked = list(self._parked.values()), {}
        for each in parked:
            each.task.cancel()
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
