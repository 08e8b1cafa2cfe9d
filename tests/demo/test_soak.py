"""The short forms of the soak; `python -m bench.soak` has the long ones, of 200,000 calls and of
100,000 at 1,000 connections."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.soak import KEPT, soak

pytestmark = pytest.mark.long

CALLS = 2000
CROWD = 1000


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


async def test_a_thousand_clients_at_once_each_get_their_own_answers(tmp_path: Path) -> None:
    found = await soak(8 * CROWD, tmp_path, seconds=120, connections=CROWD)
    assert (found.soak.wrong, found.soak.lost) == ([], []), str(found)
    assert found.soak.outcomes.total() == 8 * CROWD, str(found)
    assert found.soak.outcomes["failed"] == 0, str(found)  # nothing was killed
    assert found.after.processes <= found.before.processes, str(found)
