"""What an OAuth server lists by itself: each caller who has logged in sees his, nobody else any."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from subprocess import run
from threading import Event
from typing import Any

import pytest

from tests.access.test_gateway import ADA, BOB, NEW, bearer, connect
from tests.peers.authority import Authority
from tests.peers.http1 import fetch
from tests.peers.protected import TOOL, Protected
from tests.peers.raw_http import HttpClient, over_http
from tests.peers.serving import (
    ROOT,
    Listening,
    copied,
    environment,
    listening,
    serving,
    toolyard,
)
from toolyard.access.oauth.grant import Grant
from toolyard.access.oauth.issuer.clients import OAuthClient
from toolyard.access.tokens import hash_of
from toolyard.app.access import view_of
from toolyard.app.build import build
from toolyard.app.federation import RegistryFederation
from toolyard.app.plan import Plan
from toolyard.catalog.snapshot import Catalog
from toolyard.protocol.call import Caller
from toolyard.protocol.identity import Identity
from toolyard.settings import Settings
from toolyard.upstreams.connections import Downstream

pytestmark = pytest.mark.long

Serve = Callable[..., AbstractAsyncContextManager[Listening]]
NAMED = {"name": "who", "server": "acme", "originalName": "whoami"}
REWRITE = {"text": "Hi", "audience": "a child"}
CHANGED = "notifications/tools/list_changed"


@pytest.fixture
def serve(upstream: Protected, tmp_path: Path) -> Serve:
    """`toolyard serve REGISTRY` for Ada and Bob, with one tool of the registry's own."""

    @asynccontextmanager
    async def gateway(
        *flags: str, rules: list[Any] | None = None, **server: Any
    ) -> AsyncIterator[Listening]:
        entry = {"name": "acme", "url": upstream.url, "auth": "oauth", "expose": "all", **server}
        tools = [{**NAMED, "inputSchema": {"type": "object"}}]
        path = tmp_path / "registry.json"
        path.write_text(json.dumps({"servers": [entry], "tools": tools}))
        if "--locked" in flags:
            run(toolyard("registry", "lock", "--registry", path), env=environment(), check=True)
        tokens = {"ada": ADA, "bob": BOB}
        settings = {
            "tokens": [{"name": name, "hash": hash_of(one)} for name, one in tokens.items()],
            "rules": rules or [],
            "credentialsDir": str(tmp_path / "credentials"),
        }
        (tmp_path / "settings.json").write_text(json.dumps(settings))
        config = ("--config", tmp_path / "settings.json")
        command = toolyard("serve", path, "--http", "127.0.0.1:0", *config, *flags)
        async with listening(command) as running:
            yield running

    return gateway


async def log_in(gateway: Listening, caller: str, upstream: Protected, account: str) -> None:
    await connect(gateway, caller, upstream.url, token_for(upstream, account))


def token_for(upstream: Protected, account: str) -> str:
    assert isinstance(upstream.authority, Authority)
    return upstream.authority.sign(sub=account, aud=upstream.url, scope="")


def log_out(tmp_path: Path) -> None:
    config = ("--config", tmp_path / "settings.json", "--caller", "token:ada")
    command = toolyard("auth", "logout", "acme", tmp_path / "registry.json", *config)
    run(command, env=environment(), check=True)


async def names(client: HttpClient) -> list[str]:
    return [tool["name"] for tool in (await client.result("tools/list"))["tools"]]


async def said(client: HttpClient, tool: str) -> str:
    return str((await client.call(tool))["content"][0]["text"])


def ada_of(gateway: Listening) -> AbstractAsyncContextManager[HttpClient]:
    return over_http(gateway.url, NEW, headers=bearer(ADA))


def bob_of(gateway: Listening) -> AbstractAsyncContextManager[HttpClient]:
    return over_http(gateway.url, NEW, headers=bearer(BOB))


