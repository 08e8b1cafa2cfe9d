"""Requests beyond the bound of the series: each is counted as one that was folded."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest

from toolyard.observation.operations import (
    MOST_NOTED,
    SERVER_DURATION,
    ClientOperations,
    ServerOperations,
)
from toolyard.observation.series import BOUNDS, Histogram, Key
from toolyard.protocol.call import Call, Caller, Result
from toolyard.protocol.revisions import ALL, LATEST
from toolyard.upstreams.link.link import Outgoing


async def test_every_request_beyond_the_bound_is_counted_as_folded_and_none_within_it() -> None:
    operations = ServerOperations("tcp", most=1)
    for _ in range(3):
        operations.note(Call("tools/list", {}, LATEST), {}, 0.0)
    assert operations.folded_counts[SERVER_DURATION] == 0
    for _ in range(3):
        operations.note(Call("prompts/list", {}, LATEST), {}, 0.0)
    assert operations.folded_counts[SERVER_DURATION] == 3


SAID: Result = {"content": [{"type": "text", "text": "12345678"}]}


async def test_the_first_of_many_like_calls_counts_as_much_as_the_others() -> None:
    """The first is looked at with care, those after it leave a note: both measure the same."""
    for arguments in ({}, {"q": "é\n"}, {"n": [1, {"deep": None}]}):
        totals = []
        for count in (1, 4):
            operations = ServerOperations("tcp", most=10)
            for _ in range(count):
                call = Call("tools/call", {"name": "a", "arguments": arguments}, LATEST)
                operations.note(call, SAID, 0.0)
            durations, calls, errors, *tokens = operations.metrics()
            histogram = durations.points[0].value
            assert isinstance(histogram, Histogram) and sum(histogram.counts) == count
            assert [metric.points[0].value for metric in (calls, errors)] == [count, 0]
            totals.append([metric.points[0].value / count for metric in tokens])  # type: ignore[operator]
        assert totals[0] == totals[1] and totals[0][1] == 2


def test_many_durations_fall_where_each_by_itself_does() -> None:
    durations = [bound * part for bound in BOUNDS for part in (0.5, 1.0, 1.01)] + [1000.0]
    one_by_one, together = Histogram(), Histogram()
    for seconds in durations:
        one_by_one.add(seconds)
    together.add_all(durations)
    assert together.counts == one_by_one.counts
    assert together.total == pytest.approx(one_by_one.total)


CALLERS = (Caller("token:1"), Caller("token:2"))
REVISIONS = tuple(ALL.values())


async def test_like_calls_of_several_callers_and_revisions_are_each_counted_once() -> None:
    """Notes are found by revision, caller and name: none may end up with another's."""
    operations = ServerOperations("tcp", most=1000)
    counts: Counter[tuple[str, str, str]] = Counter()
    for number in range(600):
        caller, revision = CALLERS[number % 2], REVISIONS[number % len(REVISIONS)]
        name = f"tool-{number % 7}"
        params = {"name": name, "arguments": {}}
        operations.note(Call("tools/call", params, revision, caller=caller), SAID, 0.0)
        counts[name, revision.date, caller.id] += 1
        if number == 300:
            assert sum(map(_count, operations.durations.items())) == 301
    durations, calls, _, tokens_in, tokens_out, _ = operations.metrics()
    by_revision: Counter[tuple[str, str]] = Counter()
    by_caller: Counter[tuple[str, str]] = Counter()
    for (name, date, caller_id), count in counts.items():
        by_revision[name, date] += count
        by_caller[name, caller_id] += count
    assert {(p.labels[1], p.labels[4]): sum(_histogram(p.value)) for p in durations.points} == (
        by_revision
    )
    assert {p.labels[1:]: p.value for p in calls.points} == by_caller
    assert {p.labels[1:]: p.value for p in tokens_out.points} == (
        {key: count * 2.0 for key, count in by_caller.items()}
    )
    assert {p.labels[1:]: p.value for p in tokens_in.points} == (
        {key: count / 2 for key, count in by_caller.items()}
    )


class Somebody:
    """An upstream, as far as requests to it are counted."""

    server = "up"
    party = ("http", "up", "up")
    link: Any = SimpleNamespace(transport="http")


@pytest.mark.parametrize("tools", [1, 5, MOST_NOTED + 1])
async def test_requests_to_upstreams_are_counted_once_however_often_they_are_added_up(
    tools: int,
) -> None:
    operations = ClientOperations(most=5000)
    connections = [operations.notes_of(Somebody()) for _ in range(2)]
    counts: Counter[tuple[str, str]] = Counter()
    for number in range(3000):
        failure = "tool_error" if number % 10 == 0 else ""
        name = f"tool-{number % tools}"
        out = Outgoing(number, "tools/call", {"name": name}, LATEST.date)
        connections[number % 2](out, {"content": [], "isError": bool(failure)}, 0.0)
        counts[name, failure] += 1
        if number == 1000:
            assert sum(map(_count, operations.durations.items())) == 1001
    found = {key[1:3]: sum(numbers.counts) for key, numbers in operations.durations.items()}
    assert found == counts


def _count(item: tuple[Key, Histogram]) -> int:
    return sum(item[1].counts)


def _histogram(value: float | Histogram) -> list[int]:
    assert isinstance(value, Histogram)
    return value.counts
