"""Whichever worker is scraped, it answers for all of them."""

from __future__ import annotations

from pathlib import Path

from tests.observation.scraped import scrape
from tests.peers.raw import MODERN
from tests.peers.raw_http import over_http
from tests.workers.yard import crewed, project

CALLS = 12


async def test_one_scrape_has_the_calls_of_all_workers(tmp_path: Path) -> None:
    async with crewed(project(tmp_path / "yard")) as server:
        for _ in range(CALLS):
            async with over_http(server.url, MODERN) as client:
                await client.result("tools/list")
        scraped = [await scrape(server) for _ in range(4)]
    for each in scraped:
        lists = each.series(
            "mcp_server_operation_duration_seconds_count", mcp_method_name="tools/list"
        )
        assert sum(value for _, value in lists) == CALLS
        assert len({labels["process"] for labels, _ in lists}) > 1
