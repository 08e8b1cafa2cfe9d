from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.gateway.yard import Yard
from tests.observation.collector import Collector, collecting


@pytest.fixture
def yard(tmp_path: Path) -> Yard:
    return Yard(tmp_path)


@pytest_asyncio.fixture
async def collector() -> AsyncIterator[Collector]:
    async with collecting() as found:
        yield found
