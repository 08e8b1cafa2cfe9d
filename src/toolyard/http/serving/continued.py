"""Go on with a connection that was accepted, and perhaps answered, before the server ran.

A request that was answered then is handled like any other, so that all that it brings about comes
about in one way. Only its answer is dropped: the client has it.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from toolyard.http.serving.connection import ServerConnection

if TYPE_CHECKING:
    from toolyard.http.serving.listening import Earlier
    from toolyard.http.serving.server import HttpServer


class Continued(ServerConnection):
    def __init__(self, server: HttpServer, earlier: Earlier) -> None:
        super().__init__(server)
        self._read_before = earlier.data
        self.foretold = earlier.foretold

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        if self._read_before and not transport.is_closing():
            self.data_received(self._read_before)
        self._read_before = b""

    def write(self, data: bytes) -> None:
        """The first answer is written at once, whole or in parts."""
        if self.foretold:
            self.foretold = ""
            return
        super().write(data)

    def write_parts(self, parts: tuple[bytes, ...]) -> None:
        if self.foretold:
            self.foretold = ""
            return
        super().write_parts(parts)
