"""The official suite against our script server, and against the SDK's as a yardstick."""

from __future__ import annotations

from collections.abc import AsyncIterator
from importlib.util import find_spec

import pytest
import pytest_asyncio

from tests.conformance.suite import EXPECTED, run
from tests.peers.sdk_conformance_server import HTTP
from tests.peers.sdk_fixtures import PROJECT
from tests.peers.serving import Listening, copied, listening, serving

pytestmark = [pytest.mark.long, pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def scripts() -> AsyncIterator[Listening]:
    """Our program, serving a copy of the fixtures: some of them change what is served."""
    if find_spec("toolyard.__main__") is None:
        pytest.skip("there is no program yet to serve the project")
    with copied(PROJECT) as project:
        async with serving(project) as server:
            yield server


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sdk() -> AsyncIterator[Listening]:
    async with listening(HTTP) as server:
        yield server


@pytest.mark.parametrize("revision", EXPECTED)
async def test_the_script_server_passes_every_scenario(
    scripts: Listening, revision: str, capsys: pytest.CaptureFixture[str]
) -> None:
    await passes_every_scenario("scripts", scripts, revision, capsys)


@pytest.mark.parametrize("revision", EXPECTED)
async def test_the_official_sdk_passes_every_scenario(
    sdk: Listening, revision: str, capsys: pytest.CaptureFixture[str]
) -> None:
    await passes_every_scenario("official SDK", sdk, revision, capsys)


async def passes_every_scenario(
    who: str, server: Listening, revision: str, capsys: pytest.CaptureFixture[str]
) -> None:
    report = await run(server.url, revision)
    with capsys.disabled():
        print(f"\n[{who}] {report}")
    report.require()
