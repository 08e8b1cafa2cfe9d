"""What came from a variable stays inside: everything that left the process is searched for it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import toolyard
from tests.gateway.test_endpoints import get, page_token
from tests.gateway.yard import Yard
from tests.peers.raw import MODERN
from tests.peers.raw_http import over_http
from tests.peers.serving import Listening, serving

pytestmark = pytest.mark.long

Json = Any
PLACES = ("ENV", "ARG", "HEADER", "URL", "QUERY", "COMMAND", "DEFAULT", "DEEP", "CWD")
# One for each place, so that a leak says where it comes from; the value is not in its name.
SECRETS = {place: f"s3cr3t-{number:02}-value" for number, place in enumerate(PLACES)}
FIXED = {"content": [{"type": "text", "text": '{"n": 1}'}]}


class Echoing(BaseHTTPRequestHandler):
    """Refuses everybody and says what they sent."""

    def answer(self) -> None:
        body = f"{self.path} {self.headers.as_string()}".encode()
        self.send_response(500)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_DELETE = answer

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""


@contextmanager
def echoing() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Echoing) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def secretive(yard: Yard) -> Iterator[Yard]:
    """Servers that work, do not start, cannot be reached, refuse, and gossip."""
    good = yard.upstream("good", {"name": "fixed", "result": FIXED})
    good["env"] = {"TOKEN": "${ENV}", "ALSO": "x${ENV}y"}
    gossip = "echo my token is $TOKEN and $1 >&2; exit 1"
    with echoing() as origin:
        servers = [
            good,
            {"name": "absent", "stdio": {"command": "/no/such/${COMMAND}", "args": ["${ARG}"]}},
            {"name": "misplaced", "stdio": {"command": "true", "cwd": "/no/such/${CWD}"}},
            {"name": "away", "url": "http://127.0.0.1:9/${URL}/mcp?key=${QUERY}"},
            {
                "name": "refusing",
                "url": origin + "/${URL}/mcp?key=${QUERY}",
                "headers": {"Authorization": "Bearer ${HEADER}"},
            },
            {
                "name": "gossiping",
                "stdio": {"command": "sh", "args": ["-c", gossip, "sh", "${ARG}"]},
                "env": {"TOKEN": "${ENV}"},
            },
        ]
        defaults = {"key": "${DEFAULT}", "deep": {"list": ["a ${DEEP} b"]}}
        schema = {"type": "object", "properties": {"n": {"source_field": "$.n"}}}
        tools = [
            {"name": server["name"], "server": server["name"], "originalName": "fixed"}
            | {"defaults": defaults, "outputSchema": schema}
            for server in servers
        ]
        yard.registry(servers=servers, tools=tools)
        yield yard


async def everything_over_http(server: Listening) -> list[str]:
    """Every list, every call, every endpoint, the page's API."""
    said = []
    async with over_http(server.url, MODERN, checked=False) as client:
        for method in ("server/discover", "tools/list", "resources/list", "prompts/list"):
            said.append(json.dumps(await client.request(method, within=60)))
        names = [tool["name"] for tool in json.loads(said[1])["result"]["tools"]]
        assert len(names) == 6
        for name in names:
            for arguments in ({}, {"key": "mine"}, {"wrong": 1}):
                params = {"name": name, "arguments": arguments}
                said.append(json.dumps(await client.request("tools/call", params, within=60)))
    token = await page_token(server)
    paths = [
        "/status",
        "/registry",
        "/registry?format=agentgateway",
        "/registry?format=mcp-servers",
    ]
    paths += ["/api/overview", "/api/catalog", "/api/traffic", "/api/registry"]
    paths += [f"/api/entry?kind=tools&name={name}" for name in names]
    paths += [f"/api/traffic/{number}" for number in range(1, 30)]
    for path in paths:
        said.append((await get(server, path, token))[1])
    return said


@pytest.mark.timeout(240)
async def test_nothing_that_leaves_the_gateway_holds_a_variable(secretive: Yard) -> None:
    async with serving(secretive.file, "--log-level", "debug", env=SECRETS) as server:
        said = await everything_over_http(server)
    good = [text for text in said if '\\"n\\":1' in text]
    assert good, "the good server was never called"
    leaks(said + server.stderr)


@pytest.mark.timeout(240)
def test_nothing_that_a_command_prints_holds_a_variable(secretive: Yard) -> None:
    commands: list[list[str]] = [
        ["registry", "check", "--live"],
        ["registry", "check", "--live", "--json"],
        ["registry", "show"],
        ["registry", "show", "--json"],
        ["registry", "lock"],
        ["registry", "convert", "registry.json", "--to", "agentgateway"],
        ["list", "registry.json", "--json"],
    ]
    for name in ("good", "absent", "misplaced", "away", "refusing", "gossiping"):
        commands.append(["registry", "explain", name, "--json"])
        commands.append(["registry", "explain", name])
        commands.append(["inspect", "--timeout", "5", name])
        commands.append(["call", name, "fixed", "--timeout", "5"])
    said = []
    for command in commands:
        done = toolyard(*command, cwd=secretive.root, env=SECRETS)
        said.append(f"{command}: {done.out}{done.err}")
    leaks(said)
    kept = (secretive.root / ".registry").rglob("*.json")
    leaks([f"{path}: {path.read_text()}" for path in kept])


def leaks(said: list[str]) -> None:
    found = [
        f"{place}: ...{text[max(0, text.index(value) - 200) : text.index(value) + 40]}..."
        for text in said
        for place, value in SECRETS.items()
        if value in text
    ]
    assert not found, "\n".join(found)


def test_what_is_searched_for_would_be_found(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="ENV"):
        leaks([f"before {SECRETS['ENV']} after"])
