"""The official suite where each request may come to another process than the one before."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.cluster.yard import replicas
from tests.conformance.suite import EXPECTED, run
from tests.peers.nginx import needs_nginx
from tests.peers.redis import needs_redis
from tests.peers.sdk_fixtures import PROJECT
from tests.peers.serving import copied, serving

pytestmark = [pytest.mark.long, pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def behind_nginx() -> AsyncIterator[str]:
    """Two replicas, round robin for each request."""
    with copied(PROJECT) as project:
        async with replicas(project) as both:
            yield both.url


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def workers() -> AsyncIterator[str]:
    with copied(PROJECT) as project:
        async with serving(project, "--workers", "2") as server:
            yield server.url


@needs_redis
@needs_nginx
@pytest.mark.parametrize("revision", EXPECTED)
async def test_two_replicas_pass_every_scenario(
    behind_nginx: str, revision: str, capsys: pytest.CaptureFixture[str]
) -> None:
    await passes_every_scenario("replicas", behind_nginx, revision, capsys)


@pytest.mark.parametrize("revision", EXPECTED)
async def test_two_workers_pass_every_scenario(
    workers: str, revision: str, capsys: pytest.CaptureFixture[str]
) -> None:
    await passes_every_scenario("workers", workers, revision, capsys)


async def passes_every_scenario(
    who: str, url: str, revision: str, capsys: pytest.CaptureFixture[str]
) -> None:
    report = await run(url, revision)
    with capsys.disabled():
        print(f"\n[{who}] {report}")
    report.require()