async def test_who_has_logged_in_sees_and_calls_what_it_lists_and_nobody_else(
    serve: Serve, upstream: Protected, tmp_path: Path
) -> None:
    async with serve(prefix="a_") as gateway, ada_of(gateway) as ada, bob_of(gateway) as bob:
        assert await names(ada) == await names(bob) == ["who"]
        await log_in(gateway, ADA, upstream, "ada")
        assert await names(bob) == ["who"]
        assert upstream.site.asked == []  # nobody who could has asked

        assert await names(ada) == ["who", "a_whoami"]
        assert await said(ada, "a_whoami") == await said(ada, "who") == "ada"
        assert await names(bob) == ["who"]
        refused = await bob.error("tools/call", {"name": "a_whoami", "arguments": {}})
        assert refused["code"] == -32602

        listed = [method for _, method in upstream.received].count("tools/list")
        assert listed == 1

        log_out(tmp_path)
        assert await names(ada) == ["who"]
        await ada.error("tools/call", {"name": "a_whoami", "arguments": {}})


async def test_each_login_sees_its_own_list(serve: Serve, upstream: Protected) -> None:
    def lists(claims: dict[str, Any]) -> list[dict[str, Any]]:
        return [{**TOOL, "name": f"of_{claims['sub']}"}, {**TOOL, "name": "hidden"}]

    upstream.lists = lists
    async with serve(expose=["of_*"]) as gateway, ada_of(gateway) as ada, bob_of(gateway) as bob:
        await log_in(gateway, ADA, upstream, "ada")
        await log_in(gateway, BOB, upstream, "bob")
        for _ in range(2):
            assert await names(ada) == ["who", "of_ada"]
            assert await names(bob) == ["who", "of_bob"]
        await bob.error("tools/call", {"name": "of_ada", "arguments": {}})
        await log_in(gateway, ADA, upstream, "eve")
        assert await names(ada) == ["who", "of_eve"]


async def test_clients_are_told_when_somebody_logs_in_or_out(
    serve: Serve, upstream: Protected, tmp_path: Path
) -> None:
    async with serve() as gateway, ada_of(gateway) as ada:
        await ada.subscribe(toolsListChanged=True)
        assert await names(ada) == ["who"]
        await log_in(gateway, ADA, upstream, "ada")
        await ada.notification(CHANGED)
        assert upstream.site.asked == []
        assert await names(ada) == ["who", "whoami"]
        log_out(tmp_path)
        await ada.notification(CHANGED)
        assert await names(ada) == ["who"]


async def test_a_server_that_is_slow_or_fails_is_no_error_of_the_list(
    serve: Serve, upstream: Protected
) -> None:
    answers = Event()

    def lists(claims: dict[str, Any]) -> list[dict[str, Any]]:
        answers.wait(30)
        return [TOOL]

    upstream.lists = lists
    async with serve() as gateway, ada_of(gateway) as ada:
        await ada.subscribe(toolsListChanged=True)
        await log_in(gateway, ADA, upstream, "ada")
        try:
            assert await names(ada) == ["who"]  # after five seconds
            assert await names(ada) == ["who"]  # at once
            ada.notifications.clear()
        finally:
            answers.set()
        while "whoami" not in await names(ada):
            await ada.notification(CHANGED)

        await connect(gateway, ADA, upstream.url, "a-token-that-nobody-issued")
        assert await names(ada) == ["who"]


async def test_rules_hold_for_what_it_lists(serve: Serve, upstream: Protected) -> None:
    rules = [
        {"for": {"token": "ada"}, "tools": ["whoami"]},
        {"for": {"token": "bob"}, "tools": ["who"]},
    ]
    async with (
        serve(rules=rules) as gateway,
        ada_of(gateway) as ada,
        bob_of(gateway) as bob,
    ):
        await log_in(gateway, ADA, upstream, "ada")
        await log_in(gateway, BOB, upstream, "bob")
        assert await names(ada) == ["whoami"]
        assert await names(bob) == ["who"]
        await bob.error("tools/call", {"name": "whoami", "arguments": {}})


async def test_what_is_not_in_the_lock_is_not_on_offer_to_anybody(
    serve: Serve, upstream: Protected
) -> None:
    async with serve("--locked") as gateway, ada_of(gateway) as ada:
        await log_in(gateway, ADA, upstream, "ada")
        assert await names(ada) == ["who"]
        assert "tools/list" in [method for _, method in upstream.received]
        result = await ada.call("whoami")
        assert result["isError"] and "lock" in result["content"][0]["text"]
        assert await said(ada, "who") == "ada"


