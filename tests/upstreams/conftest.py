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


def processes() -> Iterator[tuple[int, list[str]]]:
    """Every process, with what /proc says of it from its state on."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            yield int(entry.name), (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue


def children() -> set[int]:
    """Our child processes, zombies included."""
    return {pid for pid, fields in processes() if int(fields[1]) == os.getpid()}


def alive_in(group: int) -> set[int]:
    """The processes of a group that still run."""
    return {pid for pid, fields in processes() if int(fields[2]) == group and fields[0] != "Z"}


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
