"""The https provider: one GET to a checked address, no redirects, bounded in size and time.

Runs in a thread: it is no hot path, and the standard library's client blocks.
"""

from __future__ import annotations

import asyncio
import http.client
import socket
import ssl
import time
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from toolyard.errors import INVALID_PARAMS, ProtocolError
from toolyard.http.addresses import NotAllowed
from toolyard.http.resolving import Dialler
from toolyard.protocol.call import Call, Channel, JsonObject
from toolyard.scripts.resources.contents import Body, not_found, unreadable

MOST_SECONDS = 60.0
MOST_BYTES = 20 * 1024 * 1024
_CHUNK = 65536


@dataclass(frozen=True, slots=True)
class HttpsLimits:
    seconds: float = 15.0
    max_bytes: int = 10 * 1024 * 1024
    user_agent: str = "toolyard"

    @property
    def deadline(self) -> float:
        return time.monotonic() + min(self.seconds, MOST_SECONDS)


class HttpsProvider:
    def __init__(
        self, dialler: Dialler, limits: HttpsLimits, context: ssl.SSLContext | None = None
    ) -> None:
        self._dialler = dialler
        self._limits = limits
        self._context = context

    async def read(self, arguments: JsonObject, call: Call | None, channel: Channel | None) -> Body:
        uri = arguments["uri"]
        fetch = _Fetch(uri, self._dialler, self._limits, self._context)
        try:
            async with asyncio.timeout(min(self._limits.seconds, MOST_SECONDS)):
                return await asyncio.get_running_loop().run_in_executor(None, fetch.run)
        except NotAllowed as refusal:
            raise unreadable(uri, str(refusal)) from None
        except TimeoutError:
            raise unreadable(uri, f"timed out after {self._limits.seconds:g}s") from None
        except (OSError, http.client.HTTPException) as error:
            raise unreadable(uri, f"cannot be fetched: {error}") from None
        finally:
            fetch.stop()

    def paths(self, arguments: JsonObject) -> tuple[str, ...]:
        return ()


def split_url(uri: str) -> SplitResult:
    """The parts of an https URL; userinfo and other schemes are refused."""
    try:
        parts = urlsplit(uri)
        port_is_fine = parts.port is None or parts.port > 0
    except ValueError:
        port_is_fine = False
    if not port_is_fine or parts.scheme.lower() != "https" or not parts.hostname:
        raise ProtocolError(INVALID_PARAMS, "Not an https URL", {"uri": uri})
    if "@" in parts.netloc or any(ord(char) <= 32 or ord(char) == 127 for char in uri):
        raise ProtocolError(INVALID_PARAMS, "Not a plain https URL", {"uri": uri})
    return parts


class _Fetch:
    """One fetch, on its own thread; `stop` ends it from another."""

    def __init__(
        self,
        uri: str,
        dialler: Dialler,
        limits: HttpsLimits,
        context: ssl.SSLContext | None,
    ) -> None:
        self._uri = uri
        self._parts = split_url(uri)
        self._dialler = dialler
        self._limits = limits
        self._context = context
        self._deadline = limits.deadline
        self._connection: http.client.HTTPSConnection | None = None
        self._stopped = False

    def run(self) -> Body:
        host = self._dialler.host(self._parts.hostname or "")
        port = self._parts.port or 443
        connected = self._connect(host, port, self._dialler.addresses(host, port))
        connection = http.client.HTTPSConnection(host, port)
        connection.sock = connected
        self._connection = connection
        try:
            if self._stopped:
                raise TimeoutError
            connection.request("GET", self._target(), headers=self._headers())
            return self._body(connection.getresponse(), connected)
        finally:
            connection.close()

    def stop(self) -> None:
        self._stopped = True
        connection = self._connection
        if connection is not None and connection.sock is not None:
            try:
                connection.sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def _connect(self, host: str, port: int, addresses: list[str]) -> ssl.SSLSocket:
        context = self._context or ssl.create_default_context()
        problem: OSError = OSError("no address")
        for address in addresses:
            try:
                return self._secured(context, (address, port), host)
            except TimeoutError:
                raise
            except OSError as error:
                problem = error
        raise problem

    def _secured(
        self, context: ssl.SSLContext, address: tuple[str, int], host: str
    ) -> ssl.SSLSocket:
        plain = socket.create_connection(address, timeout=self._left())
        try:
            return context.wrap_socket(plain, server_hostname=host)
        except BaseException:
            plain.close()
            raise

    def _target(self) -> str:
        query = f"?{self._parts.query}" if self._parts.query else ""
        path = self._parts.path or "/"
        return f"{path}{query}".encode("ascii", "replace").decode()

    def _headers(self) -> dict[str, str]:
        agent = self._limits.user_agent or "toolyard"
        return {"User-Agent": agent, "Accept": "*/*", "Accept-Encoding": "identity"}

    def _body(self, response: http.client.HTTPResponse, connected: ssl.SSLSocket) -> Body:
        if response.status in (404, 410):
            raise not_found(self._uri)
        if 300 <= response.status < 400:
            raise unreadable(self._uri, f"redirect:{response.headers.get('Location', '')}")
        if response.status != 200:
            raise unreadable(self._uri, f"the server answered {response.status}")
        limit = min(self._limits.max_bytes, MOST_BYTES)
        data = bytearray()
        while len(data) <= limit:
            connected.settimeout(self._left())
            chunk = response.read1(_CHUNK)
            if not chunk:
                return Body(bytes(data), _media_type(response))
            data += chunk
        raise unreadable(self._uri, f"Resource exceeds {limit} bytes")

    def _left(self) -> float:
        left = self._deadline - time.monotonic()
        if left <= 0 or self._stopped:
            raise TimeoutError
        return left


def _media_type(response: http.client.HTTPResponse) -> str | None:
    given = response.headers.get("Content-Type", "")
    return given.partition(";")[0].strip().lower() or None
