"""Where the tasks of what is served are kept, and the desk for them once there is one.

Most servers never have a task: nothing of it is imported, and no file made, before the first.
"""

# ruff: noqa: PLC0415 - see above

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from toolyard.app.plan import Plan
from toolyard.catalog.entries import Tool
from toolyard.methods.tools import Watching, Work
from toolyard.protocol.call import Call, Channel, Json, JsonObject, Result
from toolyard.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from toolyard.methods.tasks import TaskMethods
    from toolyard.tasks.desk import TaskDesk
    from toolyard.tasks.records import TaskLimits


def tasks_folder(plan: Plan, environ: Mapping[str, str] = os.environ) -> str:
    """One for each thing that is served, so that two projects never see each other's."""
    base = os.path.expanduser(plan.settings.tasks_dir)
    if not base:
        state = environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
        base = os.path.join(state, "toolyard", "tasks")
    root = (plan.project.root,) if plan.project is not None else ()
    places = "\n".join(map(os.path.realpath, (*root, *plan.registries)))
    return os.path.join(base, hashlib.sha256(places.encode()).hexdigest()[:16])


class LaterTasks:
    """Tasks, made with the first one. See the head of this module."""

    def __init__(self, plan: Plan) -> None:
        self._settings = plan.settings
        self._folder = tasks_folder(plan)
        self._desk: TaskDesk | None = None

    @cached_property
    def _methods(self) -> TaskMethods:
        from toolyard.methods.tasks import TaskMethods

        return TaskMethods(self)

    async def begin(
        self,
        call: Call,
        channel: Channel,
        tool: Tool,
        work: Work,
        upstream: JsonObject | None = None,
    ) -> Result:
        return await self._methods.begin(call, channel, tool, work, upstream)

    def answer(self, call: Call, channel: Channel, resume: Work) -> Awaitable[Result]:
        return self._methods.answer(call, channel, resume)

    async def watch(self, call: Call, ids: Json, tell: Callable[[JsonObject], None]) -> Watching:
        return await self._methods.watch(call, ids, tell)

    @cached_property
    def limits(self) -> TaskLimits:
        return limits_of(self._settings)

    def desk(self) -> TaskDesk:
        if self._desk is None:
            from toolyard.tasks.desk import TaskDesk
            from toolyard.tasks.sqlite import SqliteRecords

            records = SqliteRecords(self._folder)
            self._desk = TaskDesk(records, records.key, self.limits)
        return self._desk

    def desk_if_any(self) -> TaskDesk | None:
        if self._desk is None:
            from toolyard.tasks.sqlite import exists

            return self.desk() if exists(self._folder) else None
        return self._desk

    async def close(self) -> None:
        if self._desk is not None:
            await self._desk.close()


def limits_of(settings: Settings) -> TaskLimits:
    from toolyard.tasks.records import TaskLimits

    return TaskLimits(
        running=settings.max_tasks,
        kept=settings.max_kept_tasks,
        size=settings.max_kept_task_bytes,
        one=settings.max_task_result_bytes,
        work=int(settings.task_timeout * 1000),
        keep=int(settings.task_keep * 1000),
        longest=int(settings.max_task_ttl * 1000),
    )
