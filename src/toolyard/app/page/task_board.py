"""The tasks as the page shows them: those of all callers, as they are now."""

from __future__ import annotations

from toolyard.app.tasks import LaterTasks
from toolyard.protocol.call import JsonObject
from toolyard.protocol.tasks.record import TaskRecord

MOST_LINES = 500


class TaskBoard:
    """Shows what the desk has; without a task ever made, nothing."""

    def __init__(self, tasks: LaterTasks) -> None:
        self._tasks = tasks

    async def lines(self) -> list[JsonObject]:
        """The newest first."""
        desk = self._tasks.desk_if_any()
        if desk is None:
            return []
        return [_line(record) for record in (await desk.summaries())[:MOST_LINES]]

    async def find(self, task_id: str) -> JsonObject | None:
        desk = self._tasks.desk_if_any()
        record = await desk.find(task_id) if desk is not None else None
        if record is None:
            return None
        return {**_line(record), **record.as_json()[1]}

    async def cancel(self, task_id: str) -> bool:
        desk = self._tasks.desk_if_any()
        record = await desk.find(task_id) if desk is not None else None
        if desk is None or record is None:
            return False
        await desk.cancel(record, "cancelled on the page")
        return True


def _line(record: TaskRecord) -> JsonObject:
    return {**record.as_json()[0], "status": record.verdict}
