"""What is answered over HTTP before the server is imported: only what it would say as well."""

from __future__ import annotations

import http.client
import json
import re
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.peers.ports import free_port
from tests.peers.serving import environment

HELLO = Path(__file__).parents[2] / "examples" / "01-hello"
CLIENT = {"name": "start", "version": "1"}
JSON = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
# As a machine that is slow: the server is imported when the test says so.
GATED = """
import sys
from toolyard.cli import main
class Gate:
    def find_spec(self, name, *_):
        if name == "toolyard.app.serving.over_http":
            print(*sys.modules, file=sys.stderr, flush=True)
            sys.stdin.readline()
sys.meta_path.insert(0, Gate())
sys.exit(main(sys.argv[1:]))
"""
# Each takes longer to load than the answer takes to be made.
HEAVY = {
    *("asyncio", "uvloop", "orjson", "dataclasses", "inspect", "logging", "hashlib", "secrets"),
    *("jsonschema_rs", "urllib.parse", "ipaddress", "shutil", "ssl", "email", "datetime", "uuid"),
}


def initialize(revision: str = "2025-11-25", name: str = "start") -> bytes:
    params = {
        "protocolVersion": revision,
        "capabilities": {"roots": {}},
        "clientInfo": {"name": name, "version": "1"},
    }
    return encoded("initialize", params)


def encoded(method: str, params: dict[str, Any] | None = None) -> bytes:
    return json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}
    ).encode()


class Starting:
    """A gateway that answers, or is asked to, before its server is imported."""

    def __init__(self, process: subprocess.Popen[str], port: int) -> None:
        self.process = process
        self.port = port
        assert process.stderr is not None
        self.modules = set(process.stderr.readline().split())

    def go_on(self) -> None:
        """Import the server; wait until it listens."""
        assert self.process.stdin is not None and self.process.stderr is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        assert any(re.search(r"at http://127\.0\.0\.1:\d+/mcp", x) for x in self.process.stderr)

    def greet_somebody(self) -> None:
        """Then all that came before has been looked at."""
        with self.connected() as another:
            assert ask(another, initialize())[0] == 200

    def connected(self) -> closing[http.client.HTTPConnection]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.connect()
        return closing(connection)


@contextmanager
def starting(folder: Path, *words: str, **variables: str) -> Iterator[Starting]:
    hello = {"command": sys.executable, "args": ["-m", "toolyard", "serve", str(HELLO)]}
    server = {"name": "hello", "expose": "all", "stdio": hello, "instructions": "Say hello."}
    registry = folder / "registry.json"
    if not registry.exists():
        registry.write_text(json.dumps({"servers": [server]}))
    port = free_port()
    command = [sys.executable, "-c", GATED, "serve", str(registry), "--http", str(port), *words]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**environment(), "XDG_STATE_HOME": str(folder), **variables},
    ) as process:
        try:
            yield Starting(process, port)
        finally:
            process.terminate()


