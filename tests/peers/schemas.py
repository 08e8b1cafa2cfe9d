"""Check a server's messages against the published JSON Schema of their revision.

The schemas are not part of this repository: they are read from the folder beside
it, and where that is absent nothing is checked and the reason is printed once.
"""

from __future__ import annotations

import json
import sys
from functools import cache
from typing import Any

from jsonschema import Draft7Validator, Draft202012Validator

from tests.peers.serving import ROOT

SCHEMAS = ROOT.parent / "shared" / "data" / "mcp-schema"

RESULTS = {
    "initialize": "InitializeResult",
    "server/discover": "DiscoverResult",
    "ping": "EmptyResult",
    "tools/list": "ListToolsResult",
    "tools/call": "CallToolResult",
    "resources/list": "ListResourcesResult",
    "resources/templates/list": "ListResourceTemplatesResult",
    "resources/read": "ReadResourceResult",
    "resources/subscribe": "EmptyResult",
    "resources/unsubscribe": "EmptyResult",
    "prompts/list": "ListPromptsResult",
    "prompts/get": "GetPromptResult",
    "completion/complete": "CompleteResult",
    "logging/setLevel": "EmptyResult",
    "subscriptions/listen": "SubscriptionsListenResult",
}
CORE_TASKS = {
    "tasks/get": "GetTaskResult",
    "tasks/list": "ListTasksResult",
    "tasks/cancel": "CancelTaskResult",
    "tasks/result": "CallToolResult",
}
NOTIFICATIONS = {
    "notifications/cancelled": "CancelledNotification",
    "notifications/progress": "ProgressNotification",
    "notifications/message": "LoggingMessageNotification",
    "notifications/tools/list_changed": "ToolListChangedNotification",
    "notifications/prompts/list_changed": "PromptListChangedNotification",
    "notifications/resources/list_changed": "ResourceListChangedNotification",
    "notifications/resources/updated": "ResourceUpdatedNotification",
    "notifications/subscriptions/acknowledged": "SubscriptionsAcknowledgedNotification",
    "notifications/elicitation/complete": "ElicitationCompleteNotification",
    "notifications/tasks/status": "TaskStatusNotification",
}
REQUESTS = {
    "ping": "PingRequest",
    "roots/list": "ListRootsRequest",
    "sampling/createMessage": "CreateMessageRequest",
    "elicitation/create": "ElicitRequest",
}


def problems(message: Any, revision: str, answered: str | None = None) -> list[str]:
    """What is wrong with a message from the server; `answered` is the method it responds to."""
    if isinstance(message, list):
        return [found for item in message for found in problems(item, revision, answered)]
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return [f"not a JSON-RPC 2.0 message: {json.dumps(message)[:200]}"]
    if "method" in message:
        return of_method(message, revision)
    if "error" in message:
        return of_error(message, revision)
    return of_result(message, revision, answered)


def of_method(message: dict[str, Any], revision: str) -> list[str]:
    asks = "id" in message
    if message["method"] == "notifications/tasks" and revision == "2026-07-28":
        return []  # of an extension, which the schema does not know
    name = (REQUESTS if asks else NOTIFICATIONS).get(message["method"])
    if name is None:
        return [f"a server never sends {message['method']}"]
    if asks and revision == "2026-07-28":
        return [f"a server never sends requests in {revision}: {message['method']}"]
    return against(name, message, revision)


def of_error(message: dict[str, Any], revision: str) -> list[str]:
    if message.get("id") is None:
        # JSON-RPC wants a null id where none could be read; the schemas of MCP know only
        # an absent one, or none at all.
        message = {**message, "id": 0}
    older, newer = "JSONRPCError", "JSONRPCErrorResponse"
    return against(older if older in definitions(revision) else newer, message, revision)


def of_result(message: dict[str, Any], revision: str, answered: str | None) -> list[str]:
    result = message.get("result")
    if not isinstance(result, dict) or "id" not in message:
        return [f"neither a result nor an error: {json.dumps(message)[:200]}"]
    if result.get("resultType") == "input_required":
        return against("InputRequiredResult", result, revision)
    if result.get("resultType") == "task":  # of an extension, which the schema does not know
        return against("Result", result, revision)
    if answered == "tools/call" and "task" in result:
        return against("CreateTaskResult", result, revision)
    if revision == "2025-11-25" and answered in CORE_TASKS:
        return against(CORE_TASKS[answered], result, revision)
    return against(RESULTS.get(answered or "", "Result"), result, revision)


def against(name: str, value: Any, revision: str) -> list[str]:
    if not available(revision):
        return []
    if name not in definitions(revision):
        return [f"{revision} has no {name}: {json.dumps(value)[:200]}"]
    return [
        f"{name} ({revision}) at /{'/'.join(map(str, error.absolute_path))}: {error.message[:300]}"
        for error in validator(name, revision).iter_errors(value)
    ]


@cache
def available(revision: str) -> bool:
    found = (SCHEMAS / revision / "schema.json").is_file()
    if not found:
        print(f"messages of {revision} are not checked: no {SCHEMAS}", file=sys.stderr)
    return found


@cache
def definitions(revision: str) -> dict[str, Any]:
    if not available(revision):
        return {}
    document = json.loads((SCHEMAS / revision / "schema.json").read_text(encoding="utf-8"))
    found: dict[str, Any] = document.get("$defs") or document["definitions"]
    return found


@cache
def validator(name: str, revision: str) -> Any:
    document = json.loads((SCHEMAS / revision / "schema.json").read_text(encoding="utf-8"))
    if "$defs" in document:
        return Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": document["$defs"]})
    root = {"$ref": f"#/definitions/{name}", "definitions": document["definitions"]}
    return Draft7Validator(root)
