from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.peers.authority import Authority, authority
from tests.peers.protected import Protected, protected
from toolyard.access.oauth.accounts import Accounts
from toolyard.access.oauth.vault import SealedVault
from toolyard.upstreams.definition import ServerDefinition
from toolyard.upstreams.pool import Pool
from toolyard.upstreams.setup import Setup

MakePool = Callable[[Accounts, ServerDefinition], Pool]


@pytest.fixture
def issuer() -> Iterator[Authority]:
    with authority() as made:
        yield made


@pytest.fixture
def upstream(issuer: Authority) -> Iterator[Protected]:
    with protected(issuer) as made:
        yield made


@pytest.fixture
def server(upstream: Protected) -> ServerDefinition:
    return ServerDefinition("acme", url=upstream.url, auth="oauth")


@pytest.fixture
def store(tmp_path: Path) -> SealedVault:
    return SealedVault(tmp_path / "credentials")


@pytest.fixture
async def make_pool() -> AsyncIterator[MakePool]:
    async with AsyncExitStack() as stack:

        def make(accounts: Accounts, server: ServerDefinition) -> Pool:
            hooks = Setup(authorize=accounts.authorize, on_challenge=accounts.on_challenge)
            pool = Pool([server], hooks)
            stack.push_async_callback(pool.close)
            return pool

        yield make
