from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from typing import Any

import pytest

from tests.processes import Started
from tests.upstreams.seam import setup
from toolyard.upstreams.definition import ServerDefinition
from toolyard.upstreams.pool import Pool

MakePool = Callable[..., Pool]


@pytest.fixture
def no_process_is_left() -> Iterator[None]:
    started = Started()
    yield
    assert not started.pids


@pytest.fixture
async def make_pool(no_process_is_left: None) -> AsyncIterator[MakePool]:
    """Pools that are closed afterwards, and have to have ended every process by then."""
    async with AsyncExitStack() as stack:

        def make(*definitions: ServerDefinition, **changes: Any) -> Pool:
            pool = Pool(definitions, setup(**changes))
            stack.push_async_callback(pool.close)
            return pool

        yield make