async def test_commands_show_and_lock_what_is_listed_to_whoever_runs_them(
    upstream: Protected, tmp_path: Path
) -> None:
    path, config = tmp_path / "registry.json", tmp_path / "settings.json"
    entry = {"name": "acme", "url": upstream.url, "auth": "oauth", "expose": "all"}
    path.write_text(json.dumps({"servers": [entry]}))
    config.write_text(json.dumps({"credentialsDir": str(tmp_path / "credentials")}))
    serve = toolyard("serve", path, "--http", "127.0.0.1:0", "--config", config)

    def said_by(*words: str) -> str:
        command = toolyard(*words, "--registry", path, "--config", config)
        done = run(command, env=environment(), check=True, capture_output=True, text=True)
        return done.stdout + done.stderr

    assert "toolyard auth login acme" in said_by("registry", "lock")
    assert "whoami" not in said_by("registry", "show")
    async with listening([*serve, "--locked"]) as gateway, over_http(gateway.url, NEW) as client:
        body = {"server_url": upstream.url, "token": token_for(upstream, "ada")}
        headers = {"Content-Type": "application/json"}
        connected = f"{gateway.origin}/oauth/connect"
        async with fetch("POST", connected, headers, json.dumps(body).encode()) as reply:
            assert reply.status == 200
        assert await names(client) == []

        assert "whoami" in said_by("registry", "show")
        assert "1 tool" in said_by("registry", "lock")
        assert "nothing has changed" in said_by("registry", "verify")
    async with listening([*serve, "--locked"]) as gateway, over_http(gateway.url, NEW) as client:
        assert await names(client) == ["whoami"]
        assert await said(client, "whoami") == "ada"


async def test_everything_that_it_exposes_is_listed_and_what_it_announces_is_passed_on(
    serve: Serve,
) -> None:
    theirs = {"TOOLYARD_TOKEN": "ada-at-acme"}
    with copied(ROOT / "examples" / "demo") as project:
        async with (
            serving(project, env=theirs) as acme,
            serve(url=acme.url) as gateway,
            ada_of(gateway) as ada,
            bob_of(gateway) as bob,
        ):
            await connect(gateway, ADA, acme.url, "ada-at-acme")
            await ada.subscribe(toolsListChanged=True)
            assert "greet" in await names(ada)
            for method, key in (("resources/list", "resources"), ("prompts/list", "prompts")):
                assert (await ada.result(method))[key]
                assert not (await bob.result(method))[key]
            await ada.result("prompts/get", {"name": "rewrite", "arguments": REWRITE})
            await bob.error("prompts/get", {"name": "rewrite", "arguments": REWRITE})

            script = project / "tools" / "added.sh"
            script.write_text('#!/bin/sh\n# mcp: {"name": "added"}\necho \'{}\'\n')
            script.chmod(0o755)
            while "added" not in await names(ada):
                await ada.notification(CHANGED)
            assert await names(bob) == ["who"]


async def test_nothing_is_asked_or_built_again_while_nothing_changes(
    upstream: Protected, tmp_path: Path
) -> None:
    entry = {"name": "acme", "url": upstream.url, "auth": "oauth", "expose": "all"}
    path = tmp_path / "registry.json"
    path.write_text(json.dumps({"servers": [entry]}))
    rules = [{"tools": ["*"]}]
    settings = Settings(rules=rules, credentials_dir=str(tmp_path / "credentials"))
    app = build(Plan(settings, Identity({"name": "x", "version": "1"}), registries=(str(path),)))
    assert isinstance(app.federation, RegistryFederation)
    own = app.federation.cohorts
    server = app.federation.pool.definition("acme")
    assert server is not None
    view, callers = view_of(settings), [Caller(name, name) for name in ("ada", "bob")]
    assert view is not None
    try:
        for caller in callers:
            token = token_for(upstream, caller.id)
            given = Grant(token, "", "", OAuthClient("", ""), upstream.url, 0.0, given=True)
            await app.logins.accounts.account(server, caller).give(given)

        async def seen() -> list[Catalog]:
            shared = await app.keeper.catalog()
            return [view(await own.of(shared, Downstream(caller)), caller) for caller in callers]

        await seen()  # the second connection stirs the first
        first, second = await seen(), await seen()
    finally:
        await app.close()
    assert all(one is other for one, other in zip(first, second, strict=True))
    assert first[0] is not first[1] and list(first[0].tools) == ["whoami"]
    assert [method for _, method in upstream.received].count("tools/list") == 2
