"""Answers over pipes that cannot be read: whoever waits for one is told at once."""

from __future__ import annotations

import asyncio

import pytest

from tests.upstreams.conftest import MakePool
from tests.upstreams.seam import call_tool, fake
from toolyard.errors import UpstreamError


@pytest.mark.parametrize(
    "line",
    [
        '{"jsonrpc": "2.0", "id": ID, "result": {"n": NaN}}',
        '{"id":ID,"jsonrpc":"2.0","result":{"content":[}',
        '{"jsonrpc":"2.0","result":{"id":1,"n":Infinity},"id":ID}',
        '{"result":{"content":[1,]},"id": ID,"jsonrpc":"2.0"}',
        '{"jsonrpc":"2.0","id":ID,"result":' + "[" * 300 + "]" * 300 + "}",
    ],
)
async def test_an_answer_that_cannot_be_read_is_not_waited_for(
    make_pool: MakePool, line: str
) -> None:
    pool = make_pool(fake())
    async with asyncio.timeout(10):
        with pytest.raises(UpstreamError, match="not JSON"):
            await call_tool(pool, "unreadable", {"line": line})
        assert (await call_tool(pool, "give", {"content": []})) == {"content": []}


async def test_an_id_inside_of_what_cannot_be_read_is_nobodys(make_pool: MakePool) -> None:
    pool = make_pool(fake())
    line = '{"method":"x","params":{"list":[{"id":ID},{"id":ID,"n":NaN}]}}\n'
    answer = '{"jsonrpc":"2.0","id":ID,"result":{"content":[]}}'
    assert await call_tool(pool, "unreadable", {"line": line + answer}) == {"content": []}
