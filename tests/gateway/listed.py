"""Waiting for servers that are programs: nobody's list is kept waiting for a slow start."""

from __future__ import annotations

from tests.peers.raw import MODERN
from tests.peers.raw_http import over_http
from tests.peers.serving import Listening
from tests.until import until


async def until_listed(server: Listening, *tools: str) -> None:
    """Once there are these tools; any, where none is named."""
    async with over_http(server.url, MODERN, checked=False) as client:

        async def all_are() -> bool:
            listed = (await client.result("tools/list"))["tools"]
            return bool(listed) and {tool["name"] for tool in listed} >= set(tools)

        await until(all_are)
