"""One run of a script, from its start until nothing of it is left.

A run joins a process with what it needs from us: a place at the gate, an exchange folder
(where somebody listens), a deadline, a row in the watcher's table. Two look after it. Whoever
called awaits `finished`; the runner calls `tick` some forty times a second. Either may lose
interest while the process goes on, so what the run holds is given back by `retire` alone, and
only when the process is over: until then the folder is in use and the place is taken.

    STARTING   It has its place, perhaps its folder, and no process yet.
                 -> RUNNING     `started`
                 -> RETIRED     `release`: it could not be started
    RUNNING    The process runs and its caller waits. Progress, logs and questions pass.
                 -> FINISHED    it ended by itself
                 -> EXPIRED     `tick`: its time is up, and it was asked to end
                 -> ABANDONED   `abandon`: the caller was cancelled, or the server stops
    EXPIRED    As before, but new questions are not looked for. A process that even KILL
               does not end is given up after a while, so that its caller gets an answer.
                 -> FINISHED    it ended, or was given up
                 -> ABANDONED
    FINISHED   The caller has its output and what it said in its files. Cleaning up is put
               off until the answer is on its way.
                 -> RETIRED     `retire`
                 -> ABANDONED   `retire`: it was given up, and is still there; or `abandon`
    ABANDONED  Nobody waits. It was asked to end; what it says is not heard.
                 -> RETIRED     `ended`: now it has
    RETIRED    Nothing is held.

The folder is used again only after FINISHED, and only if its group was gone by then: any
other end leaves room for somebody who still has it open.

Beside these states a run may lie down, once for each question that is open: its deadline is
paused and its place at the gate is free for others, unless too many have done so already.
When the last question is answered it queues for a place like everybody else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from itertools import count
from types import MappingProxyType
from typing import NamedTuple

from toolyard.processes.ending.exits import Exits
from toolyard.processes.ending.marks import Marks
from toolyard.processes.ending.watcher import Watcher
from toolyard.processes.once import Exit, Process
from toolyard.protocol.call import Call, Channel
from toolyard.scripts.contract.exchange import ERROR, RESOURCES, ExchangeFolder, ExchangePool
from toolyard.scripts.contract.questions import Questions
from toolyard.scripts.contract.stream import Announce, Reporter, Throttle
from toolyard.scripts.running.deadline import Deadline, Expiry, TimeLimit
from toolyard.scripts.running.gate import Gate
from toolyard.scripts.settings import RunnerSettings

GIVE_UP_AFTER = 2.0
BRIEF = 0.025  # a run that ends sooner is never looked at
MAX_SAID = 1024 * 1024


class ScriptSpec(NamedTuple):
    """What to run. `environ` is the whole environment but for what the call adds."""

    path: str  # a real path
    argv: tuple[str, ...] = ()
    environ: Mapping[bytes, bytes] = MappingProxyType({})
    extra_env: Mapping[str, str] = MappingProxyType({})
    # JSON texts by name: each is passed as NAME_JSON, or by file as NAME_FILE when large.
    payloads: Mapping[bytes, bytes] = MappingProxyType({})
    cwd: str | None = None
    timeout: TimeLimit | None = None
    max_output: int | None = None
    stdin: bytes | None = None  # None: /dev/null


class Finished(NamedTuple):
    """How a run ended. `said_error` and `said_resources` come from the script's two files."""

    exit_code: int
    stdout: bytes
    stderr: bytes
    timed_out: Expiry | None = None
    overflowed: bool = False
    said_error: bytes = b""
    said_resources: bytes = b""


@dataclass(frozen=True, slots=True)
class SharedByRuns:
    """What all runs of one runner have in common."""

    loop: asyncio.AbstractEventLoop
    settings: RunnerSettings
    gate: Gate
    task_gate: Gate  # long work must not keep calls that somebody waits for from running
    pool: ExchangePool
    exits: Exits
    mark: bytes  # what tells our children from others, should we be gone
    watcher: Watcher
    announce: Announce
    numbers: Iterator[int] = field(default_factory=count)
    live: set[Run] = field(default_factory=set)
    idle: asyncio.Event = field(default_factory=asyncio.Event)
    marks: Marks = field(init=False)

    def __post_init__(self) -> None:
        marks = Marks(self.loop, self.mark, lambda: {run.number for run in self.live})
        object.__setattr__(self, "marks", marks)

    def gone(self, run: Run, row: int) -> None:
        self.live.discard(run)
        self.watcher.forget(row)
        self.marks.look_soon()
        if not self.live:
            self.idle.set()

    def may_wait_outside(self) -> bool:
        """A script that asks lets another run meanwhile; too many of them keep their places."""
        outside = sum(not run.has_place for run in self.live)
        return outside < self.settings.max_asking

    async def until_idle(self, patience: float) -> None:
        """Until no run is left, or patience is."""
        self.idle.clear()
        if not self.live:
            return
        try:
            async with asyncio.timeout(patience):
                await self.idle.wait()
        except TimeoutError:
            pass


class State(Enum):
    """See the head of this module."""

    STARTING = auto()
    RUNNING = auto()
    EXPIRED = auto()
    FINISHED = auto()
    ABANDONED = auto()
    RETIRED = auto()


AWAITED = (State.RUNNING, State.EXPIRED)


