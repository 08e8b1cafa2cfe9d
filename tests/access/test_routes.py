"""The inventory: each route says who may use it, and none of them takes a command."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.peers.http1 import fetch
from tests.peers.serving import ROOT, Listening, copied, listening, toolyard
from toolyard.access.oauth.accounts import Accounts
from toolyard.access.oauth.vault import SealedVault
from toolyard.app.access import Logins, authenticator_of, connect_routes, routes_of
from toolyard.errors import LoginRequired
from toolyard.protocol.call import Caller
from toolyard.protocol.identity import Identity
from toolyard.settings import Settings
from toolyard.transports.answer import Edge
from toolyard.transports.endpoint.app import HttpSettings, HttpTransport
from toolyard.upstreams.definition import ServerDefinition

pytestmark = pytest.mark.asyncio(loop_scope="module")
DEMO = ROOT / "examples" / "demo"
TOKEN = "an-operator-token"
UPSTREAM = "https://acme.example/mcp"
OAUTH = {"issuer": "https://as.example", "resource": "https://tools.example/mcp"}

# Route -> who may use it. A new route has to be added here, with an answer.
INVENTORY = {
    "/healthz": "everybody",
    "/.well-known/oauth-protected-resource": "everybody",
    "/.well-known/oauth-protected-resource/mcp": "everybody",
    "/mcp": "callers",
    "/mcp/": "callers",
    "/sse": "callers",
    "/messages": "callers",
    "/oauth/connect": "callers",
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Listening]:
    folder = tmp_path_factory.mktemp("gateway")
    registry = folder / "registry.json"
    entry = {"name": "acme", "url": UPSTREAM, "auth": "oauth"}
    other = {"name": "plain", "url": "https://plain.example/mcp"}
    registry.write_text(json.dumps({"servers": [entry, other]}))
    env = {"TOOLYARD_TOKEN": TOKEN, "TOOLYARD_CREDENTIALS_DIR": str(folder / "credentials")}
    with copied(DEMO) as project:
        (project / "toolyard.json").write_text(json.dumps({"oauth": OAUTH}))
        command = toolyard("serve", project, registry, "--http", "127.0.0.1:0")
        async with listening(command, env=env) as running:
            STORED["folder"] = folder / "credentials"
            yield running


STORED: dict[str, Path] = {}


async def test_the_inventory_is_complete() -> None:
    settings = Settings(oauth=OAUTH)
    gate = authenticator_of(settings, loopback=True)
    extra = {**routes_of(settings), **connect_routes(Logins(settings), gate, list)}

    async def nothing(*_: object) -> dict[str, Any]:
        return {}

    edge = Edge(nothing, Identity({"name": "x", "version": "1"}))
    assert HttpTransport(edge, HttpSettings(authenticator=gate), extra).paths == INVENTORY.keys()


@pytest.mark.parametrize("path", INVENTORY)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "PUT"])
async def test_what_is_for_callers_is_for_nobody_else(
    server: Listening, path: str, method: str
) -> None:
    headers = {"Content-Type": "application/json"}
    async with fetch(method, server.origin + path, headers, b"{}") as reply:
        if INVENTORY[path] == "everybody":
            assert reply.status in (200, 405)
        else:
            assert reply.status in (401, 405)


@pytest.mark.parametrize("path", INVENTORY)
@pytest.mark.parametrize(
    "headers", [{"Host": "evil.example"}, {"Origin": "https://evil.example"}, {"Host": ""}]
)
async def test_every_route_refuses_foreign_hosts_and_origins(
    server: Listening, path: str, headers: dict[str, str]
) -> None:
    async with fetch("GET", server.origin + path, headers) as reply:
        assert reply.status in (400, 403)


@pytest.mark.parametrize("name", ["overview", "catalog", "entry/tools/x", "events", "traffic"])
@pytest.mark.parametrize("token", [None, TOKEN, "wrong"])
async def test_the_api_of_the_page_wants_the_token_of_the_page_and_no_other(
    server: Listening, name: str, token: str | None
) -> None:
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    async with fetch("GET", f"{server.origin}/api/{name}", headers) as reply:
        assert reply.status == 401


async def connect(server: Listening, body: Any, token: str = TOKEN, **more: str) -> tuple[int, Any]:
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}", **more}
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    async with fetch("POST", f"{server.origin}/oauth/connect", headers, raw) as reply:
        return reply.status, await reply.json()


async def test_a_token_that_is_handed_over_is_kept_for_that_caller_and_server_only(
    server: Listening,
) -> None:
    assert await connect(server, {"server_url": UPSTREAM, "token": "mine"}) == (
        200,
        {"status": "connected"},
    )
    accounts = Accounts(SealedVault(STORED["folder"]))
    acme = ServerDefinition("acme", url=UPSTREAM, auth="oauth")
    mine = await accounts.authorize(acme, Caller("token:token", "token"))
    assert mine == {"Authorization": "Bearer mine"}
    with pytest.raises(LoginRequired):
        await accounts.authorize(acme, Caller("token:other", "other"))


@pytest.mark.parametrize(
    "body, status",
    [
        ({}, 400),
        ({"server_url": UPSTREAM}, 400),
        ({"token": "x"}, 400),
        ({"server_url": UPSTREAM, "token": ["x"]}, 400),
        ({"server_url": UPSTREAM, "token": "x\r\nX-Evil: 1"}, 400),
        ([], 400),
        (b"not json", 400),
        ({"server_url": "https://evil.example/mcp", "token": "x"}, 404),
        ({"server_url": "https://plain.example/mcp", "token": "x"}, 404),
        ({"server_url": "http://169.254.169.254/", "token": "x"}, 404),
        ({"command": "id", "args": [], "env": {}, "token": "x"}, 400),
        (b"x" * 100_000, 413),
    ],
)
async def test_what_cannot_be_connected_is_refused(
    server: Listening, body: Any, status: int
) -> None:
    assert (await connect(server, body))[0] == status


async def test_a_form_of_another_site_connects_nothing(server: Listening) -> None:
    body = {"server_url": UPSTREAM, "token": "x"}
    for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
        assert (await connect(server, body, **{"Content-Type": kind}))[0] == 400
    assert (await connect(server, body, token="wrong"))[0] == 401
