"""A bash that has loaded a policy and answers checks until it is told to stop.

Knows the few lines of shell that drive it and the form of its answers; decides nothing.

It is a process that ends (`processes/once`), and not one that lasts: a check that it forked
may answer a moment after it has ended itself, and a lasting child's pipes do not wait for that.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Mapping
from typing import NamedTuple

from toolyard import telemetry
from toolyard.processes.once import Command, Process
from toolyard.scripts.running.runner import Runner

log = telemetry.logger("policy")
LINGER = 1.0
TAIL_LINES = 8
FIELDS = 6
MAX_FIELD = 64 * 1024
_LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}
_LOGGED = "\x1e"  # begins a line of stderr that came through a logging function

_DRIVER = "policy-driver.sh"  # beside the script library


class PolicyFailed(Exception):
    """The policy cannot be asked, and why."""


class Verdict(NamedTuple):
    """What the policy said about one call."""

    status: int  # 0: allowed
    has_own_check: bool  # if not, the allowlist decides
    code: int | None
    message: str
    data: str


class LoadedPolicy:
    """One version of the policy, in a shell of its own.

    It is started at once; a file that cannot be loaded shows at the first check.
    """

    def __init__(self, path: str, bash: str, env: Mapping[bytes, bytes], runner: Runner) -> None:
        self._path = path
        self._shared = runner.open()
        self._answers: dict[bytes, asyncio.Future[Verdict]] = {}
        self._asked = 0
        self._said: deque[str] = deque(maxlen=TAIL_LINES)
        self._fields: list[bytes] = []  # of an answer that is not complete
        self._rest = b""  # of a field that is not
        self._on_end: Callable[[], None] = lambda: None
        self.proven = False  # it has answered something
        self._row = -1
        self._process: Process | None = None
        argv = [bash, f"{runner.paths.sdk_dir}/{_DRIVER}", path]
        try:
            self._process = self._start(argv, env, runner.paths.root)
            self._row = self._shared.watcher.watch(self._process.pid)
        except OSError as error:
            self._said.append(error.strerror or str(error))

    def _start(self, argv: list[str], env: Mapping[bytes, bytes], cwd: str) -> Process:
        command = Command(
            argv,
            env,
            cwd,
            stdin=b"",
            more_stdin=True,
            stderr_tail=0,
            hears_stdout=self._hear,
            hears_stderr=self._note,
            linger=LINGER,
        )
        return Process(command, self._shared.loop, self._shared.exits, self._ended)

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.exit_code is None

    async def ask(self, name: str, metadata: bytes, timeout: float) -> Verdict:
        process = self._process
        if process is None or not self.alive:
            raise PolicyFailed(self._why_it_ended())
        self._asked += 1
        ticket = b"%d" % self._asked
        answer: asyncio.Future[Verdict] = asyncio.get_running_loop().create_future()
        self._answers[ticket] = answer
        request = (ticket, name.encode("utf-8", "replace").replace(b"\0", b""), metadata)
        process.feed(b"".join(part + b"\0" for part in request))
        try:
            async with asyncio.timeout(timeout):
                return await answer
        except TimeoutError:
            raise PolicyFailed(f"{self._path}: did not decide within {timeout:g}s") from None
        finally:
            del self._answers[ticket]

    def ask_no_more(self, on_end: Callable[[], None]) -> None:
        """Let it end once its last checks are answered."""
        self._on_end = on_end
        if self._process is None or self._process.over:
            on_end()
        else:
            self._process.finish_feeding()

    async def end(self) -> None:
        if self._process is not None:
            self._process.terminate(0.0)
            await self._process.done

    def _hear(self, data: bytes) -> None:
        *fields, self._rest = (self._rest + data).split(b"\0")
        self._fields += fields
        while len(self._fields) >= FIELDS:
            ticket, *fields = self._fields[:FIELDS]
            del self._fields[:FIELDS]
            answer = self._answers.get(ticket)
            if answer is not None and not answer.done():
                answer.set_result(_verdict(fields))
                self.proven = True
        if len(self._rest) > MAX_FIELD and self._process is not None:
            self._rest = b""
            self._said.append("printed something that is not an answer")
            self._process.terminate(0.0)

    def _note(self, raw: bytes) -> None:
        line = raw.decode("utf-8", "replace")
        if line.startswith(_LOGGED):
            level, _, text = line.removeprefix(_LOGGED).partition(" ")
            log.log(_LEVELS.get(level, logging.INFO), "policy.sh: %s", text)
        elif line.strip():
            self._said.append(line)
            log.info("policy.sh: %s", line)

    def _ended(self) -> None:
        """Its group is gone: nobody answers any more."""
        self._shared.watcher.forget(self._row)
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(PolicyFailed(self._why_it_ended()))
        self._on_end()

    def _why_it_ended(self) -> str:
        code = self._process.exit_code if self._process is not None else None
        tail = f": {' / '.join(self._said)}" if self._said else ""
        place = self._path
        return f"{place} failed with exit code {code}{tail}" if code else f"{place} ended{tail}"


def _verdict(fields: list[bytes]) -> Verdict:
    status, has_own_check, code, message, data = (
        field.decode("utf-8", "replace") for field in fields
    )
    return Verdict(
        status=int(status) if status.isdecimal() else 1,
        has_own_check=has_own_check == "yes",
        code=_code(code),
        message=message,
        data=data,
    )


def _code(text: str) -> int | None:
    try:
        return int(text) or None
    except ValueError:
        return None
