"""What a tool's run means as a CallToolResult. Pure: no I/O, no clock."""

from __future__ import annotations

import re
from typing import NamedTuple, cast

from toolyard.errors import INTERNAL_ERROR, ProtocolError
from toolyard.protocol.asking.rounds import asks, has_something_to_ask
from toolyard.protocol.call import Json, JsonObject
from toolyard.protocol.codec import exact
from toolyard.scripts.running.deadline import TimeLimit
from toolyard.scripts.running.run import Finished

TIMEOUT_EXIT = 124
NOT_JSON = object()
# No JSON begins like this.
_NOT_JSON = re.compile(rb"\s*[^\s\[{\"0-9tfn-]")


class Shaping(NamedTuple):
    """What a tool's results depend on."""

    name: str
    max_output: int
    timeout_hint: str | None = None
    keep_output: bool = False  # the text is the output to the last newline


def result_of(outcome: Finished, limit: TimeLimit, shaping: Shaping) -> JsonObject:
    """In order: the script's own error, its limits, its exit code, its output."""
    if outcome.said_error.strip():
        raise own_error(outcome.said_error)
    meta: JsonObject = {"exitCode": outcome.exit_code}
    if outcome.stderr:
        meta["stderr"] = text_of(outcome.stderr)
    if outcome.overflowed:
        return failure(shaping, f"Tool output exceeded {shaping.max_output} bytes", meta)
    if outcome.timed_out is not None:
        return timeout_result(outcome, limit, shaping, meta)
    output = json_of(outcome.stdout)
    if is_result(output):
        return passed_through(cast(JsonObject, output), shaping, meta)
    if outcome.exit_code:
        return failure(shaping, why_failed(outcome, shaping), meta)
    return success(output, printed(outcome.stdout, shaping), shaping, meta)


def own_error(raw: bytes) -> ProtocolError:
    """MCP_TOOL_ERROR_FILE: `{code, message, data}`, or any text."""
    value = json_of(raw)
    if isinstance(value, dict):
        code, message = value.get("code"), value.get("message")
        if isinstance(code, int) and not isinstance(code, bool) and isinstance(message, str):
            return ProtocolError(code, message, value.get("data"))
    return ProtocolError(INTERNAL_ERROR, "Tool failed", text_of(raw))


def is_result(value: Json) -> bool:
    """Did the script print a whole CallToolResult, or ask for input?"""
    if not isinstance(value, dict):
        return False
    if asks(value):
        return has_something_to_ask(value)
    content = value.get("content")
    if not isinstance(content, list) or not all(is_block(block) for block in content):
        return False
    return bool(content) or "isError" in value or "structuredContent" in value


def is_block(value: Json) -> bool:
    return isinstance(value, dict) and isinstance(value.get("type"), str)


def passed_through(output: JsonObject, shaping: Shaping, meta: JsonObject) -> JsonObject:
    own_meta = output.get("_meta")
    all_meta = {**own_meta, **meta} if isinstance(own_meta, dict) else meta
    if asks(output):
        return {**output, "_meta": all_meta}
    is_error = bool(output.get("isError")) or meta["exitCode"] != 0
    return {"name": shaping.name, **output, "isError": is_error, "_meta": with_ui(all_meta)}


def with_ui(meta: JsonObject) -> JsonObject:
    """`ui/resourceUri`, the older spelling, is also given in the newer one."""
    uri = meta.get("ui/resourceUri")
    if uri is None:
        return meta
    ui = meta.get("ui")
    return {**meta, "ui": {"resourceUri": uri, **(ui if isinstance(ui, dict) else {})}}


def printed(stdout: bytes, shaping: Shaping) -> str:
    return stdout.decode("utf-8", "replace") if shaping.keep_output else text_of(stdout)


def why_failed(outcome: Finished, shaping: Shaping) -> str:
    return (
        printed(outcome.stdout, shaping)
        or text_of(outcome.stderr)
        or f"Tool failed with exit code {outcome.exit_code}"
    )


def success(output: Json, text: str, shaping: Shaping, meta: JsonObject) -> JsonObject:
    result = {
        "name": shaping.name,
        "content": [{"type": "text", "text": text}],
        "isError": False,
        "_meta": meta,
    }
    if output is not NOT_JSON and output is not None:
        result["structuredContent"] = output
    return result


def failure(shaping: Shaping, text: str, meta: JsonObject) -> JsonObject:
    return {
        "name": shaping.name,
        "content": [{"type": "text", "text": text}],
        "isError": True,
        "_meta": meta,
    }


def timeout_result(
    outcome: Finished, limit: TimeLimit, shaping: Shaping, meta: JsonObject
) -> JsonObject:
    message = TIMEOUT_MESSAGES[outcome.timed_out or "fixed"].format(
        seconds=whole(limit.seconds), maximum=whole(limit.maximum)
    )
    error: JsonObject = {
        "type": "timeout",
        "message": message,
        "timeoutSecs": whole(limit.seconds),
        "reason": outcome.timed_out,
        "exitCode": TIMEOUT_EXIT,
    }
    if limit.extends:
        error |= {"progressExtendsTimeout": True, "maxTimeoutSecs": whole(limit.maximum)}
    text = message
    if shaping.timeout_hint:
        error["hint"] = shaping.timeout_hint
        text = f"{message}\n\nSuggestion: {shaping.timeout_hint}"
    result = failure(shaping, text, {**meta, "exitCode": TIMEOUT_EXIT})
    result["structuredContent"] = {"success": False, "error": error}
    return result


TIMEOUT_MESSAGES = {
    "fixed": "Tool timed out after {seconds}s",
    "idle": "Tool timed out after {seconds}s (no progress reported)",
    "max_exceeded": "Tool exceeded maximum runtime of {maximum}s",
}


def whole(seconds: float) -> float:
    return int(seconds) if seconds == int(seconds) else seconds


def json_of(raw: bytes) -> Json:
    if _NOT_JSON.match(raw):
        return NOT_JSON  # as most texts are, and trying would cost more
    try:
        return exact(raw)
    except ValueError:
        return NOT_JSON


def text_of(raw: bytes) -> str:
    """As a shell's `$(...)` would have it: without the line ends that close it."""
    return raw.decode("utf-8", "replace").rstrip("\n")
