"""Whichever worker is scraped, it answers for all of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.observation.scraped import scrape
from tests.peers.raw import MODERN
from tests.peers.raw_http import over_http
from tests.workers.doors import doors
from tests.workers.yard import crewed, project

CALLS = 12


async def test_one_scrape_has_the_calls_of_all_workers(tmp_path: Path) -> None:
    async with crewed(project(tmp_path / "yard")) as server, doors(server) as urls:
        for url in [*urls.values()] * (CALLS // 2):
            async with over_http(url, MODERN) as client:
                await client.result("tools/list")
        scraped = [await scrape(replace(server, url=url)) for url in urls.values()]
    for each in scraped:
        lists = each.series(
            "mcp_server_operation_duration_seconds_count", mcp_method_name="tools/list"
        )
        assert sum(value for _, value in lists) == CALLS
        assert len({labels["process"] for labels, _ in lists}) == 2
