"""What the page may see and do: everything it knows of the program, filled in by the app."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from toolyard.catalog.announcer import Announcer
from toolyard.catalog.entries import Tool
from toolyard.catalog.snapshot import Catalog
from toolyard.protocol.call import Channel, JsonObject, Result
from toolyard.protocol.identity import Identity
from toolyard.upstreams.health import Health
from toolyard.web.editing.registries import RegistryFile
from toolyard.web.recording.traffic import Traffic


class Perform(Protocol):
    """Make a call as the page, through the handler that all clients use."""

    async def __call__(self, method: str, params: JsonObject, channel: Channel) -> Result:
        """Raises ProtocolError."""


class Logins(Protocol):
    """Accounts at the OAuth servers of the registry, which are named and never described."""

    def states(self) -> list[JsonObject]: ...

    async def log_in(self, name: str) -> str | None:
        """The page to open; None where there is no such server. Raises UpstreamError."""

    async def log_out(self, name: str) -> bool:
        """False where there is no such server."""


@dataclass(frozen=True, slots=True)
class Layer:
    """One of the places that a tool's definition comes from."""

    label: str  # "the script's metadata", "registry entry fetch", "fetch-server"
    definition: JsonObject
    place: str = ""  # file and JSON pointer, where there is one


def no_layers(_tool: Tool) -> tuple[Layer, ...]:
    return ()


@dataclass(frozen=True, slots=True)
class Shown:
    """The other gateway that the page shows."""

    url: str
    kind: str
    registry: str
    why: str | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where and how the server is reached, for what clients are told to paste."""

    project: str | None = None
    registries: tuple[str, ...] = ()
    program: str = "toolyard"
    needs_token: bool = False
    gateway: Shown | None = None


@dataclass(frozen=True, slots=True)
class Window:
    identity: Identity
    # The catalog of this moment; waits for no upstream.
    catalog: Callable[[], Catalog]
    announcer: Announcer
    call: Perform
    place: Place = Place()
    health: Callable[[], tuple[Health, ...]] = tuple
    # The layers of a tool, nearest to the client first; the last is the source's own definition.
    layers: Callable[[Tool], tuple[Layer, ...]] = no_layers
    # Values that came from variables: never shown.
    secrets: Callable[[], frozenset[str]] = frozenset
    traffic: Traffic | None = None
    registries: Callable[[], Sequence[RegistryFile]] = tuple
    logins: Logins | None = None
    read_only: bool = False
