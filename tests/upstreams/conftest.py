from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.upstreams.seam import setup
from toolyard.upstreams.definition import ServerDefinition
from toolyard.upstreams.pool import Pool

MakePool = Callable[..., Pool]


def children() -> set[int]:
    """Our child processes, zombies included."""
    found = set()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == os.getpid():
            found.add(int(entry.name))
    return found


@pytest.fixture
def no_process_is_left() -> Iterator[None]:
    before = children()
    yield
    assert children() == before


@pytest.fixture
async def make_pool(no_process_is_left: None) -> AsyncIterator[MakePool]:
    """Pools that are closed afterwards, and have to have ended every process by then."""
    async with AsyncExitStack() as stack:

        def make(*definitions: ServerDefinition, **changes: Any) -> Pool:
            pool = Pool(definitions, setup(**changes))
            stack.push_async_callback(pool.close)
            return pool

        yield make
