"""Logins that several processes share through a store: one renews, all know, nobody reads."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.access.test_whole_way import Hours, log_in, run
from tests.peers.authority import Authority
from tests.peers.protected import Protected
from tests.peers.raw_http import HttpClient, over_http
from tests.peers.redis import RedisServer, needs_redis, redis_server
from tests.peers.serving import serving
from tests.until import until
from toolyard.access.oauth.accounts import Accounts
from toolyard.access.oauth.browser import Headless
from toolyard.access.oauth.cluster_vault import ClusterVault
from toolyard.errors import LoginRequired, UpstreamError
from toolyard.http.fetching.fetch import GuardedFetch
from toolyard.protocol.call import Caller
from toolyard.store.interface import Store
from toolyard.store.keys import read_cluster_keys
from toolyard.store.opening import open_store
from toolyard.upstreams.definition import ServerDefinition

pytestmark = needs_redis
KEY = "k" * 32
NEW = "2026-07-28"


@pytest.fixture
def redis() -> Iterator[RedisServer]:
    with redis_server() as server:
        yield server


@pytest.fixture
async def replicas(redis: RedisServer) -> AsyncIterator[list[Replica]]:
    async with AsyncExitStack() as stack:
        made = [await Replica.open(redis.url) for _ in range(2)]
        for replica in made:
            stack.push_async_callback(replica.close)
        yield made


class Replica:
    """As much of a process as logins need."""

    def __init__(self, store: Store, key: str) -> None:
        self.clock = Hours()
        self.clock.now = time.time()
        self.store = store
        self.vault = ClusterVault(store, read_cluster_keys([key]).seal("login"))
        self.accounts = Accounts(self.vault, clock=self.clock)

    @classmethod
    async def open(cls, url: str, key: str = KEY) -> Replica:
        return cls(await open_store(url), key)

    async def log_in(self, server: ServerDefinition) -> None:
        browser = Headless(GuardedFetch(server.url or ""))
        account = self.accounts.account(server, Caller())
        await account.log_in(await self.accounts.wanted_by(server), browser)

    async def token(self, server: ServerDefinition) -> str:
        headers = await self.accounts.account(server, Caller()).headers()
        return headers["Authorization"]

    async def close(self) -> None:
        await self.accounts.close()
        await self.store.close()


async def test_fifty_calls_with_an_expired_login_on_two_replicas_renew_it_once(
    issuer: Authority, server: ServerDefinition, replicas: list[Replica]
) -> None:
    await replicas[0].log_in(server)
    for _ in range(3):
        for replica in replicas:
            replica.clock.now += issuer.lifetime
        asked = issuer.site.count("/token")
        tokens = await asyncio.gather(*(one.token(server) for one in replicas for _ in range(25)))
        assert len(set(tokens)) == 1
        assert issuer.site.count("/token") == asked + 1


async def test_a_login_made_or_ended_on_one_replica_is_so_on_the_other(
    server: ServerDefinition, replicas: list[Replica], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolyard.access.oauth.cluster_vault.BELIEVED", 0.1)
    one, other = replicas
    with pytest.raises(LoginRequired):
        await other.token(server)
    await one.log_in(server)
    assert await other.token(server) == await one.token(server)
    await one.accounts.account(server, Caller()).log_out()
    await until(lambda: is_logged_out(other, server))


async def is_logged_out(replica: Replica, server: ServerDefinition) -> bool:
    try:
        await replica.token(server)
    except LoginRequired:
        return True
    return False


async def test_a_call_with_a_login_costs_no_trip(
    redis: RedisServer, server: ServerDefinition, replicas: list[Replica]
) -> None:
    await replicas[0].log_in(server)
    await replicas[0].token(server)
    before = redis.commands()
    for _ in range(100):
        await replicas[0].token(server)
    assert redis.commands() - before <= 3  # one look in five seconds


async def test_the_store_holds_neither_tokens_nor_names_that_can_be_read(
    redis: RedisServer, server: ServerDefinition, replicas: list[Replica]
) -> None:
    await replicas[0].log_in(server)
    token = (await replicas[0].token(server)).split()[1]
    keys = [line for line in redis.ask("KEYS", "*").splitlines() if "login" in line]
    assert len(keys) == 2  # the login, and our registration as a client
    stored = "".join(redis.ask("GET", key) for key in keys)
    assert token not in stored and "local" not in "".join(keys) and server.name not in stored
    stranger = await Replica.open(redis.url, key="x" * 32)
    with pytest.raises(LoginRequired):
        await stranger.token(server)
    await stranger.close()


async def test_while_the_store_is_away_a_login_serves_until_it_expires(
    issuer: Authority, server: ServerDefinition
) -> None:
    with redis_server() as redis:
        one, other = await Replica.open(redis.url), await Replica.open(redis.url)
        await one.log_in(server)
        token = await one.token(server)
        redis.kill()
        assert await one.token(server) == token
        with pytest.raises(UpstreamError, match="logins are in the store: the store at unix://"):
            await other.token(server)
        one.clock.now += issuer.lifetime - 1  # time to renew it; it is still good
        assert await one.token(server) == token
        one.clock.now += 1
        asked = issuer.site.count("/token")
        with pytest.raises(UpstreamError, match="logins are in the store"):
            await one.token(server)
        assert issuer.site.count("/token") == asked
        redis.start()  # empty: it keeps nothing
        await until(lambda: one.store.condition.reachable and other.store.condition.reachable)
        renewed = await one.token(server)
        assert renewed != token and await other.token(server) == renewed
        await one.close()
        await other.close()


@pytest.mark.long
async def test_two_replicas_and_the_command_share_logins(
    tmp_path: Path, issuer: Authority, upstream: Protected, redis: RedisServer
) -> None:
    registry = tmp_path / "registry.json"
    entry = {"name": "acme", "url": upstream.url, "auth": "oauth", "expose": "all"}
    registry.write_text(json.dumps({"servers": [entry]}))
    env = {"TOOLYARD_STORE": redis.url, "TOOLYARD_CLUSTER_KEY": KEY}
    async with AsyncExitStack() as stack:
        replicas = [
            await stack.enter_async_context(serving(registry, "--no-page", env=env)) for _ in "ab"
        ]
        clients = [
            await stack.enter_async_context(over_http(one.url, NEW, start=False))
            for one in replicas
        ]
        issuer.lifetime = 4
        assert "logged in" in await log_in(registry, env)
        expires = time.time() + issuer.lifetime
        assert [await answer(client) for client in clients] == ["ada", "ada"]
        issuer.lifetime = 3600
        asked = issuer.site.count("/token")
        await asyncio.sleep(expires - time.time())  # nothing but the clock ends it
        answers = await asyncio.gather(*(answer(client) for client in clients for _ in range(25)))
        assert answers == ["ada"] * 50
        assert issuer.site.count("/token") == asked + 1
        assert "until" in await run("auth", "status", str(registry), env=env)
        assert await run("auth", "logout", "acme", str(registry), env=env) == "acme: logged out"


async def answer(client: HttpClient) -> str:
    result = await client.call("whoami")
    return "" if result.get("isError") else str(result["content"][0]["text"])
