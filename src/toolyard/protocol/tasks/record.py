"""All that is known of one task at one moment, and how it changes. Pure.

    WORKING         -> INPUT_REQUIRED  it asks its client something
                    -> COMPLETED       it has a result, be it one that says `isError`
                    -> FAILED          it ended with a JSON-RPC error, or its server did
                    -> CANCELLED       its client wanted it no more
    INPUT_REQUIRED  -> WORKING         nothing is left to answer; and as above
    COMPLETED, FAILED, CANCELLED       for good: what comes later is not looked at

The words are those of the extension. The core form calls a result with `isError` failed; that
is a matter of how it is shown (forms.py).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from toolyard.errors import ProtocolError
from toolyard.protocol.tasks.words import (
    CANCELLED,
    COMPLETED,
    FAILED,
    INPUT_REQUIRED,
    TERMINAL,
    WORKING,
    Status,
)
from toolyard.protocol.values import Json, JsonObject

# What may be large, and is not needed where tasks are listed.
LARGE = ("questions", "result", "error", "log", "client")


@dataclass(frozen=True, slots=True)
class TaskRecord:
    """Times are milliseconds since 1970."""

    id: str
    caller: str
    tool: str
    created: int
    updated: int
    ttl: int
    poll: int
    status: Status = WORKING
    message: str = ""
    # [so far, of how much], if it has said.
    progress: tuple[float, float | None] | None = None
    questions: JsonObject = field(default_factory=dict)
    result: JsonObject | None = None
    error: JsonObject | None = None
    # Its result says `isError`: known where results are left out, too.
    is_tool_error: bool = False
    # The last lines that it logged.
    log: tuple[str, ...] = ()
    # The process it runs in; and where else it runs, if at an upstream.
    owner: str = ""
    upstream: JsonObject | None = None
    # Who made it: the revision and what the client can be asked.
    revision: str = ""
    client: JsonObject = field(default_factory=dict)

    @property
    def over(self) -> bool:
        return self.status in TERMINAL

    @property
    def verdict(self) -> Status:
        """How it went, in the core form's words and a person's: a tool's error is a failure."""
        return FAILED if self.is_tool_error else self.status

    @property
    def expires(self) -> int:
        return self.created + self.ttl

    def asking(self, questions: JsonObject, now: int) -> TaskRecord:
        status = INPUT_REQUIRED if questions else WORKING
        return replace(self, status=status, questions=questions, updated=now)

    def saying(
        self, message: str, progress: tuple[float, float | None] | None, now: int
    ) -> TaskRecord:
        return replace(self, message=message, progress=progress or self.progress, updated=now)

    def completed(self, result: JsonObject, now: int) -> TaskRecord:
        is_tool_error = bool(result.get("isError"))
        return self._ended(COMPLETED, now, result=result, is_tool_error=is_tool_error)

    def failed(self, error: ProtocolError, now: int) -> TaskRecord:
        words: JsonObject = {"code": error.code, "message": error.message}
        if error.data is not None:
            words["data"] = error.data
        return self._ended(FAILED, now, error=words, message=error.message)

    def cancelled(self, now: int, why: str = "") -> TaskRecord:
        return self._ended(CANCELLED, now, message=why or self.message)

    def _ended(self, status: Status, now: int, **changes: Any) -> TaskRecord:
        return replace(self, status=status, questions={}, updated=now, **changes)

    def as_json(self) -> tuple[JsonObject, JsonObject]:
        """What every list needs, and the rest."""
        everything = asdict(self)
        return everything, {name: everything.pop(name) for name in LARGE}

    @classmethod
    def of(cls, everything: JsonObject) -> TaskRecord:
        """From what was written down, perhaps by an older or a newer version of ourselves."""
        names = {entry.name for entry in fields(cls)}
        known = {name: value for name, value in everything.items() if name in names}
        return cls(**{**known, **_tuples(known)})


def _tuples(known: JsonObject) -> dict[str, Json]:
    return {
        name: tuple(known[name])
        for name in ("log", "progress")
        if isinstance(known.get(name), list)
    }
