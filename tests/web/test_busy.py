"""When more happens than anyone could read, calls are counted, and failures are still kept."""

from __future__ import annotations

import pytest

from toolyard.errors import ToolError
from toolyard.protocol.call import Call, Channel, Result
from toolyard.protocol.revisions import LATEST
from toolyard.web.recording import traffic
from toolyard.web.recording.traffic import MOST_AT_ONCE, Traffic, recorded


async def answer(call: Call, _channel: Channel) -> Result:
    if call.params["name"] == "broken":
        raise ToolError("it broke")
    return {"content": [], "isError": call.params["name"] == "wrong"}


async def send(kept: Traffic, name: str) -> None:
    call = Call("tools/call", {"name": name, "arguments": {}}, LATEST)
    await recorded(answer, kept)(call, None)  # type: ignore[arg-type]  # nothing is said on it


async def test_a_rush_is_counted_whole_and_kept_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traffic, "WITHIN", 3600.0)
    kept = Traffic()
    for _ in range(MOST_AT_ONCE * 4):
        await send(kept, "fine")
    await send(kept, "wrong")
    with pytest.raises(ToolError):
        await send(kept, "broken")
    names = [record.name for record in kept.newest_first()]
    assert names == ["broken", "wrong", *["fine"] * MOST_AT_ONCE]
    assert [record.outcome for record in kept.newest_first()][:2] == ["error", "error"]
    assert kept.latest == MOST_AT_ONCE * 4 + 2
    assert kept.counts["tools/call", "fine"].calls == MOST_AT_ONCE * 4
    assert kept.counts["tools/call", "broken"].errors == 1


async def test_after_the_rush_calls_are_kept_again(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Traffic()
    monkeypatch.setattr(traffic, "WITHIN", 3600.0)
    for _ in range(MOST_AT_ONCE + 1):
        await send(kept, "fine")
    monkeypatch.setattr(traffic, "WITHIN", 0.0)
    await send(kept, "later")
    assert next(kept.newest_first()).name == "later"


async def test_a_resource_that_is_read_by_name_is_counted_in_a_rush(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(traffic, "WITHIN", 3600.0)
    kept = Traffic()
    call = Call("resources/read", {"name": "notes"}, LATEST)
    for _ in range(MOST_AT_ONCE + 2):
        await recorded(answer, kept)(call, None)  # type: ignore[arg-type]  # nothing is said on it
    assert kept.counts["resources/read", ""].calls == MOST_AT_ONCE + 2
