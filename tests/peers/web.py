"""A small HTTP server in a thread: routes are functions, what was asked is kept. Knows no MCP."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, TypeAlias
from urllib.parse import parse_qsl, urlsplit


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    query: dict[str, str]
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Answer:
    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, value: Any, status: int = 200, **headers: str) -> Answer:
        named = {name.replace("_", "-"): text for name, text in headers.items()}
        return cls(
            status, json.dumps(value).encode(), {"Content-Type": "application/json", **named}
        )


Route: TypeAlias = Callable[[Asked], Answer]


@dataclass
class Site:
    routes: dict[str, Route] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    origin: str = ""

    def answer(self, asked: Asked) -> Answer:
        self.asked.append(asked)
        route = self.routes.get(asked.path)
        return Answer(404) if route is None else route(asked)

    def paths(self) -> list[str]:
        return [asked.path for asked in self.asked]

    def count(self, path: str) -> int:
        return self.paths().count(path)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512  # tests connect by the hundred

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is no news."""


@contextmanager
def serving_site(site: Site, host: str = "127.0.0.1") -> Iterator[Site]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            parts = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            query = dict(parse_qsl(parts.query))
            answer = site.answer(Asked(self.command, parts.path, query, headers, body))
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)

        do_GET = do_POST = do_DELETE = answer

        def log_message(self, format: str, *args: Any) -> None:
            """Quietly."""

    server = Server((host, 0), Handler)
    site.origin = f"http://{host}:{server.server_address[1]}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
