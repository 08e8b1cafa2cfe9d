"""How long a script other than a tool may run: the request, its metadata, the default."""

from __future__ import annotations

from toolyard.errors import INTERNAL_ERROR, ProtocolError, ToolError
from toolyard.protocol.call import Call, Channel, JsonObject
from toolyard.scripts.results import own_error, text_of
from toolyard.scripts.running.deadline import TimeLimit
from toolyard.scripts.running.run import Finished, ScriptSpec
from toolyard.scripts.running.runner import Runner
from toolyard.scripts.settings import RunnerSettings
from toolyard.scripts.tool import seconds


def limit_for(metadata: JsonObject, call: Call | None, settings: RunnerSettings) -> TimeLimit:
    asked = seconds(call.params.get("timeoutSecs")) if call is not None else None
    own = seconds(metadata.get("timeoutSecs"))
    return TimeLimit(min(asked or own or settings.default_timeout, settings.max_timeout))


async def run_script(
    runner: Runner, spec: ScriptSpec, call: Call | None, channel: Channel | None, what: str
) -> Finished:
    """Run to the end; errors of the start, of time and of size are the server's to report."""
    try:
        finished = await runner.run(spec, call, channel)
    except ToolError as error:
        raise ProtocolError(INTERNAL_ERROR, error.message) from error
    if finished.said_error.strip():
        raise own_error(finished.said_error)
    if finished.timed_out is not None:
        limit = spec.timeout.seconds if spec.timeout else runner.settings.default_timeout
        raise ProtocolError(INTERNAL_ERROR, f"{what} timed out after {limit:g}s")
    if finished.overflowed:
        raise ProtocolError(INTERNAL_ERROR, f"{what} printed too much")
    return finished


def complaint(finished: Finished, otherwise: str) -> str:
    """What a script that failed said about it."""
    return text_of(finished.stderr).strip() or otherwise
