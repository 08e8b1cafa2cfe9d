"""A small version of what `bench/cluster.py` counts at length."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tests.cluster.load import (
    CLIENTS,
    Fixed,
    end_in_turns,
    every_kind,
    fixed_replicas,
    left_of,
    runs_of,
)
from tests.cluster.yard import replicas, yard
from tests.peers.nginx import needs_nginx
from tests.peers.raw import MODERN
from tests.peers.redis import needs_redis, redis_server
from tests.until import until

pytestmark = [needs_redis, needs_nginx, pytest.mark.long]
REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", MODERN)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return yard(tmp_path / "yard")


async def test_every_kind_of_request_is_answered_in_every_revision(folder: Path) -> None:
    async with replicas(folder) as both:
        for revision in REVISIONS:
            counts, errors = await every_kind(both.url, revision, folder, 240)
            assert errors == []
            assert counts.total() >= 240


@pytest.mark.parametrize("end", [Fixed.kill, Fixed.drain])
async def test_replicas_that_end_under_load_lose_no_session_and_run_nothing_twice(
    folder: Path, end: Callable[[Fixed], Awaitable[None]]
) -> None:
    with redis_server() as redis:
        async with fixed_replicas(folder, redis) as (url, fixed):
            losses = await end_in_turns(url, fixed, folder, 2, end)
    assert losses.unknown_sessions == 0
    assert losses.wrong == []
    assert losses.failures <= 2 * CLIENTS  # what ran at that moment
    assert max(runs_of(folder).values()) == 1
    await until(lambda: not left_of(folder))
