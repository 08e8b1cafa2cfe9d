"""Several processes of ourselves, kept running: started, started again, told to end. Knows no MCP.

The supervisor forks: a worker begins as a copy of the small process that read the command line,
and loads what it serves with by itself. A place goes through these states, in this order:

* starting: forked; it has not said yet that it serves
* serving: it has said so
* resting: it has ended though nobody asked it to; after a pause it is started again. The pause
  doubles from crash to crash, and is short again once a worker has lasted.

The first worker starts alone. What is wrong with the configuration is wrong for all of them, so
it is said once: where the first one ends before it serves, the supervisor ends as it did. From
then on nothing that happens to a worker ends the others.

A signal is passed on to all workers, and then none is started again. Those that do not end in
time are killed. Workers hold the reading end of a pipe, the lifeline, that only the supervisor
could write to: should it be killed, they read the end of it, and leave.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

from toolyard.errors import ConfigError
from toolyard.telemetry import logger

log = logger("workers")
SHORTEST_PAUSE, LONGEST_PAUSE = 0.1, 30.0
LASTED = 30.0  # seconds after which an end is not taken for another crash of the same kind
KILL_AGAIN = 1.0
_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_BUG = 70  # sysexits.h: internal software error


@dataclass(frozen=True, slots=True)
class WorkerPlace:
    """What a worker is told about itself."""

    number: int
    first: bool  # nobody has served before it
    lifeline: int
    ready: Callable[[], None]


@dataclass(slots=True)
class _Worker:
    number: int
    pid: int = 0  # 0: it does not run
    serving: bool = False
    began: float = 0.0
    pause: float = 0.0
    due: float = 0.0  # when it is started again


class Supervisor:
    def __init__(
        self,
        count: int,
        work: Callable[[WorkerPlace], int],
        ended: Callable[[int], None],
        ending: Callable[[], None],
        drain: float,
    ) -> None:
        """`work` is done in each worker. Here, `ended` is when one has, and `ending` when all
        are told to end, for which they have `drain` seconds.
        """
        self._workers = [_Worker(number) for number in range(count)]
        self._work = work
        self._ended = ended
        self._ending = ending
        self._drain = drain
        self._served = False  # somebody has
        self._told: int | None = None  # the signal by which we were
        self._deadline = 0.0
        self._code = 0

    def run(self) -> int:
        """Until told to end, or the first worker could not begin; the exit code."""
        self._lifeline, self._held = os.pipe()
        self._news, self._said = os.pipe()
        self._signals, self._signalled = os.pipe()
        for end in (self._news, self._signals, self._signalled):
            os.set_blocking(end, False)
        before = {number: signal.signal(number, _noticed) for number in (*_SIGNALS, signal.SIGCHLD)}
        signal.set_wakeup_fd(self._signalled)
        try:
            self._start(self._workers[0])
            while self._running() or self._told is None:
                self._step()
        finally:
            signal.set_wakeup_fd(-1)
            for number, handler in before.items():
                signal.signal(number, handler)
        return self._code

    def _running(self) -> list[_Worker]:
        return [worker for worker in self._workers if worker.pid]

    def _step(self) -> None:
        """Wait for whatever happens next, and do what it calls for."""
        readable, _, _ = select.select([self._news, self._signals], [], [], self._until_due())
        if self._news in readable:
            for number in os.read(self._news, 4096):
                self._serves(self._workers[number])
        if self._signals in readable:
            for number in os.read(self._signals, 4096):
                if number != signal.SIGCHLD:
                    self._pass_on(number)
        self._reap()
        now = time.monotonic()
        if self._told is not None:
            self._insist(now)
        elif self._served:
            for worker in self._workers:
                if not worker.pid and worker.due <= now:
                    self._start(worker)

    def _until_due(self) -> float | None:
        now = time.monotonic()
        if self._told is not None:
            return max(self._deadline - now, 0.0)
        resting = [worker.due for worker in self._workers if not worker.pid]
        return max(min(resting) - now, 0.0) if resting and self._served else None

    def _serves(self, worker: _Worker) -> None:
        worker.serving = self._served = True

    def _pass_on(self, number: int) -> None:
        if self._told is None:
            self._told, self._deadline = number, time.monotonic() + self._drain
            self._ending()
        for worker in self._running():
            os.kill(worker.pid, number)

    def _insist(self, now: float) -> None:
        if now < self._deadline:
            return
        self._deadline = now + KILL_AGAIN
        for worker in self._running():
            log.warning("worker %d does not end: it is killed", worker.number)
            os.kill(worker.pid, signal.SIGKILL)

    # -- a worker begins and ends ------------------------------------------------------

    def _start(self, worker: _Worker) -> None:
        worker.began, worker.serving = time.monotonic(), False
        try:
            worker.pid = os.fork()
        except OSError as error:
            log.error("worker %d cannot be started: %s", worker.number, error)
            self._rest(worker, time.monotonic())
            return
        if not worker.pid:
            self._become(worker)

    def _become(self, worker: _Worker) -> None:
        """In the worker: nothing of the supervisor is left, and nothing of it is unwound."""
        code = _BUG
        try:
            signal.set_wakeup_fd(-1)
            for number in (*_SIGNALS, signal.SIGCHLD):
                signal.signal(number, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            for end in (self._held, self._news, self._signals, self._signalled):
                os.close(end)
            said, message = self._said, bytes([worker.number])
            place = WorkerPlace(
                worker.number,
                not self._served,
                self._lifeline,
                lambda: os.close(said) if os.write(said, message) else None,
            )
            code = self._work(place)
        except ConfigError as error:
            print(error, file=sys.stderr)
            code = 2
        except KeyboardInterrupt:
            code = 130
        except BaseException:
            log.exception("worker %d failed", worker.number)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    def _reap(self) -> None:
        for worker in self._running():
            pid, status = os.waitpid(worker.pid, os.WNOHANG)
            if pid:
                self._gone(worker, os.waitstatus_to_exitcode(status))

    def _gone(self, worker: _Worker, code: int) -> None:
        worker.pid = 0
        self._ended(worker.number)
        if self._told is not None:
            self._code = self._code or _exit_code(code)
        elif not self._served and not worker.serving:
            self._told, self._code = signal.SIGCHLD, _exit_code(code)
        else:
            self._rest(worker, time.monotonic())
            how = f"signal {-code}" if code < 0 else f"exit code {code}"
            log.error(
                "worker %d ended with %s: it is started again in %.1f s",
                worker.number,
                how,
                worker.pause,
            )

    def _rest(self, worker: _Worker, now: float) -> None:
        crashed = now - worker.began < LASTED
        worker.pause = min(worker.pause * 2, LONGEST_PAUSE) if crashed and worker.pause else 0.0
        worker.pause = worker.pause or SHORTEST_PAUSE
        worker.due = now + worker.pause


def _noticed(_number: int, _frame: object) -> None:
    """The wakeup descriptor says it; without a handler there would be nothing to say."""


def _exit_code(code: int) -> int:
    return 128 - code if code < 0 else code
