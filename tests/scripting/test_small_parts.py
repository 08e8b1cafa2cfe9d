"""The parts that need no process: gate, deadline, stream lines."""

from __future__ import annotations

import asyncio

import pytest

from tests.scripting.yard import Recorder
from toolyard.protocol.call import JsonObject
from toolyard.scripts.contract.stream import Reporter, Throttle
from toolyard.scripts.running.deadline import Deadline, TimeLimit
from toolyard.scripts.running.gate import Gate


async def test_the_gate_lets_in_in_the_order_of_arrival() -> None:
    gate, entered = Gate(1), []
    await gate.enter()

    async def come(number: int) -> None:
        await gate.enter()
        entered.append(number)
        gate.leave()

    tasks = [asyncio.create_task(come(number)) for number in range(5)]
    await asyncio.sleep(0)
    gate.leave()
    await asyncio.gather(*tasks)
    assert entered == [0, 1, 2, 3, 4]


async def test_who_gives_up_at_the_gate_takes_no_place() -> None:
    gate = Gate(1)
    await gate.enter()
    waiting = asyncio.create_task(gate.enter())
    late = asyncio.create_task(gate.enter())
    await asyncio.sleep(0)
    gate.leave()
    waiting.cancel()  # its turn has come, but it has not noticed yet
    with pytest.raises(asyncio.CancelledError):
        await waiting
    async with asyncio.timeout(60):
        await late


def test_a_fixed_deadline_ignores_progress() -> None:
    deadline = Deadline(TimeLimit(10.0), now=0.0)
    deadline.progressed(9.0)
    assert deadline.expired(9.9) is None
    assert deadline.expired(10.0) == "fixed"


def test_progress_extends_a_deadline_up_to_the_maximum() -> None:
    deadline = Deadline(TimeLimit(10.0, extends=True, maximum=25.0), now=0.0)
    deadline.progressed(9.0)
    assert deadline.expired(18.9) is None
    assert deadline.expired(19.0) == "idle"
    deadline.progressed(19.0)
    assert deadline.expired(25.0) == "max_exceeded"


def test_a_deadline_stands_still_while_a_question_is_open() -> None:
    deadline = Deadline(TimeLimit(10.0), now=0.0)
    deadline.pause(5.0)
    assert deadline.expired(1000.0) is None
    deadline.resume(1000.0)
    assert deadline.expired(1004.9) is None
    assert deadline.expired(1005.0) == "fixed"


class Heard:
    """A Reporter with everything it tells whom."""

    def __init__(self, size: int = 100) -> None:
        self.now = 0.0
        self.channel = Recorder()
        self.announced: list[tuple[str, JsonObject]] = []
        self.reporter = Reporter(
            self.channel,
            lambda method, params: self.announced.append((method, params)),
            lambda: self.channel.record("progressed"),
            Throttle(size, lambda: self.now),
            Throttle(size, lambda: self.now),
        )


async def test_lines_become_progress_and_log_messages() -> None:
    heard = Heard()
    for line in (
        b'{"method":"notifications/progress","params":{"progressToken":"other","progress":1}}',
        b'{"method":"notifications/progress","params":{"progress":2,"total":null,"message":"m"}}',
        b'{"method":"notifications/progress","params":{"progress":3.5,"total":4}}',
        b'{"method":"notifications/message","params":{"level":"error","logger":"l","data":[1]}}',
        b'{"method":"notifications/message","params":{"level":"loud","data":"d"}}',
    ):
        heard.reporter.line(line)
    assert heard.channel.said == [
        ("progressed",),
        ("progress", 1, None, None),
        ("progressed",),
        ("progress", 2, None, "m"),
        ("progressed",),
        ("progress", 3.5, 4, None),
        ("log", "error", [1], "l"),
        ("log", "info", "d", None),
    ]


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"not json",
        b"[]",
        b"{}",
        b'{"method":[]}',
        b'{"method":"notifications/progress"}',
        b'{"method":"notifications/progress","params":{"progress":"5"}}',
        b'{"method":"notifications/progress","params":{"progress":true}}',
        b'{"method":"notifications/unheard"}',
        b'{"jsonrpc":"2.0","id":1,"result":{}}',
    ],
)
async def test_a_line_that_says_nothing_is_a_sign_of_life_alone(line: bytes) -> None:
    heard = Heard()
    heard.reporter.line(line)
    assert (heard.channel.said, heard.announced) == ([("progressed",)], [])


async def test_a_script_may_announce_changes_and_close_its_stream() -> None:
    heard = Heard()
    heard.reporter.line(b'{"method":"notifications/tools/list_changed"}')
    heard.reporter.line(b'{"method":"notifications/resources/updated","params":{"uri":"a:b"}}')
    heard.reporter.line(b'{"control":"close_stream"}')
    assert heard.announced == [
        ("notifications/tools/list_changed", {}),
        ("notifications/resources/updated", {"uri": "a:b"}),
    ]
    assert heard.channel.said == [("close_stream",)]


async def test_more_lines_a_minute_than_allowed_are_dropped() -> None:
    heard = Heard(size=2)
    line = b'{"method":"notifications/message","params":{"data":1}}'
    for _ in range(5):
        heard.reporter.line(line)
    heard.now = 61.0
    heard.reporter.line(line)
    assert len(heard.channel.said) == 3
