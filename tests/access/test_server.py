"""The program itself, over real sockets: who gets in, who sees what, what is written down."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.peers.authority import Authority, authority
from tests.peers.http1 import fetch
from tests.peers.raw import over_stdio
from tests.peers.raw_http import over_http
from tests.peers.serving import ROOT, Listening, copied, environment, serving, spawned, toolyard
from toolyard.access.tokens import hash_of

pytestmark = pytest.mark.asyncio(loop_scope="module")
DEMO = ROOT / "examples" / "demo"
OLD, NEW = "2025-11-25", "2026-07-28"
JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
ADA, BOB, LIMITED = "ada-token", "bob-token", "limited-token"
RESOURCE = "https://tools.example/mcp"


def configuration(issuer: Authority) -> dict[str, Any]:
    return {
        "tokens": [
            {"name": "ada", "hash": hash_of(ADA)},
            {"name": "bob", "hash": hash_of(BOB)},
            {"name": "narrow", "hash": hash_of(LIMITED), "tools": ["text_*"]},
        ],
        "oauth": {"issuer": issuer.issuer, "resource": RESOURCE, "scopes": ["use"]},
        "rules": [
            {"for": {"token": "ada"}, "tools": ["greet"], "prompts": ["*"]},
            {"for": {"token": "bob"}, "tools": ["text_*"], "resources": ["*"]},
            {"for": {"token": "narrow"}, "tools": ["*"], "resources": ["*"], "prompts": ["*"]},
            {"for": {"claim": {"team": "ops"}}, "tools": ["*"]},
        ],
        "limits": [{"for": {"token": "narrow"}, "calls": 3, "seconds": 3600}],
    }


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Listening]:
    audit = tmp_path_factory.mktemp("audit") / "audit.jsonl"
    with authority() as issuer, copied(DEMO) as project:
        settings = {**configuration(issuer), "auditLog": str(audit)}
        (project / "toolyard.json").write_text(json.dumps(settings))
        async with serving(project) as running:
            SEEN.update(issuer=issuer, audit=audit)
            yield running


SEEN: dict[str, Any] = {}


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


async def names(server: Listening, token: str, kind: str = "tools") -> list[str]:
    async with over_http(server.url, NEW, headers=bearer(token)) as client:
        listed = (await client.result(f"{kind}/list"))[kind]
        return sorted(item["name"] for item in listed)


async def asked(server: Listening, *headers: tuple[str, str]) -> tuple[int, dict[str, str]]:
    """A request whose headers may repeat, written by hand."""
    body = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
    head = "".join(f"{name}: {value}\r\n" for name, value in headers)
    host, port = server.origin.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(
        f"POST /mcp HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: application/json\r\n"
        f"Accept: application/json, text/event-stream\r\nConnection: close\r\n{head}"
        f"Content-Length: {len(body)}\r\n\r\n".encode("latin-1")
        + body
    )
    async with asyncio.timeout(10):
        answer = (await reader.read()).decode("latin-1")
    writer.close()
    lines = answer.partition("\r\n\r\n")[0].split("\r\n")
    told = dict(line.lower().split(": ", 1) for line in lines[1:])
    return int(lines[0].split()[1]), told


async def test_two_callers_with_two_sets_of_rules_see_and_call_only_their_own(
    server: Listening,
) -> None:
    assert await names(server, ADA) == ["greet"]
    assert await names(server, BOB) == ["text_stats"]
    assert (await names(server, ADA, "prompts"), await names(server, BOB, "prompts")) == (
        ["rewrite"],
        [],
    )
    assert await names(server, ADA, "resources") == []

    async def use(token: str, mine: str, other: str, arguments: dict[str, Any]) -> None:
        async with over_http(server.url, NEW, headers=bearer(token)) as client:
            result = await client.call(mine, arguments)
            assert not result.get("isError"), result
            refused = await client.error("tools/call", {"name": other, "arguments": {}})
            assert refused["message"] == f"Tool '{other}' not found"

    turns = [use(ADA, "greet", "text_stats", {"name": "x"}) for _ in range(20)]
    turns += [use(BOB, "text_stats", "greet", {"text": "a b"}) for _ in range(20)]
    await asyncio.gather(*turns)


async def test_what_is_not_allowed_cannot_be_reached_by_any_method(server: Listening) -> None:
    async with over_http(server.url, NEW, headers=bearer(BOB)) as client:
        uri = (await client.result("resources/list"))["resources"][0]["uri"]
        assert (await client.result("resources/read", {"uri": uri}))["contents"]
    async with over_http(server.url, NEW, headers=bearer(ADA)) as client:
        assert "not found" in (await client.error("resources/read", {"uri": uri}))["message"]
        ref = {"type": "ref/resource", "uri": uri}
        argument = {"name": "x", "value": ""}
        await client.error("completion/complete", {"ref": ref, "argument": argument})
    async with over_http(server.url, OLD, headers=bearer(ADA)) as client:
        assert "not found" in (await client.error("resources/subscribe", {"uri": uri}))["message"]
    async with over_http(server.url, OLD, headers=bearer(BOB)) as client:
        await client.error("prompts/get", {"name": "rewrite", "arguments": {"text": "x"}})
        ref = {"type": "ref/prompt", "name": "rewrite"}
        await client.error("completion/complete", {"ref": ref, "argument": argument})


async def test_a_token_of_the_issuer_gets_what_its_claims_allow(server: Listening) -> None:
    issuer: Authority = SEEN["issuer"]
    ops = issuer.sign(aud=RESOURCE, scope="use", team=["dev", "ops"])
    assert len(await names(server, ops)) == 5
    assert await names(server, issuer.sign(aud=RESOURCE, scope="use")) == []
    # A claim that says "ada" is not the token named ada.
    sly = issuer.sign(aud=RESOURCE, scope="use", token="ada", id="token:ada", sub="token:ada")
    assert await names(server, sly) == []


async def test_the_right_refusals_come_with_the_right_headers(server: Listening) -> None:
    issuer: Authority = SEEN["issuer"]
    where = 'resource_metadata="https://tools.example/.well-known/oauth-protected-resource/mcp"'
    status, told = await asked(server)
    assert status == 401 and where in told["www-authenticate"]
    status, told = await asked(server, ("Authorization", "Bearer nonsense"))
    assert status == 401 and 'error="invalid_token"' in told["www-authenticate"]
    poor = issuer.sign(aud=RESOURCE, scope="look")
    status, told = await asked(server, ("Authorization", f"Bearer {poor}"))
    assert status == 403 and 'error="insufficient_scope"' in told["www-authenticate"]
    stranger = issuer.sign(aud="https://other.example/mcp", scope="use")
    assert (await asked(server, ("Authorization", f"Bearer {stranger}")))[0] == 401


async def test_a_thousand_random_credentials_are_401_each(server: Listening) -> None:
    chance = random.Random(7)
    letters = "".join(chr(code) for code in (*range(32, 127), *range(160, 256)))
    schemes = ["Bearer ", "bearer", "Basic ", "", "Digest ", f"Bearer {ADA} ", "Bearer\t", "Token "]

    async def refused() -> int:
        junk = "".join(chance.choices(letters, k=chance.randrange(1, 80)))
        one = ("Authorization", f"{chance.choice(schemes)}{junk}")
        return (await asked(server, *([one] * chance.choice([1, 1, 2]))))[0]

    for _ in range(40):
        assert await asyncio.gather(*(refused() for _ in range(25))) == [401] * 25


async def test_a_credential_sent_twice_or_in_the_query_is_none(server: Listening) -> None:
    right = ("Authorization", f"Bearer {ADA}")
    assert (await asked(server, right))[0] != 401
    assert (await asked(server, right, right))[0] == 401
    async with fetch("POST", f"{server.url}?access_token={ADA}", JSON, b"{}") as reply:
        assert reply.status == 401


async def test_a_session_of_one_caller_does_not_exist_for_another(server: Listening) -> None:
    async with over_http(server.url, OLD, headers=bearer(ADA)) as ada:
        await ada.result("tools/list")
        foreign = {**JSON, **bearer(BOB), "Mcp-Session-Id": ada.session or ""}
        body = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
        for method in ("POST", "GET", "DELETE"):
            async with fetch(method, server.url, foreign, body if method == "POST" else b"") as got:
                assert got.status == 404
        await ada.result("tools/list")


async def test_a_parked_call_of_one_caller_does_not_exist_for_another(server: Listening) -> None:
    issuer: Authority = SEEN["issuer"]
    asks: dict[str, Any] = {"elicitation": {"form": {}}}
    ada, eve = (
        bearer(issuer.sign(aud=RESOURCE, scope="use", team="ops", sub=sub))
        for sub in ("ada", "eve")
    )
    async with (
        over_http(server.url, NEW, headers=ada, capabilities=asks) as mine,
        over_http(server.url, NEW, headers=eve, capabilities=asks) as other,
    ):
        lunch = {"name": "plan_lunch", "arguments": {}}
        asked = await mine.result("tools/call", lunch)
        ((key, _),) = asked["inputRequests"].items()
        again = {
            **lunch,
            "requestState": asked["requestState"],
            "inputResponses": {key: {"action": "decline"}},
        }
        assert (await other.error("tools/call", again))["code"] == -32602
        assert "content" in await mine.result("tools/call", again)


async def test_the_metadata_of_the_resource_is_open_to_everybody(server: Listening) -> None:
    for path in (
        "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-protected-resource",
    ):
        async with fetch("GET", server.origin + path) as reply:
            assert reply.status == 200
            assert await reply.json() == {
                "resource": RESOURCE,
                "authorization_servers": [SEEN["issuer"].issuer],
                "bearer_methods_supported": ["header"],
                "scopes_supported": ["use"],
            }


async def test_a_caller_that_calls_too_often_is_told_to_wait_for_every_method(
    server: Listening,
) -> None:
    async with over_http(server.url, NEW, headers=bearer(LIMITED)) as client:
        assert [tool["name"] for tool in (await client.result("tools/list"))["tools"]] == [
            "text_stats"
        ]
        assert (await client.result("resources/list"))["resources"] == []
        await client.result("prompts/list")
        for method in ("tools/list", "resources/read", "prompts/get", "completion/complete"):
            assert (await client.error(method, {"name": "x", "uri": "x"}))["code"] == -32029
        result = await client.call("text_stats", {"text": "x"})
        assert result["isError"] and "Too many calls" in result["content"][0]["text"]
    assert await names(server, BOB) == ["text_stats"]  # others are not concerned


async def test_every_call_is_written_down_without_its_arguments(server: Listening) -> None:
    async with over_http(server.url, NEW, headers=bearer(ADA)) as client:
        await client.call("greet", {"name": "a-private-name"})
        await client.error("tools/call", {"name": "no\nsuch", "arguments": {}})
    audit: Path = SEEN["audit"]
    text = audit.read_text()
    assert audit.stat().st_mode & 0o777 == 0o600
    lines = [json.loads(line) for line in text.splitlines()]
    good = next(line for line in lines if line.get("name") == "greet" and line["outcome"] == "ok")
    assert (good["caller"], good["method"]) == ("token:ada", "tools/call")
    assert good["ms"] > 0 and good["time"].endswith("+00:00")
    bad = next(line for line in lines if line.get("name") == "no\nsuch")
    assert (bad["outcome"], bad["code"]) == ("refused", -32602)
    assert "a-private-name" not in text and ADA not in text and hash_of(ADA) not in text


async def test_an_address_that_others_reach_is_not_bound_without_authentication() -> None:
    with copied(DEMO) as project:
        command = toolyard("serve", project, "--http", "0.0.0.0:0")
        async with spawned(command) as running:
            await running.process.wait()
            assert running.process.returncode == 2
            assert "without authentication" in await running.last_words()


async def test_a_mistake_in_the_rules_names_its_place_and_nothing_is_served() -> None:
    with copied(DEMO) as project:
        rules = [{"for": {"tokn": "ada"}, "tools": ["*"]}]
        (project / "toolyard.json").write_text(json.dumps({"rules": rules}))
        async with spawned(toolyard("serve", project, "--http", "0")) as running:
            await running.process.wait()
            assert running.process.returncode == 2
            assert "toolyard.json#/rules/0/for" in await running.last_words()


async def test_a_new_token_is_shown_once_and_works() -> None:
    with copied(DEMO) as project:
        config = project / "toolyard.json"
        config.write_text('{"pageSize": 7}')
        made = await run("token", "new", "ci", "--tool", "greet", "--config", str(config))
        token = made.strip()
        assert token.startswith("ty_") and token not in config.read_text()
        assert json.loads(config.read_text())["pageSize"] == 7
        assert "ci" in await run("token", "list", "--config", str(config))
        async with serving(project) as server:
            assert await names(server, token) == ["greet"]
            assert (await asked(server))[0] == 401
        await run("token", "revoke", "ci", "--config", str(config))
        assert json.loads(config.read_text())["tokens"] == []


async def run(*arguments: str) -> str:
    process = await asyncio.create_subprocess_exec(
        *toolyard(*arguments), env=environment(), stdout=asyncio.subprocess.PIPE
    )
    out, _ = await process.communicate()
    assert process.returncode == 0
    return out.decode()


async def test_the_remote_token_is_wanted_on_every_request_even_the_first() -> None:
    token = "0123456789abcdef0123456789abcdef"
    with copied(DEMO) as project:
        command = toolyard("serve", project)
        env = {"MCPBASH_REMOTE_TOKEN": token}
        async with spawned(command, env=env) as running:
            assert running.process.stdin is not None and running.process.stdout is not None
            for meta in ({}, {"mcpbash/remoteToken": token}):
                hello = {"protocolVersion": OLD, "capabilities": {}, "_meta": meta}
                message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
                running.process.stdin.write(json.dumps(message).encode() + b"\n")
                answer = json.loads(await running.process.stdout.readline())
                assert ("error" in answer) is not bool(meta), answer


async def test_a_short_remote_token_is_refused_at_the_start() -> None:
    with copied(DEMO) as project:
        async with spawned(
            toolyard("serve", project), env={"MCPBASH_REMOTE_TOKEN": "x"}
        ) as running:
            await running.process.wait()
            assert running.process.returncode == 1


async def test_over_stdio_nothing_of_this_is_in_the_way() -> None:
    with copied(DEMO) as project:
        async with over_stdio(toolyard("serve", project), NEW) as client:
            assert len((await client.result("tools/list"))["tools"]) == 5
