"""The same connections on the loop that the HTTP server runs on."""

from __future__ import annotations

from pathlib import Path

import uvloop

from tests.processes import Started
from tests.upstreams.fake_http import fake_http, modern
from tests.upstreams.seam import call_tool, fake, setup
from toolyard.upstreams.definition import ServerDefinition
from toolyard.upstreams.pool import Pool


def test_calls_over_pipes_and_http_work_on_uvloop(tmp_path: Path) -> None:
    async def main() -> None:
        async with fake_http(modern()) as server:
            definition = ServerDefinition(name="http", url=server.url)
            pool = Pool([definition, fake("pipes")], setup())
            for name in ("http", "pipes"):
                result = await call_tool(pool, "echo", {"n": 1}, server=name)
                assert result["structuredContent"]["arguments"] == {"n": 1}
            big = await call_tool(pool, "big", {"size": 3_000_000}, server="pipes")
            assert len(big["content"][0]["text"]) == 3_000_000
            await pool.close()

    started = Started()
    uvloop.run(main())
    assert not started.pids
