"""A script as a tool: the Target that runs it and makes a result of what it said."""

from __future__ import annotations

from functools import cached_property

from toolyard.errors import ToolError
from toolyard.files.beneath import is_below
from toolyard.protocol.call import Call, Channel, Json, JsonObject
from toolyard.scripts.contract.embedded import EmbeddingRefusal, embed, named_in
from toolyard.scripts.contract.environ import (
    ARGUMENTS,
    META,
    METADATA,
    Environ,
    compact,
    tool_environ,
)
from toolyard.scripts.results import Shaping, result_of
from toolyard.scripts.running.deadline import TimeLimit
from toolyard.scripts.running.run import Finished, ScriptSpec
from toolyard.scripts.running.runner import Runner


class ScriptTarget:
    """A tool that is a script. Cheap to make: what it needs is computed with its first call.

    `path` is the script's real path; `metadata` is its registry item, with the fields
    `timeoutSecs`, `timeoutHint`, `progressExtendsTimeout`, `maxTimeoutSecs`, `taskTimeoutSecs`
    and `stdin`.
    """

    def __init__(self, name: str, path: str, metadata: JsonObject, runner: Runner) -> None:
        self.name = name
        self.path = path
        self.metadata = metadata
        self._runner = runner

    async def call(self, arguments: JsonObject, call: Call, channel: Channel) -> JsonObject:
        if call.task is not None and call.task.upstream is not None:
            raise ToolError("the tool has been replaced: what it began can no longer be awaited")
        limit = self._limit(call)
        spec = self._spec(arguments, call, limit)
        outcome = await self._runner.run(spec, call, channel)
        result = result_of(outcome, limit, self._shaping)
        if outcome.said_resources and result.get("isError") is False:
            self._embed(outcome, result, call, channel)
        return result

    @cached_property
    def _checked_path(self) -> str:
        """Both are real paths that stay as they are. Raises ToolError."""
        folder = self._runner.paths.tools_dir
        if not is_below(self.path, folder):
            raise ToolError(f"{self.path} is not inside {folder}")
        return self.path

    @cached_property
    def _environ(self) -> Environ:
        return {**self._runner.environ, **tool_environ(self.name, self.path)}

    @cached_property
    def _metadata(self) -> bytes:
        return compact(self.metadata)

    @cached_property
    def _shaping(self) -> Shaping:
        hint = self.metadata.get("timeoutHint")
        settings = self._runner.settings
        hint = hint if isinstance(hint, str) else None
        return Shaping(self.name, settings.max_output, hint, settings.keep_output)

    @cached_property
    def _own_limit(self) -> TimeLimit:
        settings = self._runner.settings
        return TimeLimit(
            seconds=seconds(self.metadata.get("timeoutSecs")) or settings.default_timeout,
            extends=self.metadata.get("progressExtendsTimeout") is True
            or settings.progress_extends_timeout,
            maximum=seconds(self.metadata.get("maxTimeoutSecs")) or settings.max_timeout,
        )

    @cached_property
    def _task_limit(self) -> TimeLimit:
        """A task has its own: what suits a caller that waits would end every long one."""
        return TimeLimit(
            seconds(self.metadata.get("taskTimeoutSecs")) or self._runner.settings.task_timeout
        )

    def _limit(self, call: Call) -> TimeLimit:
        if call.task is not None:
            return self._task_limit
        requested_time = seconds(call.params.get("timeoutSecs"))
        if requested_time is None:
            return self._own_limit
        own = self._own_limit
        return TimeLimit(
            min(requested_time, self._runner.settings.max_timeout), own.extends, own.maximum
        )

    def _spec(self, arguments: JsonObject, call: Call, limit: TimeLimit) -> ScriptSpec:
        payload = compact(arguments)
        paths = self._runner.paths
        return ScriptSpec(
            path=self._checked_path,
            environ=self._environ,
            payloads={
                ARGUMENTS: payload,
                METADATA: self._metadata,
                META: compact(call.meta),
            },
            cwd=paths.root,
            timeout=limit,
            stdin=payload if self.metadata.get("stdin") == "arguments" else None,
        )

    def _embed(self, outcome: Finished, result: JsonObject, call: Call, channel: Channel) -> None:
        paths, limit = self._runner.paths, self._runner.settings.max_resource_bytes
        roots = (*paths.allowed_roots, *self._runner.roots.of(channel).paths)
        for file in named_in(outcome.said_resources):
            try:
                result["content"].append(embed(file, paths.root, roots, limit))
            except EmbeddingRefusal as refusal:
                channel.log("warning", str(refusal), self.name)


def seconds(value: Json) -> float | None:
    """A positive number of seconds, or digits that spell one."""
    if isinstance(value, str) and value.isdecimal():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
        return None
    return value
