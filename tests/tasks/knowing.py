"""What tests do as a client that knows tasks."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.peers.raw import RawClient

TASKS = "io.modelcontextprotocol/tasks"
DECLARED: dict[str, Any] = {"extensions": {TASKS: {}}}
ABLE: dict[str, Any] = {**DECLARED, "elicitation": {}}
WITHIN = 60.0


async def begun(client: RawClient, tool: str, arguments: Any = None, **params: Any) -> Any:
    """The handle that a call was answered with."""
    params = {"name": tool, "arguments": arguments or {}, **params}
    result = await client.result("tools/call", params)
    return result if client.modern else result["task"]


async def reaches(client: RawClient, task_id: str, *states: str) -> Any:
    """What `tasks/get` shows once the task has one of these states."""
    async with asyncio.timeout(WITHIN):
        while True:
            task = await client.result("tasks/get", {"taskId": task_id})
            if task["status"] in states:
                return task
            await asyncio.sleep(0.02)


async def outcome(client: RawClient, task_id: str) -> Any:
    task = await reaches(client, task_id, "completed", "failed", "cancelled")
    return task.get("result") or task.get("error")
