"""Answer `initialize` over HTTP while the rest of the program is imported, so that no client waits.

A thread listens until the server does. What it has answered, the server handles once more and
keeps its answer to itself (see `http/serving/continued.py`): guard, limits, sessions and figures
are the server's alone, and a client whose session it refuses is told so by its next request.
Anything but a plain `initialize` from a Host that may call is left to the server, unanswered.
"""

from __future__ import annotations

import os
import select
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import suppress

import httptools

from toolyard.http.headers import JSON_TYPE
from toolyard.http.response import ResponseHeads, whole
from toolyard.http.serving.listening import Earlier
from toolyard.settings import Settings
from toolyard.transports.endpoint.guard import LOOPBACK, OriginGuard
from toolyard.transports.endpoint.session_keys import new_key

# The answer to a message, if it is one that can be given now.
Answer = Callable[[bytes], bytes | None]

TOKEN = "TOOLYARD_TOKEN"
# Others wait in the queue of the socket, a moment longer.
MOST = 64
_MOST_BYTES = 1 << 16
_WRITTEN_WITHIN = 1.0
# The thread asks for little, but must not wait for it while the rest is imported.
_SWITCHING = 0.0005
_PLAIN = frozenset(
    {"host", "content-type", "content-length", "accept", "user-agent", "accept-encoding"}
    | {"accept-language", "connection", "cache-control", "pragma"}
    | {"sec-fetch-mode", "sec-fetch-site", "sec-fetch-dest"}
)
_ACCEPTED = ("application/json", "text/event-stream")


def may_welcome(settings: Settings, host: str) -> bool:
    """Is there nothing that has to see `initialize` before it is answered?"""
    if settings.tokens or settings.oauth or settings.remote_token or os.environ.get(TOKEN):
        return False
    if settings.store or settings.limits or settings.debug_payloads:
        return False
    return host in LOOPBACK  # elsewhere nobody may call without a credential


class Welcome:
    """Who listens until there is a server."""

    def __init__(self, sock: socket.socket, guard: OriginGuard, answer: Answer) -> None:
        self.sock = sock
        self._guard = guard
        self._answer = answer
        self._visitors: dict[socket.socket, _Visitor] = {}
        self._end, self._ending = os.pipe()
        self._thread = threading.Thread(target=self._receive, name="welcome", daemon=True)
        self._switching = sys.getswitchinterval()

    def begin(self) -> None:
        sys.setswitchinterval(_SWITCHING)
        self._thread.start()

    def end(self) -> tuple[Earlier, ...]:
        """From now on the server listens; gives those that it is to go on with."""
        os.write(self._ending, b".")
        self._thread.join()
        sys.setswitchinterval(self._switching)
        os.close(self._end)
        os.close(self._ending)
        return tuple(visitor.earlier for visitor in self._visitors.values())

    def _receive(self) -> None:
        while True:
            speaking = [sock for sock, visitor in self._visitors.items() if visitor.is_heard]
            entrance = [self.sock] if len(self._visitors) < MOST else []
            listening: list[int | socket.socket] = [self._end, *entrance, *speaking]
            for ready in select.select(listening, [], [])[0]:
                if isinstance(ready, int):
                    return
                with suppress(OSError):  # of a client that has left
                    self._accept() if ready is self.sock else self._hear(self._visitors[ready])

    def _accept(self) -> None:
        sock, _ = self.sock.accept()
        sock.setblocking(False)
        self._visitors[sock] = _Visitor(sock)

    def _hear(self, visitor: _Visitor) -> None:
        if not visitor.hear():
            del self._visitors[visitor.sock]
            visitor.sock.close()
        elif visitor.is_whole:
            body = visitor.message if visitor.is_plain(self._guard) else None
            answer = self._answer(body) if body is not None else None
            if answer is not None:
                visitor.tell(answer)


class _Visitor:
    """A client that has connected, and what it has sent."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.is_heard = True  # we wait for more of its request
        self.is_whole = False
        self.message = b""
        self._data = b""
        self._key = ""
        self._url = b""
        self._headers: list[tuple[str, str]] = []
        self._parser = httptools.HttpRequestParser(self)

    @property
    def earlier(self) -> Earlier:
        return Earlier(self.sock, self._data, self._key)

    def hear(self) -> bool:
        """Take in what has come; False if the client has left."""
        try:
            data = self.sock.recv(_MOST_BYTES)
        except BlockingIOError:
            return True
        except OSError:
            return False
        self._data += data
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            self.is_heard = self.is_whole = False  # the server says so
        if len(self._data) > _MOST_BYTES:
            self.is_heard = False
        return data != b""

    def is_plain(self, guard: OriginGuard) -> bool:
        """Is it a request that asks for nothing but its answer?"""
        headers = dict(self._headers)
        if len(headers) != len(self._headers) or not headers.keys() <= _PLAIN:
            return False
        if (self._parser.get_method(), self._url) != (b"POST", b"/mcp"):
            return False
        accepts = all(kind in headers.get("accept", "") for kind in _ACCEPTED)
        is_json = headers.get("content-type") == _ACCEPTED[0]
        kept = self._parser.should_keep_alive() and self._parser.get_http_version() == "1.1"
        return accepts and is_json and kept and guard.refusal(headers) is None

    def tell(self, answer: bytes) -> None:
        """Give the client its answer, and the session that it will have."""
        key = new_key()
        heads = ResponseHeads()
        heads.tick()
        head = heads.of(200, (JSON_TYPE, (b"mcp-session-id", key.encode())))
        self.sock.settimeout(_WRITTEN_WITHIN)
        self._key = key
        self.sock.sendall(whole(head, answer))
        self.sock.setblocking(False)

    # -- events of the parser ----------------------------------------------------------

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers.append(
            (name.lower().decode("latin-1"), value.strip(b" \t").decode("latin-1"))
        )

    def on_body(self, body: bytes) -> None:
        self.message += body

    def on_message_complete(self) -> None:
        if self.is_whole:  # and another one behind it
            self._headers.append(("", ""))
        self.is_whole = True
        self.is_heard = False
