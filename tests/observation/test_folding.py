"""Requests beyond the bound of the series: each is counted as one that was folded."""

from __future__ import annotations

from toolyard.observation.operations import SERVER_DURATION, ServerOperations
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
