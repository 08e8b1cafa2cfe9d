"""Which calls become tasks, and what is said to those that cannot. Pure.

MCP has tasks in two forms that exclude each other. In the *core* form (2025-11-25) the client
asks for one, with `params.task`; a tool says in its definition whether it may. In the *extension*
(2026-07-28) the client declares with each request that it could take a handle, and the server
decides. Every other client waits for the result of the same tool.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias, cast

from toolyard.errors import INVALID_PARAMS, METHOD_NOT_FOUND, MISSING_CAPABILITY, ProtocolError
from toolyard.protocol.client import TASKS_EXTENSION
from toolyard.protocol.revisions import Revision
from toolyard.protocol.values import Json, JsonObject

Support: TypeAlias = Literal["forbidden", "optional", "required", "offered"]
FORBIDDEN: Support = "forbidden"
OPTIONAL: Support = "optional"
REQUIRED: Support = "required"
SUPPORTS: tuple[Support, ...] = (FORBIDDEN, OPTIONAL, REQUIRED)
# Never in a definition: its server has the extension and decides about each call by itself,
# and a client of the core form may ask for a task all the same.
OFFERED: Support = "offered"

Status: TypeAlias = Literal["working", "input_required", "completed", "failed", "cancelled"]
WORKING: Status = "working"
INPUT_REQUIRED: Status = "input_required"
COMPLETED: Status = "completed"
FAILED: Status = "failed"
CANCELLED: Status = "cancelled"
TERMINAL = frozenset({COMPLETED, FAILED, CANCELLED})

RELATED = "io.modelcontextprotocol/related-task"
# Beside the words of the extension, which has none for it: how far a task is, in numbers.
PROGRESS = "toolyard/progress"
_TASK_RESULT = "task"
# In a handle that is not given to anybody yet: the task at an upstream that it stands for.
UPSTREAM = "toolyard/upstream"


def declares(capabilities: Mapping[str, Json]) -> bool:
    """Can this client take a handle of the extension?"""
    extensions = capabilities.get("extensions")
    return isinstance(extensions, dict) and TASKS_EXTENSION in extensions


def support_in(definition: Mapping[str, Json]) -> Support:
    """What a tool's definition says; `forbidden` where it says nothing, or nonsense."""
    execution = definition.get("execution")
    support = execution.get("taskSupport") if isinstance(execution, dict) else None
    return cast(Support, support) if support in SUPPORTS else FORBIDDEN


def with_support(definition: JsonObject, support: Support) -> JsonObject:
    execution = definition.get("execution")
    own = execution if isinstance(execution, dict) else {}
    return {**definition, "execution": {**own, "taskSupport": support}}


def hosted(definition: JsonObject, makes_tasks: bool) -> tuple[JsonObject, Support]:
    """A tool of an upstream as we offer it: who cannot take a task waits, and we take it.

    `makes_tasks`: its server may make a task of any call.
    """
    support = support_in(definition)
    if support == REQUIRED:
        return with_support(definition, OPTIONAL), OPTIONAL
    if support == FORBIDDEN and makes_tasks:
        return with_support(definition, OPTIONAL), OFFERED
    return definition, support


def becomes_task(
    revision: Revision, params: JsonObject, capabilities: JsonObject, support: Support
) -> bool:
    """Is a call of such a tool to become a task? Raises ProtocolError where it must and cannot."""
    if revision.tasks == "extension":
        if declares(capabilities):
            return support in (OPTIONAL, REQUIRED)
        if support == REQUIRED:
            raise undeclared()
        return False
    if revision.tasks == "core":
        return _asks_for_one(params, support)
    return False


def _asks_for_one(params: JsonObject, support: Support) -> bool:
    if "task" not in params:
        if support == REQUIRED:
            raise ProtocolError(METHOD_NOT_FOUND, "This tool runs as a task only: send `task`")
        return False
    if support == FORBIDDEN:
        raise ProtocolError(METHOD_NOT_FOUND, "This tool does not run as a task")
    if not isinstance(params["task"], dict):
        raise ProtocolError(INVALID_PARAMS, "task must be an object")
    return True


def wished_ttl(params: JsonObject) -> int | None:
    """How many milliseconds a client of the core form wants a task to be kept."""
    task = params.get("task")
    ttl = task.get("ttl") if isinstance(task, dict) else None
    if ttl is None:
        return None
    if isinstance(ttl, bool) or not isinstance(ttl, int | float) or not 0 < ttl < float("inf"):
        raise ProtocolError(INVALID_PARAMS, "task.ttl must be a number of milliseconds above 0")
    return max(1, int(ttl))


def undeclared() -> ProtocolError:
    return ProtocolError(
        MISSING_CAPABILITY,
        f"This needs a client that declares the extension {TASKS_EXTENSION}",
        {"requiredCapabilities": {"extensions": {TASKS_EXTENSION: {}}}},
    )


def needs_tasks(error: ProtocolError) -> bool:
    """Does a server say with this error that a client has to declare the extension?"""
    data = error.data if isinstance(error.data, dict) else {}
    required = data.get("requiredCapabilities")
    return error.code == MISSING_CAPABILITY and isinstance(required, dict) and declares(required)


def is_handle(result: Mapping[str, Json]) -> bool:
    """A handle of the extension, in place of a result."""
    return result.get("resultType") == _TASK_RESULT


def related(task_id: str) -> JsonObject:
    """What everything that the core form says for a task must carry in its `_meta`."""
    return {RELATED: {"taskId": task_id}}


def unknown_task() -> ProtocolError:
    """The same for a task that never was, is over for long, or is somebody else's."""
    return ProtocolError(INVALID_PARAMS, "Unknown task: it does not exist, or no longer")
