"""Requests beyond the bound of the series: each is counted as one that was folded."""

from __future__ import annotations

import pytest

from toolyard.observation.operations import SERVER_DURATION, ServerOperations
from toolyard.observation.series import BOUNDS, Histogram
from toolyard.protocol.call import Call, Result
from toolyard.protocol.revisions import LATEST


async def nothing(_edge: object, _call: Call, _way: object) -> Result:
    return {}


async def test_every_request_beyond_the_bound_is_counted_as_folded_and_none_within_it() -> None:
    operations = ServerOperations("tcp", most=1)
    for _ in range(3):
        await operations.observe(Call("tools/list", {}, LATEST), None, nothing, None, None)
    assert operations.folded_counts[SERVER_DURATION] == 0
    for _ in range(3):
        await operations.observe(Call("prompts/list", {}, LATEST), None, nothing, None, None)
    assert operations.folded_counts[SERVER_DURATION] == 3


async def said(_edge: object, _call: Call, _way: object) -> Result:
    return {"content": [{"type": "text", "text": "12345678"}]}


async def test_the_first_of_many_like_calls_counts_as_much_as_the_others() -> None:
    """The first is looked at with care, those after it leave a note: both measure the same."""
    for arguments in ({}, {"q": "é\n"}, {"n": [1, {"deep": None}]}):
        totals = []
        for count in (1, 4):
            operations = ServerOperations("tcp", most=10)
            for _ in range(count):
                call = Call("tools/call", {"name": "a", "arguments": arguments}, LATEST)
                await operations.observe(call, None, said, None, None)
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
