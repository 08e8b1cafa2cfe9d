"""The page of a replica: through which store it shares, with how many, and what is wrong there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from tests.cluster.yard import KEY, replica
from tests.peers.redis import needs_redis, redis_server
from tests.until import until
from tests.web.browser import show, window
from tests.web.gateway import LINK
from tests.workers.yard import project

pytestmark = [pytest.mark.long, needs_redis, pytest.mark.asyncio(loop_scope="module")]


async def test_the_page_shows_the_store_and_a_replica_with_another_key(
    browser: Browser, tmp_path: Path
) -> None:
    folder = project(tmp_path / "yard")
    other_key = {"TOOLYARD_CLUSTER_KEY": KEY[::-1]}
    with redis_server() as redis:
        async with replica(folder, redis) as one, replica(folder, redis, env=other_key):
            link = (await one.says(LINK))[1]
            async with window(browser, link) as page:
                await show(page, "#/")
                store = page.get_by_role("region", name="Store")
                await expect(store).to_contain_text(re.compile("redis.sock.* with 1 other process"))
                await expect(store).to_contain_text("another cluster key")
                redis.kill()

                async def is_away() -> bool:
                    # The replica notices at its next trip to the store, not at our look.
                    await page.reload()
                    await expect(store).to_be_visible()
                    return "it cannot be reached" in await store.inner_text()

                await until(is_away)
