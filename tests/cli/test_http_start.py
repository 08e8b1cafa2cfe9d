"""What an HTTP gateway has imported when it answers its first `initialize`, and what it has not."""

from __future__ import annotations

import http.client
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

HELLO = Path(__file__).parents[2] / "examples" / "01-hello"
PAGE = "toolyard.web.site"
# Only those who open the page, log in, share a store or look on should pay for these.
LATER = re.compile(
    r"toolyard\.(web\.(site|routes|trying|editing)|app\.page\.(window|logins|other_gateway)"
    r"|access\.(jwt_tokens|keys|oauth)|cluster|store\.redis|observation\.(otel|tracing))\b"
    r"|(email|webbrowser|cryptography|mcp|pydantic)\b"
)
CLIENT = {"name": "start", "version": "1"}
PARAMS = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT}
INITIALIZE = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": PARAMS}


class Gateway:
    """A gateway that has named on stderr each module that it imported so far."""

    def __init__(self) -> None:
        self.modules: set[str] = set()
        self._port = 0

    def meet(self, stderr: Iterable[str]) -> None:
        for line in stderr:
            self.note([line])
            address = re.search(r"at http://127\.0\.0\.1:(\d+)/mcp", line)
            if address is not None:
                self._port = int(address[1])
                return
        raise AssertionError("the gateway ended before it listened")

    def note(self, stderr: Iterable[str]) -> None:
        lines = (line for line in stderr if line.startswith("import time:"))
        self.modules |= {line.rpartition("|")[2].strip() for line in lines}

    def ask(self, method: str, path: str, body: object = None) -> tuple[int, bytes]:
        headers = {"accept": "application/json, text/event-stream"}
        if body is not None:
            headers["content-type"] = "application/json"
        data = None if body is None else json.dumps(body).encode()
        with closing(http.client.HTTPConnection("127.0.0.1", self._port, timeout=30)) as connection:
            connection.request(method, path, data, headers)
            response = connection.getresponse()
            return response.status, response.read()


@contextmanager
def gateway(folder: Path) -> Iterator[Gateway]:
    hello = {"command": sys.executable, "args": ["-m", "toolyard", "serve", str(HELLO)]}
    registry = folder / "registry.json"
    registry.write_text(
        json.dumps({"servers": [{"name": "hello", "expose": "all", "stdio": hello}]})
    )
    command = [sys.executable, "-X", "importtime", "-m", "toolyard", "serve", str(registry)]
    with subprocess.Popen(
        [*command, "--http", "0"],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "XDG_STATE_HOME": str(folder)},
    ) as process:
        assert process.stderr is not None
        served = Gateway()
        try:
            served.meet(process.stderr)
            yield served
        finally:
            process.terminate()
            served.note(process.stderr)


def test_the_first_answer_over_http_waits_for_nothing_that_it_does_not_need(
    tmp_path: Path,
) -> None:
    with gateway(tmp_path) as served:
        status, answer = served.ask("POST", "/mcp", INITIALIZE)
    assert (status, b'"protocolVersion":"2025-11-25"' in answer) == (200, True)
    assert "toolyard.transports.endpoint.app" in served.modules
    assert not sorted(filter(LATER.match, served.modules))


def test_the_page_is_imported_when_somebody_first_asks_for_it(tmp_path: Path) -> None:
    with gateway(tmp_path) as served:
        assert PAGE not in served.modules
        assert [served.ask("GET", "/api/overview")[0] for _ in range(2)] == [401, 401]
    assert PAGE in served.modules


def test_a_token_can_be_handed_over_though_nobody_has_logged_in_before(tmp_path: Path) -> None:
    with gateway(tmp_path) as served:
        status, answer = served.ask("POST", "/oauth/connect", {"server": "none", "token": "x"})
    assert status in (400, 404), answer
