"""The audit log: who called what, when, for how long and with which outcome; a line for each."""

from __future__ import annotations

import asyncio
import time

from toolyard.access.audit_file import AuditFile
from toolyard.access.subject import subject_of
from toolyard.errors import INTERNAL_ERROR, ProtocolError
from toolyard.protocol.asking.rounds import asks
from toolyard.protocol.call import Call, Channel, Handler, JsonObject, Result


class Audit:
    """Writes a line for each call. Arguments are written only when asked for."""

    def __init__(self, lines: AuditFile, *, arguments: bool = False) -> None:
        self._lines = lines
        self._arguments = arguments

    def write(self, call: Call, seconds: float, outcome: str, code: int | None = None) -> None:
        subject = subject_of(call)
        line: JsonObject = {
            "caller": call.caller.id,
            "method": call.method,
            "name": subject.name,
            "ms": round(seconds * 1000, 3),
            "outcome": outcome,
        }
        if code is not None:
            line["code"] = code
        if self._arguments:
            line["arguments"] = call.params.get("arguments")
        self._lines.write(line)

    def check(self) -> None:
        """No call without a record: raises ProtocolError while none can be written."""
        if not self._lines.flush():
            raise ProtocolError(
                INTERNAL_ERROR, "Calls are refused while the audit log cannot be written"
            )


def audited(handler: Handler, audit: Audit) -> Handler:
    async def handle(call: Call, channel: Channel) -> Result:
        audit.check()
        start = time.perf_counter()
        outcome, code = "failed", None
        try:
            result = await handler(call, channel)
            outcome = _outcome(result)
            return result
        except ProtocolError as error:
            outcome, code = "refused", error.code
            raise
        except asyncio.CancelledError:
            outcome = "cancelled"
            raise
        finally:
            audit.write(call, time.perf_counter() - start, outcome, code)

    return handle


def _outcome(result: Result) -> str:
    if not isinstance(result, dict):
        return "ok"
    if result.get("isError"):
        return "error"
    return "asked" if asks(result) else "ok"
