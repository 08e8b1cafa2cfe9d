"""What is kept of tasks, wherever it is kept: the interface, and what it may hold at most.

A record is written before its handle is given away, and again with every change that matters.
Several processes may share the records: each runs its own tasks, any of them can read all.
What one has to say to another's task (cancel it, here is an answer) it leaves as a note, which
the task's own process picks up.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from toolyard.protocol.tasks.record import TaskRecord
from toolyard.protocol.values import JsonObject


class Holdings(NamedTuple):
    """What one caller has at the moment."""

    running: int
    kept: int
    size: int  # bytes


class Note(NamedTuple):
    """Something for the process that runs a task.

    `{"cancel": why}`, `{"answers": {key: ..}}` or `{"refusals": {key: {"code", "message"}}}`.
    """

    task: str
    message: JsonObject


class TaskRecords(Protocol):
    """Every method may raise OSError: the disk is full, the store is away."""

    @property
    def owner(self) -> str:
        """The name of this process among those that share the records."""

    async def is_alive(self, owner: str) -> bool:
        """Does the process of this name still run?"""

    async def holdings(self, caller: str) -> Holdings: ...

    async def write(self, record: TaskRecord) -> bool:
        """False, and nothing is changed, where the task is over already."""

    async def read(self, task_id: str) -> TaskRecord | None:
        """None where there is none, or its time is over."""

    async def summaries(self, caller: str | None = None) -> list[TaskRecord]:
        """All of a caller, or of everybody, the newest first; without what may be large."""

    async def leave(self, note: Note, owner: str) -> None:
        """For the process that runs the task."""

    async def collect(self, task_ids: Sequence[str]) -> list[Note]:
        """The notes for these tasks, each given once."""

    async def close(self) -> None: ...


class TaskLimits(NamedTuple):
    """What one caller may have, and for how long. Times are milliseconds."""

    running: int = 64
    kept: int = 10_000
    size: int = 256 * 1024 * 1024
    one: int = 16 * 1024 * 1024  # bytes of one outcome
    work: int = 3_600_000  # for the work, where the tool does not say
    keep: int = 3_600_000  # beyond that
    longest: int = 86_400_000
    poll: int = 1000
