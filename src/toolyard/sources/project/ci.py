"""For continuous integration: what failed, a line a call, and what the machine was like."""

from __future__ import annotations

import hashlib
import os
import platform
from datetime import UTC, datetime

import orjson

from toolyard.errors import ProtocolError
from toolyard.processes.shell import TookTooLong, bash
from toolyard.protocol.call import Call, Channel, JsonObject, Result, Target
from toolyard.scripts.contract.environ import compact
from toolyard.scripts.results import TIMEOUT_EXIT
from toolyard.settings import Settings
from toolyard.sources.project.running import json_tool
from toolyard.telemetry import logger

log = logger("project")
FAILURES, SNAPSHOT = "failure-summary.jsonl", "env-snapshot.json"
_BASH_SECONDS = 10.0
_PRIVATE = 0o600


class FailureNotes:
    """Writes into a folder; never in the way of a call."""

    def __init__(self, folder: str, settings: Settings) -> None:
        self._folder = folder
        self._tail = settings.tool_stderr_tail_limit
        self._write(SNAPSHOT, os.O_TRUNC, orjson.dumps(snapshot(settings)))

    def of(self, name: str, target: Target) -> Target:
        return FailureRecorder(name, target, self)

    def failed(self, tool: str, arguments: JsonObject, meta: JsonObject, why: str) -> None:
        arguments_text = compact(arguments)
        exit_code = meta.get("exitCode")
        stderr = str(meta.get("stderr", ""))
        line = {
            "timestamp": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "tool": tool,
            "exitCode": exit_code,
            "timedOut": exit_code == TIMEOUT_EXIT,
            "message": why[: self._tail],
            "stderrTail": stderr[-self._tail :],
            "stderrBytes": len(stderr.encode()),
            "argCount": len(arguments),
            "argBytes": len(arguments_text),
            "argHash": hashlib.sha256(arguments_text).hexdigest(),
        }
        self._write(FAILURES, os.O_APPEND, orjson.dumps(line))

    def _write(self, name: str, how: int, line: bytes) -> None:
        try:
            os.makedirs(self._folder, 0o700, exist_ok=True)
            path = os.path.join(self._folder, name)
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | how, _PRIVATE)
            try:
                os.write(descriptor, line + b"\n")
            finally:
                os.close(descriptor)
        except OSError as error:
            log.warning("%s is not written: %s", name, error)


class FailureRecorder:
    """A tool whose failures are written down."""

    __slots__ = ("_name", "_notes", "_target")

    def __init__(self, name: str, target: Target, notes: FailureNotes) -> None:
        self._name = name
        self._target = target
        self._notes = notes

    async def call(self, arguments: JsonObject, call: Call, channel: Channel) -> Result:
        try:
            result = await self._target.call(arguments, call, channel)
        except ProtocolError as error:
            self._notes.failed(self._name, arguments, {}, error.message)
            raise
        if isinstance(result, dict) and result.get("isError"):
            meta = result.get("_meta")
            text = "".join(str(block.get("text", "")) for block in result.get("content", ()))
            fields = meta if isinstance(meta, dict) else {}
            self._notes.failed(self._name, arguments, fields, text)
        return result


def notes_for(settings: Settings) -> FailureNotes | None:
    if not settings.ci_mode or not settings.log_dir:
        return None
    return FailureNotes(settings.log_dir, settings)


def snapshot(settings: Settings) -> JsonObject:
    """Sizes and versions; no value of any variable."""
    tool, binary = json_tool(settings)
    return {
        "bashVersion": _bash_version(),
        "os": platform.platform(),
        "cwd": os.getcwd(),
        "pathBytes": len(os.environb.get(b"PATH", b"")),
        "envBytes": sum(len(name) + len(value) + 2 for name, value in os.environb.items()),
        "jsonTool": tool,
        "jsonToolBin": binary,
    }


def _bash_version() -> str:
    try:
        outcome = bash('printf "%s" "$BASH_VERSION"', [], timeout=_BASH_SECONDS)
    except (OSError, TookTooLong):
        return ""
    return outcome.output.decode("utf-8", "replace")
