"""The short form of the soak; `python -m bench.soak` is the long one, of 200,000 calls."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.soak import KEPT, soak

pytestmark = pytest.mark.long

CALLS = 2000


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
