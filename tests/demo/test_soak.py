"""The short form of the soak; `python -m bench.soak` is the long one, of 200,000 calls."""

from __future__ import annotations

from pathlib import Path

from bench.soak import AT_ONCE, soak

CALLS = 2000
# Exchange folders that are kept for the next script, and what a script's place takes.
KEPT = 2 * AT_ONCE


async def test_after_mixed_calls_cancels_and_kills_nothing_is_lost_mixed_up_or_left(
    tmp_path: Path,
) -> None:
    found = await soak(CALLS, tmp_path, seconds=60)
    assert (found.soak.wrong, found.soak.lost) == ([], []), str(found)
    assert found.soak.outcomes["answered"] > found.soak.count * 0.8, str(found)
    assert found.soak.kills > 0
    before, after = found.before, found.after
    assert after.processes <= before.processes, str(found)
    assert after.descriptors <= before.descriptors + KEPT, str(found)
    assert after.files <= before.files + KEPT, str(found)
    assert after.megabytes < before.megabytes + 40, str(found)
