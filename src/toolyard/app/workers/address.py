"""Where we serve over HTTP, and for whom.

Imports little, and no dataclasses: a supervisor carries it around, and every start waits for it.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from toolyard.errors import ConfigError
from toolyard.http.serving import listening
from toolyard.transports.endpoint.guard import LOOPBACK, OriginGuard

if TYPE_CHECKING:
    from toolyard.app.page.other_gateway import Other


class Address(NamedTuple):
    host: str
    port: int
    allow_hosts: tuple[str, ...] = ()
    allow_origins: tuple[str, ...] = ()
    page: bool = True
    gateway: Other | None = None  # the gateway that the page shows in place of ours

    @property
    def guard(self) -> OriginGuard:
        hosts = LOOPBACK | {self.host, *self.allow_hosts}
        return OriginGuard(hosts, frozenset(self.allow_origins))

    def listen(self) -> socket.socket:
        """Raises ConfigError."""
        return self._open(listening.listen)

    def bind(self) -> socket.socket:
        """The address is ours, but no connection is taken yet. Raises ConfigError."""
        return self._open(listening.bind)

    def _open(self, how: Callable[[str, int], socket.socket]) -> socket.socket:
        try:
            return how(self.host, self.port)
        except OSError as error:
            why = f"cannot listen on {self.host}:{self.port}: {error.strerror}"
            raise ConfigError.at("--http", why) from None
