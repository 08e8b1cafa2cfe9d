"""A resource as a Target: something reads it, we shape it, and notice when it changes."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Mapping
from typing import Protocol

from toolyard.errors import INVALID_PARAMS, ProtocolError
from toolyard.files.beneath import stat_real
from toolyard.files.stamp import stamp_of
from toolyard.protocol.call import Call, Channel, JsonObject
from toolyard.scripts.contract.environ import compact
from toolyard.scripts.limits import complaint, limit_for, run_script
from toolyard.scripts.resources.changes import FileChanges
from toolyard.scripts.resources.contents import About, Body, printed_result, read_result, unreadable
from toolyard.scripts.results import text_of
from toolyard.scripts.running.run import ScriptSpec
from toolyard.scripts.running.runner import Runner


class Reader(Protocol):
    """Fetches the bytes behind a URI, or a whole result."""

    async def read(
        self, arguments: JsonObject, call: Call | None, channel: Channel | None
    ) -> Body | JsonObject: ...

    def paths(self, arguments: JsonObject) -> tuple[str, ...]:
        """The files that decide what is read; none where it cannot be known.

        Raises ProtocolError where they may not be read.
        """


class ResourceTarget:
    """`looks`: how many may look again at the same time at what no file tells of."""

    def __init__(
        self,
        reader: Reader,
        about: About,
        poll_interval: float,
        changes: FileChanges,
        looks: asyncio.Semaphore,
    ) -> None:
        self._looks = looks
        self._reader = reader
        self._about = about
        self._poll_interval = poll_interval
        self._changes = changes

    async def call(self, arguments: JsonObject, call: Call, channel: Channel) -> JsonObject:
        body = await self._reader.read(arguments, call, channel)
        if isinstance(body, dict):
            return body
        return read_result(arguments["uri"], body, self._about)

    def admit(self, arguments: JsonObject) -> None:
        """May this be watched? Raises ProtocolError where it could not be read either."""
        self._reader.paths(arguments)

    async def watch(self, arguments: JsonObject, call: Call, changed: Callable[[], None]) -> None:
        """Call `changed` whenever the content has: on an event, or found by looking again."""
        with self._changes.expect(self._paths(arguments)) as expected:
            last = await self.fingerprint(arguments)
            while True:
                await expected.wait(self._poll_interval)
                now = await self.fingerprint(arguments)
                if now != last:
                    last = now
                    changed()

    async def fingerprint(self, arguments: JsonObject) -> str:
        """Differs when the content does; cheap for files."""
        paths = self._paths(arguments)
        if paths:
            return ",".join(map(_stamp, paths))
        try:
            async with self._looks:
                body = await self._reader.read(arguments, None, None)
        except ProtocolError as error:
            return f"error: {error.message}"
        data = compact(body) if isinstance(body, dict) else body.data
        return hashlib.sha256(data).hexdigest()

    def _paths(self, arguments: JsonObject) -> tuple[str, ...]:
        try:
            return self._reader.paths(arguments)
        except ProtocolError:
            return ()


def _stamp(path: str) -> str:
    try:
        return str(stamp_of(stat_real(path)))
    except OSError:
        return "missing"


class ProgramReader:
    """An executable whose output is the content.

    A template's variables reach it as MCP_TEMPLATE_ARGS_JSON.
    """

    def __init__(self, path: str, metadata: JsonObject, runner: Runner) -> None:
        self._path = path
        self._metadata = metadata
        self._runner = runner

    async def read(
        self, arguments: JsonObject, call: Call | None, channel: Channel | None
    ) -> Body | JsonObject:
        uri = arguments["uri"]
        if "\0" in uri:
            raise ProtocolError(INVALID_PARAMS, "Not a URI", {"uri": uri})
        variables = {name: value for name, value in arguments.items() if name != "uri"}
        runner = self._runner
        spec = ScriptSpec(
            path=self._path,
            argv=(uri,),
            environ=runner.environ,
            extra_env={
                "MCP_RESOURCE_URI": uri,
                "MCP_RESOURCE_NAME": str(self._metadata.get("name", "")),
                "MCP_RESOURCE_PATH": self._path,
            },
            payloads={
                b"MCP_TEMPLATE_ARGS": compact(variables),
                b"MCP_RESOURCE_METADATA": compact(self._metadata),
            },
            cwd=runner.paths.root,
            timeout=limit_for(self._metadata, call, runner.settings),
            max_output=runner.settings.max_resource_bytes,
        )
        finished = await run_script(runner, spec, call, channel, "Resource")
        if finished.exit_code:
            why = complaint(finished, text_of(finished.stdout) or "Resource failed")
            raise unreadable(uri, why)
        return printed_result(finished.stdout) or Body(finished.stdout)

    def paths(self, arguments: JsonObject) -> tuple[str, ...]:
        return ()


class ByScheme:
    """For templates: the concrete URI says who reads it."""

    def __init__(self, readers: Mapping[str, Reader], otherwise: Reader) -> None:
        self._readers = readers
        self._otherwise = otherwise

    async def read(
        self, arguments: JsonObject, call: Call | None, channel: Channel | None
    ) -> Body | JsonObject:
        return await self._reader(arguments).read(arguments, call, channel)

    def paths(self, arguments: JsonObject) -> tuple[str, ...]:
        return self._reader(arguments).paths(arguments)

    def _reader(self, arguments: JsonObject) -> Reader:
        scheme = str(arguments["uri"]).partition(":")[0].lower()
        return self._readers.get(scheme, self._otherwise)
