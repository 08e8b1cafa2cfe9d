"""The whole way at an OAuth server: refused, logged in, expired, renewed, revoked, asked again."""

from __future__ import annotations

import asyncio
import json
import re
import time
import urllib.request
from pathlib import Path

import pytest

from tests.access.conftest import MakePool
from tests.peers.authority import Authority
from tests.peers.protected import Protected
from tests.peers.serving import environment, toolyard
from tests.upstreams.seam import BOB, RecordingChannel, call_tool, modern_call
from toolyard.access.oauth.accounts import Accounts
from toolyard.access.oauth.browser import Headless
from toolyard.access.oauth.vault import MemoryVault, SealedVault
from toolyard.app.access import Logins
from toolyard.errors import LoginRequired, UpstreamError
from toolyard.http.fetching.fetch import GuardedFetch
from toolyard.protocol.call import Call, Caller, Channel, Result
from toolyard.settings import Settings
from toolyard.upstreams.definition import ServerDefinition
from toolyard.upstreams.pool import Pool

LINK = re.compile(r"^  (http://\S+)$", re.MULTILINE)


class Hours:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.now = 1_900_000_000.0

    def __call__(self) -> float:
        return self.now


async def whoami(pool: Pool, caller: Caller | None = None) -> str:
    call = modern_call() if caller is None else modern_call(caller=caller)
    result = await call_tool(pool, "whoami", server="acme", call=call)
    return str(result["content"][0]["text"])


async def follow(link: str) -> str:
    def visit() -> str:
        with urllib.request.urlopen(link, timeout=10) as page:
            return str(page.read().decode())

    return await asyncio.to_thread(visit)


