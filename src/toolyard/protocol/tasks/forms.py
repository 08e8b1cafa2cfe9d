"""A task as the two forms of MCP show it. Pure."""

from __future__ import annotations

from datetime import UTC, datetime

from toolyard.errors import INVALID_REQUEST, ProtocolError
from toolyard.protocol.tasks.record import TaskRecord
from toolyard.protocol.tasks.words import (
    CANCELLED,
    COMPLETED,
    FAILED,
    INPUT_REQUIRED,
    PROGRESS,
    related,
)
from toolyard.protocol.values import JsonObject

# What a session of the core form is told unasked.
STATUS_CHANGED = "notifications/tasks/status"


def handle(record: TaskRecord) -> JsonObject:
    """The extension's answer to `tools/call`."""
    return {"resultType": "task", **_extension(record)}


def detailed(record: TaskRecord) -> JsonObject:
    """The extension's answer to `tasks/get`, and what its notifications say."""
    task = _extension(record)
    if record.status == INPUT_REQUIRED:
        task["inputRequests"] = record.questions
    elif record.status == COMPLETED:
        task["result"] = record.result or {}
    elif record.status == FAILED:
        task["error"] = record.error
    if record.progress is not None:
        so_far, total = record.progress
        task["_meta"] = {PROGRESS: {"progress": so_far, "total": total}}
    return task


def _extension(record: TaskRecord) -> JsonObject:
    return {**_common(record), "ttlMs": record.ttl, "pollIntervalMs": record.poll}


def core_handle(record: TaskRecord) -> JsonObject:
    """The core form's answer to `tools/call`; `resultType` never leaves us."""
    return {"resultType": "task", "task": core_task(record)}


def core_task(record: TaskRecord) -> JsonObject:
    return {
        **_common(record),
        "status": record.verdict,
        "ttl": record.ttl,
        "pollInterval": record.poll,
    }


def core_outcome(record: TaskRecord) -> JsonObject:
    """What `tasks/result` answers for a task that is over. Raises ProtocolError if that failed."""
    if record.error is not None:
        error = record.error
        raise ProtocolError(error["code"], error["message"], error.get("data"))
    if record.status == CANCELLED:
        raise ProtocolError(INVALID_REQUEST, "The task was cancelled")
    result = record.result or {}
    return {**result, "_meta": {**(result.get("_meta") or {}), **related(record.id)}}


def _common(record: TaskRecord) -> JsonObject:
    task: JsonObject = {"taskId": record.id, "status": record.status}
    if record.message:
        task["statusMessage"] = record.message
    task["createdAt"] = _stamp(record.created)
    task["lastUpdatedAt"] = _stamp(record.updated)
    return task


def _stamp(milliseconds: int) -> str:
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
