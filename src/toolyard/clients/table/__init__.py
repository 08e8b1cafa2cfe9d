"""Every client that we know, by its id and by its other names."""

from __future__ import annotations

from collections.abc import Mapping

from toolyard.clients.known import KnownClient
from toolyard.clients.table.agents import AGENTS
from toolyard.clients.table.editors import EDITORS
from toolyard.clients.table.others import OTHERS
from toolyard.errors import ConfigError, did_you_mean

CLIENTS: Mapping[str, KnownClient] = {client.id: client for client in (*EDITORS, *AGENTS, *OTHERS)}
NAMES: Mapping[str, KnownClient] = {
    **CLIENTS,
    **{alias: client for client in CLIENTS.values() for alias in client.aliases},
}


def client_named(name: str) -> KnownClient:
    """Raises ConfigError."""
    if name not in NAMES:
        raise ConfigError.at(name, f"is not a client that we know{did_you_mean(name, NAMES)}")
    return NAMES[name]
