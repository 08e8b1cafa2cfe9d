"""Where the tasks of what is served are kept, and the desk for them once there is one.

In the store where there is one, since any replica may be asked; else in a file of this machine.
Most servers never have a task: nothing of it is imported, and no file made, before the first.
"""

# ruff: noqa: PLC0415 - see above

from __future__ import annotations

import hashlib
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from toolyard.app.plan import Plan
from toolyard.settings import Settings

if TYPE_CHECKING:
    from toolyard.cluster.cluster import Cluster
    from toolyard.methods.tasks import TaskMethods
    from toolyard.store.interface import Store
    from toolyard.store.keys import ClusterKeys
    from toolyard.tasks.desk import TaskDesk, Work
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

    def __init__(self, plan: Plan, cluster: Cluster | None = None) -> None:
        self._settings = plan.settings
        self._cluster = cluster
        self._folder = tasks_folder(plan)
        # Waits for what an earlier process has begun at an upstream.
        self.resume: Work | None = None
        self._desk: TaskDesk | None = None
        self._methods: TaskMethods | None = None

    def methods(self) -> TaskMethods:
        if self._methods is None:
            from toolyard.methods.tasks import TaskMethods

            self._methods = TaskMethods(self)
        return self._methods

    @cached_property
    def limits(self) -> TaskLimits:
        return limits_of(self._settings)

    def desk(self) -> TaskDesk:
        if self._desk is None:
            cluster = self._cluster
            if cluster is None or cluster.store is None:
                self._desk = _desk_in(self._folder, self.limits)
            else:
                self._desk = _desk_at(cluster.store, cluster.keys, cluster.name, self.limits)
            self._desk.resume = self.resume
        return self._desk

    @property
    def running(self) -> int:
        return self._desk.running_count if self._desk is not None else 0

    def desk_if_any(self) -> TaskDesk | None:
        if self._desk is not None:
            return self._desk
        if self._cluster is not None and self._cluster.store is not None:
            return self.desk()  # another replica may have made one
        from toolyard.tasks.sqlite import exists

        return self.desk() if exists(self._folder) else None

    async def close(self) -> None:
        if self._desk is not None:
            await self._desk.close()


@asynccontextmanager
async def opened_desk(plan: Plan) -> AsyncIterator[TaskDesk | None]:
    """For a command: that of the store, where one is named. None: there has been no task."""
    from toolyard.tasks.sqlite import exists

    settings, folder = plan.settings, tasks_folder(plan)
    if settings.store:
        async with _opened_store(settings) as desk:
            yield desk
    elif exists(folder):
        desk = _desk_in(folder, limits_of(settings))
        try:
            yield desk
        finally:
            await desk.close()
    else:
        yield None


@asynccontextmanager
async def _opened_store(settings: Settings) -> AsyncIterator[TaskDesk]:
    from toolyard.store.keys import read_cluster_keys
    from toolyard.store.opening import open_store

    keys = read_cluster_keys(settings.cluster_key)
    store = await open_store(settings.store)
    desk = _desk_at(store, keys, os.urandom(8).hex(), limits_of(settings))
    try:
        yield desk
    finally:
        await desk.close()
        await store.close()


def _desk_in(folder: str, limits: TaskLimits) -> TaskDesk:
    from toolyard.tasks.desk import TaskDesk
    from toolyard.tasks.sqlite import SqliteRecords

    records = SqliteRecords(folder)
    return TaskDesk(records, records.keys, limits)


def _desk_at(store: Store, keys: ClusterKeys, owner: str, limits: TaskLimits) -> TaskDesk:
    from toolyard.tasks.desk import TaskDesk
    from toolyard.tasks.in_store import StoreRecords

    records = StoreRecords(store, keys.seal("task"), owner, limits.longest)
    return TaskDesk(records, keys.proofs("task ids", b""), limits)


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
