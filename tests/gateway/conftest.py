from __future__ import annotations

import fcntl
import os
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest
import pytest_asyncio

from scripts import servers
from tests.gateway.bridged import Bridges, bridges
from tests.gateway.yard import Yard


@pytest.fixture
def yard(tmp_path: Path) -> Yard:
    return Yard(tmp_path)


@pytest.fixture(scope="session")
def published() -> Mapping[str, str]:
    """The environment in which the published servers are found; they are installed once."""
    place = servers.PLACE.parent
    place.mkdir(parents=True, exist_ok=True)
    with open(place / "published.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not servers.install(within=300):
            pytest.skip("the published servers cannot be installed")
    return {"PATH": f"{servers.path()}{os.pathsep}{os.environ['PATH']}"}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def bridged(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Bridges]:
    """Clients of any revision before upstreams of every one; one gateway for a whole module."""
    async with bridges(tmp_path_factory.mktemp("bridged")) as found:
        yield found
