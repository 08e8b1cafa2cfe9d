"""Run scripts: a shared gate, pooled exchange folders, deadlines, and nothing left behind.

A tool is a `ScriptTarget` (tool.py). Every other kind of script (prompts, completions,
resources, providers, hooks) is run with

    outcome = await runner.run(
        ScriptSpec(
            path=real_path,
            argv=(uri,),
            environ=runner.environ,           # or kept(os.environ, ISOLATED)
            extra_env={"MCP_COMPLETION_NAME": name},
            payloads={b"MCP_COMPLETION_ARGS": compact(arguments)},
            cwd=runner.paths.root,
            timeout=TimeLimit(5.0),
        ),
        call, channel,                        # leave out where nobody listens
    )

which returns however the script ended (exit code, output, `timed_out`), and raises
ToolError where it could not be started. With a channel the script gets an exchange
folder: its progress and log lines are passed on and its questions are asked. A task
that is cancelled while it waits takes the script's whole process group with it.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple, TypeAlias

from toolyard import telemetry
from toolyard.errors import ToolError
from toolyard.processes.ending.guard import Guard
from toolyard.processes.once import Command, Process
from toolyard.protocol.call import Call, Channel, JsonObject
from toolyard.scripts.contract.environ import (
    INPUT_RESPONSES,
    LONGEST_VALUE,
    RUN_ROOT,
    Environ,
    Roots,
    RootsInForce,
    Told,
    call_environ,
    client_environ,
    compact,
    encoded,
    project_environ,
)
from toolyard.scripts.contract.exchange import ExchangeFolder, ExchangePool
from toolyard.scripts.running.deadline import TimeLimit
from toolyard.scripts.running.gate import Gate
from toolyard.scripts.running.launch import check_script, launch
from toolyard.scripts.running.run import Finished, Run, ScriptSpec, SharedByRuns
from toolyard.scripts.settings import NO_SERVER_ENV, ProjectPaths, RunnerSettings, ServerEnv

log = telemetry.logger("runners")
PULSE = 0.025
CLOSE_PATIENCE = 5.0

Announce: TypeAlias = Callable[[str, JsonObject], None]


def log_of(path: str) -> Callable[[bytes], None]:
    """Puts into our log what a script says on stderr."""
    return lambda line: log.info("%s: %s", path, line.decode("utf-8", "replace"))


def unannounced(method: str, params: JsonObject) -> None:
    """Nobody listens for changes."""


class Load(NamedTuple):
    """How many scripts run, and how many wait for their turn."""

    running: int = 0
    waiting: int = 0


class Runner:
    """Owns every script that runs. Nothing is opened before the first one."""

    def __init__(
        self,
        settings: RunnerSettings,
        paths: ProjectPaths,
        roots: RootsInForce | None = None,
        guard: Guard | None = None,
        *,
        server_env: ServerEnv = NO_SERVER_ENV,
        announce: Announce = unannounced,
    ) -> None:
        """The guard is shared with whatever else starts processes, and closed with the runner.

        `announce` is called when a script says that what is on offer has changed.
        """
        self.settings = settings
        self.paths = paths
        self._server_env = server_env
        self._announce = announce
        self.roots = roots or RootsInForce(Roots.at(paths.allowed_roots))
        self._guard = guard or Guard(settings.tmp_root)
        self._shared: SharedByRuns | None = None
        self._pulse: asyncio.TimerHandle | None = None
        self._closed = False
        self._last_told: Told | None = None
        self._last_environ: Environ = {}

    @cached_property
    def environ(self) -> Environ:
        """What every script of the project gets, before anything of its own."""
        return project_environ(os.environ, self.settings, self.paths, self._server_env.variables)

    @property
    def load(self) -> Load:
        shared = self._shared
        return Load() if shared is None else Load(len(shared.live), shared.gate.waiting)

    def open(self) -> SharedByRuns:
        """Make the run folder and start the watcher, once; the first run does it otherwise."""
        if self._shared is None:
            try:
                self._shared = self._open(asyncio.get_running_loop())
            except OSError as error:
                raise ToolError(f"scripts cannot be run: {error}") from error
        return self._shared

    def _open(self, loop: asyncio.AbstractEventLoop) -> SharedByRuns:
        resources = self._guard.open()
        return SharedByRuns(
            loop=loop,
            settings=self.settings,
            gate=self._new_gate(self.settings.max_concurrent),
            task_gate=self._new_gate(self.settings.max_tasks),
            pool=ExchangePool(resources.root, loop),
            exits=resources.exits,
            mark=os.fsencode(resources.root),
            watcher=resources.watcher,
            announce=self._announce,
        )

    def _new_gate(self, size: int) -> Gate:
        return Gate(size)

    async def run(
        self, spec: ScriptSpec, call: Call | None = None, channel: Channel | None = None
    ) -> Finished:
        if self._closed:
            raise ToolError("the server is shutting down")
        if self._server_env.problem is not None:
            raise ToolError(f"no script is run: {self._server_env.problem}")
        mode = check_script(spec.path).st_mode
        shared = self.open()
        gate = shared.gate if call is None or call.task is None else shared.task_gate
        await gate.enter()
        if self._closed:
            gate.leave()
            raise ToolError("the server is shutting down")
        run = Run(shared, gate, spec.timeout or TimeLimit(self.settings.default_timeout))
        self._start(run, spec, mode, call, channel)
        return await run.finished()

    def _start(
        self, run: Run, spec: ScriptSpec, mode: int, call: Call | None, channel: Channel | None
    ) -> None:
        shared = self.open()
        try:
            exchange = run.take_exchange() if channel is not None or spec.payloads else None
            env = self._environ(run.mark, spec, exchange, call, channel)

            def start(argv: list[str]) -> tuple[Process, int]:
                command = self._command(spec, argv, env)
                process = Process(command, shared.loop, shared.exits, run.ended)
                return process, shared.watcher.watch(process.pid)

            if channel is not None:
                run.connect(call, channel)
            run.started(*launch(spec.path, mode, start))
        except OSError as error:
            run.release()
            raise ToolError(f"{spec.path} cannot be started: {error.strerror}") from error
        except BaseException:
            run.release()
            raise
        if self._pulse is None:
            self._pulse = shared.loop.call_later(PULSE, self._beat, shared)

    def _command(self, spec: ScriptSpec, argv: list[str], env: Environ) -> Command:
        settings = self.settings
        return Command(
            argv=[*argv, *spec.argv],
            env=env,
            cwd=spec.cwd,
            stdin=spec.stdin,
            max_stdout=settings.max_output if spec.max_output is None else spec.max_output,
            stderr_tail=settings.stderr_tail if settings.stderr_capture else 0,
            hears_stderr=log_of(spec.path) if settings.stderr_copy else None,
        )

    def _environ(
        self,
        mark: bytes,
        spec: ScriptSpec,
        exchange: ExchangeFolder | None,
        call: Call | None,
        channel: Channel | None,
    ) -> Environ:
        env = {**spec.environ, RUN_ROOT: mark}
        payloads = spec.payloads
        if exchange is not None and channel is not None:
            env.update(exchange.environ)
            if call is not None:
                env.update(self._client_environ(call, self.roots.of(channel)))
                env.update(call_environ(call))
                if call.input_responses is not None:
                    payloads = {**payloads, INPUT_RESPONSES: compact(call.input_responses)}
        if spec.extra_env:
            env.update(encoded(spec.extra_env))
        limit = min(self.settings.payload_threshold, LONGEST_VALUE)
        for name, payload in payloads.items():
            if len(payload) <= limit:
                env[name + b"_JSON"] = payload
            elif exchange is not None:
                env[name + b"_JSON"] = b""
                env[name + b"_FILE"] = exchange.write(f"{name.decode()}.json", payload)
        return env

    def _client_environ(self, call: Call, roots: Roots) -> Environ:
        """Computed anew only when another client calls than the last time."""
        previous = self._last_told
        if previous is None or not (
            previous.client is call.client
            and previous.revision is call.revision
            and previous.roots is roots
        ):
            self._last_told = Told(call.client, call.revision, roots)
            self._last_environ = client_environ(self._last_told)
        return self._last_environ

    def _beat(self, shared: SharedByRuns) -> None:
        """Look after deadlines and questions of all runs, only while there are any."""
        self._pulse = None
        if not shared.live:
            return
        self._pulse = shared.loop.call_later(PULSE, self._beat, shared)
        now, now_ns = shared.loop.time(), time.time_ns()
        for run in tuple(shared.live):
            run.tick(now, now_ns)

    async def close(self) -> None:
        """End every run, wait for their end, leave no file and no process."""
        self._closed = True
        shared, self._shared = self._shared, None
        if shared is not None:
            await self._end(shared)
        await self._guard.close()

    async def _end(self, shared: SharedByRuns) -> None:
        for run in tuple(shared.live):
            run.abandon()
        await shared.until_idle(CLOSE_PATIENCE)
        if self._pulse is not None:
            self._pulse.cancel()
        shared.marks.close()
        shared.pool.close()
