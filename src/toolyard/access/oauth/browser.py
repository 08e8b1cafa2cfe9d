"""Send somebody to a login page and wait for them to come back. Knows nothing about tokens."""

from __future__ import annotations

import asyncio
import hmac
import sys
import webbrowser
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Protocol
from urllib.parse import parse_qsl, urlsplit

from toolyard.access.oauth.errors import OAuthError
from toolyard.access.oauth.issuer.metadata import is_web_url
from toolyard.http.fetching.fetch import FetchError, GuardedFetch

WAIT = 300.0
MAX_REQUEST = 16 * 1024
_DONE = b"Done: you may close this page and go back to what you were doing.\n"
_NOT_DONE = b"Not found.\n"


class Browser(Protocol):
    """Whatever takes a person, or nobody, through a login page."""

    async def ready(self, preferred: str = "") -> str:
        """The URI to come back to; `preferred` is the one that was used before."""

    async def visit(self, url: str) -> Mapping[str, str]:
        """Open the URL; the query that it came back with. Raises OAuthError."""

    async def close(self) -> None: ...


class Headless:
    """Follows the login page's own redirect, for machines that need no person."""

    def __init__(
        self, fetch: GuardedFetch, redirect_uri: str = "http://127.0.0.1:1/callback"
    ) -> None:
        self._fetch = fetch
        self._redirect_uri = redirect_uri

    async def ready(self, preferred: str = "") -> str:
        return self._redirect_uri

    async def visit(self, url: str) -> Mapping[str, str]:
        try:
            page = await self._fetch("GET", url)
        except FetchError as error:
            raise OAuthError(str(error)) from None
        location = page.headers.get("location", "")
        if page.status not in (301, 302, 303, 307) or not location.startswith(self._redirect_uri):
            raise OAuthError("the login page needs a person")
        return query_of(location)

    async def close(self) -> None:
        """Nothing is open."""


class Loopback:
    """Listens on a loopback port for the browser to come back."""

    def __init__(self, show: Callable[[str], None], wait: float = WAIT) -> None:
        self._show = show
        self._wait = wait
        self._server: asyncio.Server | None = None
        self._answer: asyncio.Future[Mapping[str, str]] | None = None
        self._state = ""

    async def ready(self, preferred: str = "") -> str:
        self._answer = asyncio.get_running_loop().create_future()
        port = urlsplit(preferred).port or 0 if preferred else 0
        try:
            self._server = await asyncio.start_server(self._serve, "127.0.0.1", port)
        except OSError:
            self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/callback"

    async def visit(self, url: str) -> Mapping[str, str]:
        assert self._answer is not None
        if not is_web_url(url):
            raise OAuthError("the login page is not an http(s) URL")
        self._state = query_of(url).get("state", "")
        self._show(url)
        try:
            async with asyncio.timeout(self._wait):
                return await self._answer
        except TimeoutError:
            raise OAuthError(f"nobody logged in within {self._wait:g} s") from None

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            line = (await asyncio.wait_for(reader.readline(), 5)).decode("latin-1")
            is_ours = self._take(line)
            status, body = ("200 OK", _DONE) if is_ours else ("404 Not Found", _NOT_DONE)
            writer.write(
                f"HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\n"
                f"Content-Length: {len(body)}\r\nReferrer-Policy: no-referrer\r\n"
                "Connection: close\r\n\r\n".encode()
                + body
            )
            await writer.drain()
        except (TimeoutError, OSError, ValueError):
            pass
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    def _take(self, line: str) -> bool:
        method, _, remainder = line.partition(" ")
        target = remainder.partition(" ")[0]
        if method != "GET" or urlsplit(target).path != "/callback":
            return False
        answer = query_of(target)
        # Anybody on this machine, and any page in its browser, can come here: whoever does
        # not know the login that we wait for cannot end it.
        state = answer.get("state", "").encode()
        if not self._state or not hmac.compare_digest(state, self._state.encode()):
            return False
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(answer)
        return True


def query_of(url: str) -> dict[str, str]:
    """The query's parameters; one that is repeated is not to be trusted, and is left out."""
    pairs = parse_qsl(urlsplit(url).query, keep_blank_values=True)
    names = [name for name, _ in pairs]
    return {name: value for name, value in pairs if names.count(name) == 1}


def open_or_print(url: str) -> None:
    """Open the user's browser, and print the link for when there is none."""
    print(f"Open this link to log in:\n\n  {url}\n", file=sys.stderr, flush=True)
    # No shell is involved: the module starts the program itself, and only for web URLs.
    if is_web_url(url):
        with suppress(webbrowser.Error):
            webbrowser.open(url)


def print_only(url: str) -> None:
    print(f"Open this link to log in:\n\n  {url}\n", file=sys.stderr, flush=True)
