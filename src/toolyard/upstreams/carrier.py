"""Puts a question that belongs to no request to the client: on its session, or with a call.

A client over HTTP need not open the stream on which it could be asked. Then the answer to one
of its calls can carry the question, once a call is waiting.
"""

from __future__ import annotations

import asyncio

from toolyard.protocol.call import Json, JsonObject, Session
from toolyard.upstreams.running import Running

# A client that listens has answered after this many seconds.
ANSWERS_WITHIN = 0.5


class Carrier:
    """The call that can carry questions at the moment, if there is one."""

    def __init__(self, running: Running | None) -> None:
        self._running = running
        self._came = asyncio.Event()
        self.tried = running is not None  # there was a call that could have carried a question

    @property
    def running(self) -> Running | None:
        return self._running

    def lend(self, running: Running | None) -> None:
        """The call that waits from now on; None for no call."""
        self._running = running
        if running is not None:
            self._came.set()
            self.tried = True
        else:
            self._came.clear()

    async def ask(self, session: Session, method: str, params: JsonObject, timeout: float) -> Json:
        asked_on_session = asyncio.ensure_future(session.ask(method, params, timeout))
        asked_with_call = asyncio.ensure_future(self._carry(method, params))
        attempts = {asked_on_session, asked_with_call}
        try:
            answered_first, _ = await asyncio.wait(attempts, return_when=asyncio.FIRST_COMPLETED)
            return (
                asked_on_session if asked_on_session in answered_first else asked_with_call
            ).result()
        finally:
            for attempt in attempts:
                attempt.cancel()
            await asyncio.gather(*attempts, return_exceptions=True)

    async def _carry(self, method: str, params: JsonObject) -> Json:
        while True:
            await self._came.wait()
            await asyncio.sleep(ANSWERS_WITHIN)
            running = self._running
            if running is not None:
                return await running.ask(method, params)
