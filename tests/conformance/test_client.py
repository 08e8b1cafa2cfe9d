"""The official suite's client scenarios, through the code that speaks to upstreams."""

from __future__ import annotations

import pytest

from tests.conformance.client_suite import CLIENT_SUITES, LACKING, run_client

pytestmark = pytest.mark.long


@pytest.mark.timeout(240)
@pytest.mark.parametrize("suite", CLIENT_SUITES)
async def test_our_upstream_code_passes_the_client_scenarios(
    suite: str, capsys: pytest.CaptureFixture[str]
) -> None:
    report = await run_client(suite)
    with capsys.disabled():
        print(f"\n[upstream client] {report}")
    assert set(report.names("fail")) == LACKING.get(suite, set()), str(report)
    assert len(report.names("pass")) == CLIENT_SUITES[suite][1], str(report)
