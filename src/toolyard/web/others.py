"""The calls and the servers of other processes that serve the same, shown beside ours.

A call has a number in its process. Here it gets one that is its own among all: the processes
are counted in the order in which they were met, and each has a span of numbers.
"""

from __future__ import annotations

import os
import socket
from itertools import islice, takewhile

from toolyard.protocol.call import JsonObject
from toolyard.web.views.records import full, line
from toolyard.web.window import Others, Window

SPAN = 1_000_000_000
MOST_LINES = 500
_PROCESS = "process"


class OtherCalls:
    """What has been seen of the others, for one reader."""

    def __init__(self, others: Others) -> None:
        self._others = others
        self._processes: list[str] = []
        self._latest: dict[str, int] = {}
        self._running: dict[str, set[int]] = {}

    def own(self, document: JsonObject) -> JsonObject:
        return {**document, "process": self._others.name}

    async def lines(self) -> list[JsonObject]:
        """All of them."""
        answers = await self._others.ask("lines/0")
        for process, answer in answers.items():
            self._latest[process] = answer["latest"]
        return [
            self._numbered(process, one)
            for process, answer in answers.items()
            for one in answer["lines"]
        ]

    async def news(self) -> tuple[int, list[JsonObject]]:
        """How many calls are new, and their lines; with those that were running before."""
        count, lines = 0, []
        oldest = min((self._oldest(process) for process in self._latest), default=0)
        for process, answer in (await self._others.ask(f"lines/{oldest}")).items():
            after = self._oldest(process)
            fresh = [one for one in answer["lines"] if one["number"] > after]
            count += max(answer["latest"] - self._latest.get(process, 0), 0)
            self._latest[process] = answer["latest"]
            running = {one["number"] for one in fresh if one["outcome"] == "running"}
            self._running[process] = running
            lines += [self._numbered(process, one) for one in fresh]
        return count, lines

    def _oldest(self, process: str) -> int:
        """Lines up to there are known, and will not change."""
        latest = self._latest.get(process, 0)
        return min((number - 1 for number in self._running.get(process, ())), default=latest)

    async def find(self, number: int) -> JsonObject | None:
        place, own = divmod(number, SPAN)
        if not 0 < place <= len(self._processes):
            return None
        process = self._processes[place - 1]
        document = await self._others.ask_one(process, f"call/{own}")
        return self._numbered(process, document) if document else None

    async def forget(self) -> None:
        await self._others.ask("forget")

    async def processes(self, window: Window) -> list[JsonObject]:
        """How each process is doing, this one included, in an order that is the same for all."""
        answers = {**await self._others.ask(_PROCESS), self._others.name: _process(window)}
        return [
            {"process": name, "self": name == self._others.name, **answer}
            for name, answer in sorted(answers.items())
        ]

    def _numbered(self, process: str, document: JsonObject) -> JsonObject:
        if process not in self._processes:
            self._processes.append(process)
        place = self._processes.index(process) + 1
        return {**document, "number": place * SPAN + document["number"], "process": process}


def answer_others(window: Window, target: str) -> JsonObject | None:
    """What another process is told about this one; None: there is no such thing."""
    what, _, number = target.partition("/")
    traffic, secrets = window.traffic, window.secrets()
    if what == "lines" and number.isdecimal():
        newest = traffic.newest_first() if traffic is not None else ()
        after = int(number)
        records = islice(takewhile(lambda record: record.number > after, newest), MOST_LINES)
        return {
            "latest": traffic.latest if traffic is not None else 0,
            "lines": [line(record, secrets) for record in records],
        }
    if what == _PROCESS:
        return _process(window)
    if what == "forget" and traffic is not None:
        traffic.clear()
        return {}
    record = traffic.find(int(number)) if traffic is not None and number.isdecimal() else None
    return full(record, window.catalog(), secrets) if record is not None else None


def _process(window: Window) -> JsonObject:
    """What people know it by, and how it is doing."""
    counts = window.traffic.counts.values() if window.traffic is not None else ()
    return {
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "calls": sum(count.calls for count in counts),
        "errors": sum(count.errors for count in counts),
        "servers": [[one.server, one.state, one.reason] for one in window.health()],
    }
