"""The official suite through our gateway before a server as users of the official SDK write it.

It serves both eras and asks inside its handlers, which works for a client of the handshake era
alone: what a client gets directly, it gets through the gateway.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.suite import EXPECTED, run
from tests.conformance.test_gateway import gateway, spawned
from tests.peers import sdk_user_server as sdk
from tests.peers.serving import listening

pytestmark = pytest.mark.long

# Over stdio a server has no stream that it could close and be asked for the rest of.
LOST = {("gateway, over stdio", "2025-11-25"): ["server-sse-polling"]}
WAYS = ["directly", "gateway, over HTTP", "gateway, over stdio"]
# Each of the suite's sessions has a process of its own there, which takes its time to start; the
# scenarios of 2025-06-18 are all among those of 2025-11-25.
LEGS = [(way, revision) for way in WAYS for revision in EXPECTED]
LEGS.remove(("gateway, over stdio", "2025-06-18"))
WITHIN = 280.0


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("way", "revision"), LEGS)
async def test_a_server_that_asks_inside_its_handlers_passes_every_scenario(
    way: str, revision: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if way == "directly":
        async with listening(sdk.HTTP) as server:
            report = await run(server.url, revision, WITHIN)
    elif way == "gateway, over stdio":
        async with gateway(tmp_path, spawned(sdk.STDIO)) as server:
            report = await run(server.url, revision, WITHIN)
    else:
        async with (
            listening(sdk.HTTP) as upstream,
            gateway(tmp_path, {"url": upstream.url}) as server,
        ):
            report = await run(server.url, revision, WITHIN)
    with capsys.disabled():
        print(f"\n[user's server, {way}] {report}")
    lost = LOST.get((way, revision), [])
    assert report.names("fail") == [], str(report)
    assert report.names("skip") == lost, str(report)
    assert len(report.names("pass")) == EXPECTED[revision] - len(lost), report.log