def ask(
    connection: http.client.HTTPConnection, body: bytes, **headers: str
) -> tuple[int, str, Any]:
    """Status, session and message of the answer."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request("POST", "/mcp", body, {**JSON, **named})
    return answer(connection)


def answer(connection: http.client.HTTPConnection) -> tuple[int, str, Any]:
    response = connection.getresponse()
    body = response.read()
    return response.status, response.headers.get("mcp-session-id", ""), json.loads(body or b"null")


def listed(connection: http.client.HTTPConnection, session: str) -> list[str]:
    ready = json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}).encode()
    assert ask(connection, ready, mcp_session_id=session)[0] == 202
    status, _, message = ask(connection, encoded("tools/list"), mcp_session_id=session)
    assert status == 200
    return [tool["name"] for tool in message["result"]["tools"]]


def test_the_first_answer_over_http_needs_nothing_heavy(tmp_path: Path) -> None:
    with starting(tmp_path) as gateway:
        assert "toolyard.app.early.welcome" in gateway.modules
        assert not gateway.modules & HEAVY


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-06-18", "2025-11-25", "1999-01-01"])
def test_the_server_says_what_was_said_before_it(tmp_path: Path, revision: str) -> None:
    # Whatever it will list is not known: once there is a list, there is more to say.
    sleep = {"command": "sleep", "args": ["600"]}
    silent = {"name": "silent", "expose": "all", "stdio": sleep}
    (tmp_path / "registry.json").write_text(json.dumps({"servers": [silent]}))
    with starting(tmp_path) as gateway, gateway.connected() as early, ExitStack() as stack:
        status, session, message = ask(early, initialize(revision))
        gateway.go_on()
        later = stack.enter_context(gateway.connected())
        later_status, later_session, later_message = ask(later, initialize(revision))
    assert (status, message) == (later_status, later_message)
    assert session != later_session
    assert len(session) == len(later_session)


def test_a_session_that_began_before_the_server_goes_on_in_it(tmp_path: Path) -> None:
    with starting(tmp_path) as gateway, gateway.connected() as early, ExitStack() as stack:
        _, session, _ = ask(early, initialize())
        gateway.go_on()
        assert listed(early, session)
        other = stack.enter_context(gateway.connected())
        assert ask(other, encoded("ping"), mcp_session_id=session)[0] == 200
        assert ask(other, encoded("ping"), mcp_session_id="made-up")[0] == 404


def test_the_first_answer_tells_what_servers_said_in_the_run_before(tmp_path: Path) -> None:
    with starting(tmp_path) as first, first.connected() as client:
        session, message = ask(client, initialize())[1:]
        assert "instructions" not in message["result"]
        first.go_on()
        assert listed(client, session)
    with starting(tmp_path) as second, second.connected() as client:
        message = ask(client, initialize())[2]
    assert "Say hello." in message["result"]["instructions"]


def test_what_was_answered_before_the_server_is_counted_once(tmp_path: Path) -> None:
    with starting(tmp_path) as gateway, gateway.connected() as early:
        ask(early, initialize())
        gateway.go_on()
        early.request("GET", "/metrics")
        metrics = early.getresponse().read().decode()
        early.request("GET", "/status")
        assert early.getresponse().status == 200
    line = r'mcp_server_operation_duration_seconds_count\{.*"initialize".*\} 1$'
    assert re.search(line, metrics, re.MULTILINE), metrics


def test_each_of_many_that_come_at_once_has_a_session_of_its_own(tmp_path: Path) -> None:
    count = 100  # more than are answered before the server
    with starting(tmp_path) as gateway, ExitStack() as stack:
        clients = [stack.enter_context(gateway.connected()) for _ in range(count)]
        for number, client in enumerate(clients):
            client.request("POST", "/mcp", initialize(name=f"c{number}"), JSON)
        gateway.go_on()
        sessions = [answer(client)[1] for client in clients]
        pings = zip(clients, sessions, strict=True)
        assert {ask(client, encoded("ping"), mcp_session_id=s)[0] for client, s in pings} == {200}
    assert len({*sessions, ""}) == count + 1


def test_a_request_in_pieces_is_answered_when_it_is_whole(tmp_path: Path) -> None:
    with starting(tmp_path) as gateway, gateway.connected() as early:
        assert early.sock is not None
        body = initialize()
        lines = [f"{name}: {value}\r\n" for name, value in JSON.items()]
        head = f"POST /mcp HTTP/1.1\r\nhost: localhost\r\n{''.join(lines)}"
        whole = f"{head}content-length: {len(body)}\r\n\r\n".encode() + body
        for part in (whole[:20], whole[20:-7], whole[-7:]):
            early.sock.sendall(part)
            gateway.greet_somebody()
        head_of_answer = early.sock.recv(1 << 16)
    assert head_of_answer.startswith(b"HTTP/1.1 200 OK\r\n")


@pytest.mark.parametrize(
    ("status", "method", "path", "headers"),
    [
        (403, "POST", "/mcp", {"host": "evil.example"}),
        (403, "POST", "/mcp", {"origin": "http://evil.example"}),
        (415, "POST", "/mcp", {"content-type": "text/plain"}),
        (200, "POST", "/mcp", {"origin": "http://localhost:3000"}),
        (400, "POST", "/mcp?view=none", {}),
        (405, "POST", "/elsewhere", {}),
        (400, "GET", "/mcp", {}),
        (200, "GET", "/healthz", {}),
    ],
)
def test_what_is_not_plain_waits_for_the_server(
    tmp_path: Path, status: int, method: str, path: str, headers: dict[str, str]
) -> None:
    with starting(tmp_path) as gateway, gateway.connected() as early:
        early.request(method, path, initialize(), {**JSON, **headers})
        gateway.greet_somebody()
        assert select.select([early.sock], [], [], 0) == ([], [], [])
        gateway.go_on()
        assert early.getresponse().status == status


def test_nobody_is_answered_before_credentials_are_known(tmp_path: Path) -> None:
    with starting(tmp_path, TOOLYARD_TOKEN="t" * 40) as gateway:
        with pytest.raises(ConnectionRefusedError):
            gateway.connected()
        gateway.go_on()
        with gateway.connected() as late:
            assert ask(late, initialize())[0] == 401


def test_a_client_that_has_left_before_the_server_harms_nobody(tmp_path: Path) -> None:
    with starting(tmp_path) as gateway:
        for wait_for_answer in (True, False):
            with gateway.connected() as leaving:
                leaving.request("POST", "/mcp", initialize(), JSON)
                if wait_for_answer:
                    assert answer(leaving)[0] == 200
        with gateway.connected() as early:
            session = ask(early, initialize())[1]
            gateway.go_on()
            assert listed(early, session)


def test_a_session_beyond_the_bound_is_over_when_the_server_runs(tmp_path: Path) -> None:
    with ExitStack() as stack:
        gateway = stack.enter_context(starting(tmp_path, TOOLYARD_MAX_SESSIONS_PER_CALLER="2"))
        clients = [stack.enter_context(gateway.connected()) for _ in range(3)]
        sessions = [ask(client, initialize())[1] for client in clients]
        gateway.go_on()
        pings = [*zip(clients, sessions, strict=True)][::-1]  # the last is the last to be taken on
        statuses = [ask(client, encoded("ping"), mcp_session_id=s)[0] for client, s in pings]
    assert statuses == [200, 200, 404]