class Run:
    """One script that runs, and what it holds until it is retired. See the head of the module."""

    __slots__ = (
        "_call",
        "_channel",
        "_deadline",
        "_exchange",
        "_gate",
        "_give_up_at",
        "_has_place",
        "_laid_down",
        "_questions",
        "_reporter",
        "_row",
        "_settled_at",
        "_shared",
        "_state",
        "_timed_out",
        "number",
        "process",
    )

    process: Process

    def __init__(self, shared: SharedByRuns, gate: Gate, limit: TimeLimit) -> None:
        """The caller has a place at the gate; it passes to the run."""
        self._shared = shared
        self._gate = gate
        self._state = State.STARTING
        self.number = next(shared.numbers)
        self._exchange: ExchangeFolder | None = None
        now = shared.loop.time()
        self._settled_at = now + BRIEF
        self._deadline = Deadline(limit, now)
        self._call: Call | None = None
        self._channel: Channel | None = None
        self._reporter: Reporter | None = None
        self._questions: Questions | None = None
        self._timed_out: Expiry | None = None
        self._give_up_at = 0.0
        self._has_place = True
        self._laid_down = 0
        self._row = -1

    @property
    def has_place(self) -> bool:
        return self._has_place

    @property
    def mark(self) -> bytes:
        """What everything that it starts carries in its environment."""
        return self._shared.marks.form % self.number

    def take_exchange(self) -> ExchangeFolder:
        self._exchange = self._shared.pool.take()
        return self._exchange

    def connect(self, call: Call | None, channel: Channel) -> None:
        """Let the script be heard, and ask."""
        self._call = call
        self._channel = channel
        if self._exchange is not None:
            self._exchange.hear(self._heard)

    def started(self, process: Process, row: int) -> None:
        """`row`: where the watcher keeps its process group."""
        self.process = process
        self._row = row
        self._shared.live.add(self)
        self._state = State.RUNNING

    async def finished(self) -> Finished:
        try:
            process_exit = await self.process.done
        except asyncio.CancelledError:
            self.abandon()
            raise
        # Cleaning up can wait until the result is on its way.
        self._shared.loop.call_soon(self.retire)
        return self._finished(process_exit)

    def abandon(self) -> None:
        """Nobody waits any more: end it, and see to the rest in the background."""
        if self._state is State.RETIRED:
            return
        self._state = State.ABANDONED
        if self._exchange is not None:
            self._exchange.ignore()
            self._exchange.cancel()
        if self._questions is not None:
            self._questions.close()
        self.process.terminate(self._shared.settings.kill_grace)
        if self.process.over:
            self.retire()

    def ended(self) -> None:
        """The process is over; whoever waits for it retires the run after reading its files."""
        if self._state is State.ABANDONED:
            self.retire()

    def tick(self, now: float, now_ns: int) -> None:
        if now < self._settled_at or self._state not in AWAITED:
            return
        self.process.look()
        if self._state is State.EXPIRED:
            if now >= self._give_up_at:
                self.process.give_up()
            return
        if self._deadline.extends and self._exchange is not None and self._exchange.touched():
            self._deadline.progressed(now)
        self._timed_out = self._deadline.expired(now)
        if self._timed_out is not None:
            self._state = State.EXPIRED
            self._give_up_at = now + self._shared.settings.kill_grace + GIVE_UP_AFTER
            self.process.terminate(self._shared.settings.kill_grace)
        else:
            self._look_for_questions(now_ns)

    def retire(self) -> None:
        """Give everything back, once; a process that does not end holds it until it does."""
        if self._state is State.RETIRED:
            return
        if self._questions is not None:
            self._questions.close()
        if not self.process.over:
            self._state = State.ABANDONED
            return
        self.release()
        self._shared.gone(self, self._row)

    def release(self) -> None:
        if self._exchange is not None:
            self._give_back(self._exchange)
            self._exchange = None
        self._state = State.RETIRED
        if self._has_place:
            self._has_place = False
            self._gate.leave()

    def _give_back(self, exchange: ExchangeFolder) -> None:
        """Others may use the folder only if nobody of the group can still have it open."""
        if self._state is State.FINISHED and self.process.group_gone:
            self._shared.pool.give_back(exchange)
        else:
            self._shared.pool.discard(exchange)

    def lay_down(self) -> None:
        self._laid_down += 1
        if self._laid_down > 1:
            return
        self._deadline.pause(self._shared.loop.time())
        if self._shared.may_wait_outside():
            self._has_place = False
            self._gate.leave()

    async def take_up(self) -> None:
        self._laid_down -= 1
        if self._laid_down:
            return
        if not self._has_place:
            await self._gate.enter()
            self._has_place = True
        self._deadline.resume(self._shared.loop.time())

    def _heard(self, line: bytes) -> None:
        if self._reporter is None and self._channel is not None:
            settings, clock = self._shared.settings, self._shared.loop.time
            self._reporter = Reporter(
                self._channel,
                self._shared.announce,
                lambda: self._deadline.progressed(clock()),
                Throttle(settings.max_progress_per_minute, clock),
                Throttle(settings.max_logs_per_minute, clock),
            )
        if self._reporter is not None:
            self._reporter.line(line)

    def _look_for_questions(self, now_ns: int) -> None:
        if self._exchange is None or self._call is None or self._channel is None:
            return
        if self._questions is None:
            timeout = self._shared.settings.question_timeout
            self._questions = Questions(self._exchange, self._call, self._channel, self, timeout)
        self._questions.look(now_ns)

    def _finished(self, process_exit: Exit) -> Finished:
        if self._state in AWAITED:
            self._state = State.FINISHED
        said_error = said_resources = None
        if self._exchange is not None:
            self._exchange.finish()
            said_error = self._exchange.read(ERROR, MAX_SAID)
            said_resources = self._exchange.read(RESOURCES, MAX_SAID)
        return Finished(
            exit_code=process_exit.code,
            stdout=process_exit.stdout,
            stderr=process_exit.stderr,
            timed_out=self._timed_out,
            overflowed=process_exit.overflowed,
            said_error=said_error or b"",
            said_resources=said_resources or b"",
        )
