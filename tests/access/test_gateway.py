"""An OAuth server behind the gateway: each caller with its own account and its own rules."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.peers.authority import Authority
from tests.peers.http1 import fetch
from tests.peers.protected import Protected
from tests.peers.raw import over_stdio
from tests.peers.raw_http import over_http
from tests.peers.serving import Listening, environment, listening, toolyard
from toolyard.access.tokens import hash_of

NEW = "2026-07-28"
ADA, BOB, EVE = "ada-at-the-gateway", "bob-at-the-gateway", "eve-at-the-gateway"


def registry(url: str) -> dict[str, Any]:
    tool = {"server": "acme", "originalName": "whoami", "inputSchema": {"type": "object"}}
    return {
        "servers": [{"name": "acme", "url": url, "auth": "oauth"}],
        "tools": [{**tool, "name": "who_a"}, {**tool, "name": "who_b"}],
    }


@pytest.fixture
async def gateway(upstream: Protected, tmp_path: Path) -> AsyncIterator[Listening]:
    (tmp_path / "registry.json").write_text(json.dumps(registry(upstream.url)))
    settings = {
        "tokens": [
            {"name": name, "hash": hash_of(token)}
            for name, token in {"ada": ADA, "bob": BOB, "eve": EVE}.items()
        ],
        "rules": [
            {"for": {"token": "ada"}, "tools": ["who_a"]},
            {"for": {"token": "bob"}, "tools": ["who_b"]},
            {"for": {"token": "eve"}, "tools": ["*"]},
        ],
        "credentialsDir": str(tmp_path / "credentials"),
    }
    (tmp_path / "settings.json").write_text(json.dumps(settings))
    command = toolyard(
        "serve", tmp_path / "registry.json", "--http", "127.0.0.1:0",
        "--config", tmp_path / "settings.json",
    )  # fmt: skip
    async with listening(command) as running:
        yield running


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


async def connect(gateway: Listening, caller: str, url: str, token: str) -> None:
    headers = {"Content-Type": "application/json", **bearer(caller)}
    body = json.dumps({"server_url": url, "token": token}).encode()
    async with fetch("POST", f"{gateway.origin}/oauth/connect", headers, body) as reply:
        assert reply.status == 200


async def test_its_tools_are_listed_and_nothing_is_contacted_until_somebody_logs_in(
    gateway: Listening, upstream: Protected
) -> None:
    async with over_http(gateway.url, NEW, headers=bearer(EVE)) as client:
        listed = (await client.result("tools/list"))["tools"]
        assert [tool["name"] for tool in listed] == ["who_a", "who_b"]
        result = await client.call("who_a")
    assert result["isError"]
    text = result["content"][0]["text"]
    assert "acme" in text and upstream.url in text and "toolyard auth login acme" in text
    assert upstream.site.asked == []


async def test_two_hundred_calls_of_two_callers_use_their_own_tools_and_accounts(
    gateway: Listening, upstream: Protected, issuer: Authority
) -> None:
    tokens = {
        name: issuer.sign(sub=name, aud=upstream.url, scope="") for name in ("ada-up", "bob-up")
    }
    await connect(gateway, ADA, upstream.url, tokens["ada-up"])
    await connect(gateway, BOB, upstream.url, tokens["bob-up"])

    async def use(caller: str, mine: str, other: str) -> str:
        async with over_http(gateway.url, NEW, headers=bearer(caller), start=False) as client:
            text = str((await client.call(mine))["content"][0]["text"])
            await client.error("tools/call", {"name": other, "arguments": {}})
            return text

    turns = [use(ADA, "who_a", "who_b"), use(BOB, "who_b", "who_a")]
    assert await asyncio.gather(*turns) == ["ada-up", "bob-up"]
    turns = [
        use(*who) for _ in range(99) for who in ((ADA, "who_a", "who_b"), (BOB, "who_b", "who_a"))
    ]
    assert await asyncio.gather(*turns) == ["ada-up", "bob-up"] * 99
    calls = [token for token, method in upstream.received if method == "tools/call"]
    assert sorted(calls) == sorted([tokens["ada-up"], tokens["bob-up"]] * 100)
    sent = "".join(asked.headers.get("authorization", "") for asked in upstream.site.asked)
    assert not any(own in sent for own in (ADA, BOB, EVE))  # never passed through


async def test_a_token_that_was_given_and_is_refused_has_to_be_given_again(
    gateway: Listening, upstream: Protected, issuer: Authority
) -> None:
    token = issuer.sign(aud=upstream.url, scope="")
    await connect(gateway, EVE, upstream.url, token)
    async with over_http(gateway.url, NEW, headers=bearer(EVE)) as client:
        assert (await client.call("who_a"))["content"][0]["text"] == "ada"
        upstream.refused.add(token)
        for _ in range(2):
            result = await client.call("who_a")
            assert result["isError"] and "wants a login" in result["content"][0]["text"]
    assert issuer.site.count("/token") == 0


async def test_over_stdio_a_client_is_sent_to_the_login_page_in_the_middle_of_a_call(
    upstream: Protected, tmp_path: Path
) -> None:
    path = tmp_path / "registry.json"
    path.write_text(json.dumps(registry(upstream.url)))
    env = environment({"TOOLYARD_CREDENTIALS_DIR": str(tmp_path / "credentials")})
    capabilities: dict[str, Any] = {"elicitation": {"url": {}, "form": {}}}

    async with over_stdio(
        toolyard("serve", path), NEW, env=env, capabilities=capabilities
    ) as client:
        asked = await client.result("tools/call", {"name": "who_a", "arguments": {}})
        assert asked["resultType"] == "input_required"
        ((key, question),) = asked["inputRequests"].items()
        assert question["params"]["mode"] == "url"
        async with fetch("GET", question["params"]["url"]) as page:
            assert page.status == 302
        async with fetch("GET", page.headers["location"]) as back:
            assert back.status == 200
        again = {
            "name": "who_a",
            "arguments": {},
            "inputResponses": {key: {"action": "accept"}},
            "requestState": asked["requestState"],
        }
        result = await client.result("tools/call", again)
        assert result["content"][0]["text"] == "ada"
        assert (await client.call("who_b"))["content"][0]["text"] == "ada"
