"""Make one call to an app inside this process, until it has asked all that it wants to ask."""

from __future__ import annotations

from dataclasses import replace

from toolyard.app import App
from toolyard.errors import INTERNAL_ERROR, ProtocolError
from toolyard.protocol.call import Call, Channel, Encoded, Result
from toolyard.transports.answer import handle

MOST_ROUNDS = 32


async def answered(app: App, call: Call, channel: Channel) -> Result:
    """The final result. Raises ProtocolError."""
    for _ in range(MOST_ROUNDS):
        result = await handle(app.edge, call, channel)
        if isinstance(result, Encoded) or result.get("resultType") != "input_required":
            return result
        answers = await channel.ask(result.get("inputRequests") or {})
        call = replace(call, input_responses=answers, request_state=result.get("requestState"))
    raise ProtocolError(INTERNAL_ERROR, f"still asking after {MOST_ROUNDS} rounds")
