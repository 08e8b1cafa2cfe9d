"""A bash that has loaded a policy and answers checks until it is told to stop.

Knows the few lines of shell that drive it and the form of its answers; decides nothing.

It is started by asyncio, and not as a child of `processes/lasting`: its answers are fields
that end in NUL, each line of its stderr goes to our log, and a check that it forked may
answer after it has ended, which a lasting child's pipes do not wait for.
"""

from __future__ import annotations

import asyncio
import logging
import signal
from collections import deque
from collections.abc import Callable, Mapping
from typing import NamedTuple

from toolyard import telemetry
from toolyard.files.lines import Lines
from toolyard.processes.group import signal_group
from toolyard.scripts.running.runner import Runner

log = telemetry.logger("policy")
LINGER = 1.0
TAIL_LINES = 8
FIELDS = 6
MAX_LINE = 64 * 1024
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
    status: int  # 0: allowed
    decided: bool  # False: the script has no check of its own
    code: int | None
    message: str
    data: str


class LoadedPolicy:
    """Started at once; a file that cannot be loaded shows at the first check."""

    def __init__(self, path: str, bash: str, env: Mapping[bytes, bytes], runner: Runner) -> None:
        self._path = path
        self._runner = runner
        self._waiting: dict[bytes, asyncio.Future[Verdict]] = {}
        self._asked = 0
        self._said: deque[str] = deque(maxlen=TAIL_LINES)
        self._process: asyncio.subprocess.Process | None = None
        self._over = False
        self.proven = False  # it has answered something
        self._stopped: Callable[[], None] = lambda: None
        argv = (bash, f"{runner.paths.sdk_dir}/{_DRIVER}", path)
        self._life = asyncio.get_running_loop().create_task(self._live(argv, env))
        self._started = asyncio.Event()

    @property
    def alive(self) -> bool:
        gone = self._process is not None and self._process.returncode is not None
        return not (self._over or gone)

    async def ask(self, name: str, metadata: bytes, timeout: float) -> Verdict:
        await self._started.wait()
        process = self._process
        if process is None or process.stdin is None or self._over:
            raise PolicyFailed(self._why_it_ended())
        self._asked += 1
        ticket = b"%d" % self._asked
        answer: asyncio.Future[Verdict] = asyncio.get_running_loop().create_future()
        self._waiting[ticket] = answer
        request = (ticket, name.encode("utf-8", "replace").replace(b"\0", b""), metadata)
        process.stdin.write(b"".join(part + b"\0" for part in request))
        try:
            async with asyncio.timeout(timeout):
                return await answer
        except TimeoutError:
            raise PolicyFailed(f"{self._path}: did not decide within {timeout:g}s") from None
        finally:
            del self._waiting[ticket]

    def ask_no_more(self, stopped: Callable[[], None]) -> None:
        """Let it end once its last checks are answered."""
        self._stopped = stopped
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
        if self._over:
            stopped()

    async def end(self) -> None:
        self._life.cancel()
        await asyncio.gather(self._life, return_exceptions=True)

    async def _live(self, argv: tuple[str, ...], env: Mapping[bytes, bytes]) -> None:
        shared = self._runner.open()
        row = -1
        try:
            process = self._process = await asyncio.create_subprocess_exec(
                *argv,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                cwd=self._runner.paths.root,
                env=env,
                start_new_session=True,
            )
            row = shared.watcher.watch(process.pid)
            self._started.set()
            await self._attend(process)
        except OSError as error:
            self._said.append(error.strerror or str(error))
        finally:
            self._over = True
            self._started.set()
            await self._bury()
            shared.watcher.forget(row)
            self._fail_the_rest()
            self._stopped()

    async def _attend(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None and process.stderr is not None
        loop = asyncio.get_running_loop()
        hearing = {
            loop.create_task(self._hear(process.stdout)),
            loop.create_task(self._listen(process.stderr)),
        }
        try:
            await process.wait()
            # A check that outlives the bash that started it may still have its say.
            await asyncio.wait(hearing, timeout=LINGER)
        finally:
            for task in hearing:
                task.cancel()

    async def _hear(self, stdout: asyncio.StreamReader) -> None:
        try:
            while True:
                fields = [(await stdout.readuntil(b"\0"))[:-1] for _ in range(FIELDS)]
                waiting = self._waiting.get(fields[0])
                if waiting is not None and not waiting.done():
                    waiting.set_result(_verdict(fields[1:]))
                    self.proven = True
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            return

    async def _listen(self, stderr: asyncio.StreamReader) -> None:
        lines = Lines(
            lambda line: self._note(line.decode("utf-8", "replace")), MAX_LINE, lambda: None
        )
        try:
            while chunk := await stderr.read(65536):
                lines.feed(chunk)
        finally:
            lines.flush()

    def _note(self, line: str) -> None:
        if line.startswith(_LOGGED):
            level, _, text = line.removeprefix(_LOGGED).partition(" ")
            log.log(_LEVELS.get(level, logging.INFO), "policy.sh: %s", text)
        elif line.strip():
            self._said.append(line)
            log.info("policy.sh: %s", line)

    async def _bury(self) -> None:
        if self._process is None:
            return
        signal_group(self._process.pid, signal.SIGKILL)
        await self._process.wait()

    def _fail_the_rest(self) -> None:
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(PolicyFailed(self._why_it_ended()))

    def _why_it_ended(self) -> str:
        code = self._process.returncode if self._process is not None else None
        said = f": {' / '.join(self._said)}" if self._said else ""
        place = self._path
        return f"{place} failed with exit code {code}{said}" if code else f"{place} ended{said}"


def _verdict(fields: list[bytes]) -> Verdict:
    status, decided, code, message, data = (field.decode("utf-8", "replace") for field in fields)
    return Verdict(
        status=int(status) if status.isdecimal() else 1,
        decided=decided == "yes",
        code=_code(code),
        message=message,
        data=data,
    )


def _code(text: str) -> int | None:
    try:
        return int(text) or None
    except ValueError:
        return None
