from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from tests.web.browser import chromium, missing
from tests.web.gateway import Opened, opened


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    reason = missing()
    if reason is not None:
        pytest.skip(reason)
    async with chromium() as one:
        yield one


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def yard() -> AsyncIterator[Opened]:
    """The gateway project of these tests, served."""
    async with opened() as one:
        yield one