async def run(*arguments: str, env: dict[str, str]) -> str:
    process = await asyncio.create_subprocess_exec(
        *toolyard(*arguments),
        env=environment(env),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    return out.decode().strip()


async def log_in(registry: Path, env: dict[str, str]) -> str:
    """`toolyard auth login`, with the printed link opened by hand."""
    process = await asyncio.create_subprocess_exec(
        *toolyard("auth", "login", "acme", registry, "--no-browser"),
        env=environment(env),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stderr is not None
    said = ""
    while not LINK.search(said):
        line = await asyncio.wait_for(process.stderr.readline(), 60)
        assert line, said
        said += line.decode()
    found = LINK.search(said)
    assert found is not None
    assert "close this page" in await follow(found[1])
    out, _ = await process.communicate()
    assert process.returncode == 0
    return out.decode()


async def test_the_whole_way_from_refusal_to_being_asked_again(
    tmp_path: Path, issuer: Authority, upstream: Protected, make_pool: MakePool
) -> None:
    registry = tmp_path / "registry.json"
    entry = {"name": "acme", "url": upstream.url, "auth": "oauth"}
    registry.write_text(json.dumps({"servers": [entry]}))
    env = {"TOOLYARD_CREDENTIALS_DIR": str(tmp_path / "credentials")}
    clock = Hours()
    accounts = Accounts(SealedVault(tmp_path / "credentials"), clock=clock)
    pool = make_pool(accounts, ServerDefinition("acme", url=upstream.url, auth="oauth"))

    with pytest.raises(LoginRequired, match=rf"acme: .*{upstream.url}.*toolyard auth login acme"):
        await whoami(pool)
    assert upstream.site.asked == []  # nothing is contacted without credentials

    assert "logged in" in await log_in(registry, env)
    clock.now = time.time()
    assert await whoami(pool) == "ada"
    first = upstream.received[-1][0]

    clock.now += issuer.lifetime - 10
    assert await whoami(pool) == "ada"
    second = upstream.received[-1][0]
    assert second != first and issuer.site.count("/token") == 2

    upstream.refused.add(second)  # before it expires: the server says 401
    clock.now += 60
    assert await whoami(pool) == "ada"
    assert upstream.received[-1][0] not in (first, second)

    assert "until" in await run("auth", "status", str(registry), env=env)
    assert await run("auth", "logout", "acme", str(registry), env=env) == "acme: logged out"
    assert issuer.revoked and not issuer.refreshers
    with pytest.raises(LoginRequired):
        await whoami(pool)
    assert "not logged in" in await run("auth", "status", str(registry), env=env)


async def test_a_refresh_token_that_was_revoked_means_logging_in_again(
    issuer: Authority, server: ServerDefinition, store: SealedVault, make_pool: MakePool
) -> None:
    clock = Hours()
    await logged_in(store, server, clock)
    pool = make_pool(Accounts(store, clock=clock), server)
    issuer.refreshers.clear()
    clock.now += issuer.lifetime
    with pytest.raises(LoginRequired):
        await whoami(pool)
    assert list(store.keys()) == [f"client {issuer.issuer}"]


async def logged_in(
    store: SealedVault | MemoryVault, server: ServerDefinition, clock: Hours, who: str = "local"
) -> None:
    accounts = Accounts(store, clock=clock)
    wanted = await accounts.wanted_by(server)
    browser = Headless(GuardedFetch(server.url or ""))
    await accounts.account(server, Caller(who, who)).log_in(wanted, browser)


async def test_a_hundred_calls_at_once_renew_an_expired_token_once(
    issuer: Authority, server: ServerDefinition, store: SealedVault, make_pool: MakePool
) -> None:
    clock = Hours()
    await logged_in(store, server, clock)
    pool = make_pool(Accounts(store, clock=clock), server)
    await whoami(pool)
    clock.now += issuer.lifetime
    asked = issuer.site.count("/token")
    assert await asyncio.gather(*(whoami(pool) for _ in range(100))) == ["ada"] * 100
    assert issuer.site.count("/token") == asked + 1


async def test_a_token_that_lives_for_seconds_serves_more_than_one_call(
    issuer: Authority, server: ServerDefinition, store: SealedVault, make_pool: MakePool
) -> None:
    clock = Hours()
    issuer.lifetime = 20
    await logged_in(store, server, clock)
    pool = make_pool(Accounts(store, clock=clock), server)
    clock.now += 14
    assert [await whoami(pool), await whoami(pool)] == ["ada", "ada"]
    assert issuer.site.count("/token") == 1
    clock.now += 2  # in time for the request to arrive
    assert await whoami(pool) == "ada"
    assert issuer.site.count("/token") == 2


async def test_each_caller_uses_its_own_account_and_never_anothers(
    issuer: Authority, upstream: Protected, server: ServerDefinition, make_pool: MakePool
) -> None:
    store, clock = MemoryVault(), Hours()
    for who in ("ada", "bob"):
        issuer.subject = who
        await logged_in(store, server, clock, who)
    pool = make_pool(Accounts(store, clock=clock), server)
    ada = Caller("ada", "ada")
    answers = await asyncio.gather(
        *(whoami(pool, caller) for _ in range(100) for caller in (ada, BOB))
    )
    assert answers == ["ada", "bob"] * 100
    with pytest.raises(LoginRequired):
        await whoami(pool, Caller("eve", "Eve"))


async def test_the_token_of_a_server_is_not_sent_to_another(
    issuer: Authority, upstream: Protected, server: ServerDefinition, store: SealedVault
) -> None:
    await logged_in(store, server, Hours())
    accounts = Accounts(store, clock=Hours())
    other = ServerDefinition("acme", url=f"{upstream.site.origin}/other", auth="oauth")
    assert "Authorization" in await accounts.authorize(server, Caller())
    with pytest.raises(LoginRequired):
        await accounts.authorize(other, Caller())


async def test_more_rights_are_asked_for_beside_those_there_are(
    issuer: Authority, upstream: Protected, server: ServerDefinition, make_pool: MakePool
) -> None:
    upstream.metadata["scopes_supported"] = ["read"]
    upstream.needs = "write"
    pool = make_pool(Accounts(MemoryVault(), browser=Headless), server)
    assert await whoami(pool) == "ada"
    logins = [asked.query.get("scope") for asked in issuer.site.asked if asked.path == "/authorize"]
    assert logins == ["read", "read write"]


async def test_a_server_that_is_never_satisfied_does_not_send_us_round_and_round(
    issuer: Authority, upstream: Protected, server: ServerDefinition, make_pool: MakePool
) -> None:
    upstream.refused = Everything()
    pool = make_pool(Accounts(MemoryVault(), browser=Headless), server)
    with pytest.raises(UpstreamError):
        await whoami(pool)
    assert issuer.site.count("/authorize") <= 3


class Everything(set[str]):
    def __contains__(self, item: object) -> bool:
        return True


async def test_a_client_that_can_is_asked_to_open_the_login_page(
    issuer: Authority, server: ServerDefinition, make_pool: MakePool, tmp_path: Path
) -> None:
    logins = Logins(Settings(credentials_dir=str(tmp_path)))
    accounts = logins.accounts
    pool = make_pool(accounts, server)

    async def handler(call: Call, channel: Channel) -> Result:
        return await pool.targets.tool("acme", "whoami").call({}, call, channel)

    async def person(question: dict[str, object]) -> object:
        params = question["params"]
        assert isinstance(params, dict) and params["mode"] == "url"
        await follow(params["url"])
        return {"action": "accept"}

    asking = logins.asking(handler, {"acme": server}.get)
    result = await asking(modern_call({"elicitation": {"url": {}}}), RecordingChannel(person))
    assert isinstance(result, dict) and result["content"][0]["text"] == "ada"
    with pytest.raises(LoginRequired):
        call = modern_call({"elicitation": {"form": {}}}, caller=BOB)
        await asking(call, RecordingChannel(person))
