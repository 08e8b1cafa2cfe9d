"""A client's view goes with its requests, whichever process they reach."""

from __future__ import annotations

from pathlib import Path

from tests.peers.raw_http import over_http
from tests.workers.doors import in_turn
from tests.workers.yard import crewed, project


async def test_a_request_that_is_passed_on_keeps_its_view(tmp_path: Path) -> None:
    folder = project(tmp_path / "yard")
    async with (
        crewed(folder) as server,
        in_turn(server) as url,
        over_http(url + "?view=search") as client,
    ):
        for _ in range(4):
            tools = (await client.result("tools/list"))["tools"]
            assert tools[0]["name"] == "find_tools"
