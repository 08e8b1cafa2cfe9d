"""The example of docs/scaling.md is run as it is printed; only its addresses are others."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cluster.test_sessions import killed
from tests.cluster.yard import Replicas, replicas, text, yard
from tests.peers.nginx import needs_nginx, nginx
from tests.peers.raw_http import over_http
from tests.peers.redis import needs_redis
from tests.peers.serving import ROOT

pytestmark = [needs_redis, needs_nginx]
OLD, NEW = "2025-11-25", "2026-07-28"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return yard(tmp_path / "yard")


def printed(group: Replicas, port: int) -> str:
    """What the page has for nginx, with these addresses in place of its own."""
    page = (ROOT / "docs" / "scaling.md").read_text(encoding="utf-8")
    block: str
    (block,) = re.findall(r"^```nginx\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    own = [server.origin.removeprefix("http://") for server in group.servers]
    changes = {"127.0.0.1:8081": own[0], "127.0.0.1:8082": own[1]}
    changes["listen 8080;"] = f"listen 127.0.0.1:{port};"
    for before, after in changes.items():
        assert block.count(before) == 1
        block = block.replace(before, after)
    return block


async def test_nginx_serves_sessions_streams_and_large_bodies_as_the_page_has_it(
    folder: Path,
) -> None:
    async with replicas(folder) as group:
        pids = {str(server.process.pid) for server in group.servers}
        with nginx(lambda port: printed(group, port)) as url:
            async with over_http(url, OLD) as client, over_http(url, NEW, start=False) as modern:
                assert {text(await modern.call("who")).strip() for _ in range(4)} == pids
                (home,) = {text(await client.call("who")).strip() for _ in range(4)}
                await client.call("who", {"large": "x" * 9_000_000})
                await modern.subscribe(toolsListChanged=True)  # says so before it has ended
                await killed(group, int(home))
                (other,) = pids - {home}
                for _ in range(3):
                    assert text(await modern.call("who")).strip() == other
                    assert text(await client.call("who")).strip() == other
