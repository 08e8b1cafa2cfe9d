"""The program as the page sees it; the app implements it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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


class ServerLogins(Protocol):
    """Accounts at the registry's OAuth servers, which the page names and never describes."""

    def states(self) -> list[JsonObject]: ...

    async def log_in(self, name: str) -> str | None:
        """The page to open; None where there is no such server. Raises UpstreamError."""

    async def log_out(self, name: str) -> bool:
        """False where there is no such server."""


class ShownTasks(Protocol):
    """The tasks of all callers."""

    async def lines(self) -> list[JsonObject]:
        """The newest first, without what may be large."""

    async def find(self, task_id: str) -> JsonObject | None: ...

    async def cancel(self, task_id: str) -> bool:
        """False where there is no such task."""


class ServerCare(Protocol):
    """How servers fare, and what can be done about it."""

    async def history(self) -> JsonObject | None:
        """The last hour by tool and server; None where calls are not counted."""

    def journal(self, server: str) -> JsonObject | None:
        """What has happened to a server, and what it said; None where there is no such server."""

    async def retry(self, server: str) -> bool:
        """Try it again at once; False where there is no such server."""


@dataclass(frozen=True, slots=True)
class Layer:
    """One of the places that a tool's definition comes from."""

    label: str  # "the script's metadata", "registry entry fetch", "fetch-server"
    definition: JsonObject
    place: str = ""  # file and JSON pointer, where there is one


@dataclass(frozen=True, slots=True)
class Shown:
    """The other gateway that the page shows."""

    url: str
    kind: str
    registry: str
    why: str | None = None


@dataclass(frozen=True, slots=True)
class Installation:
    """Where and how the server is reached: what the snippets for clients are made from."""

    project: str | None = None
    registries: tuple[str, ...] = ()
    program: str = "toolyard"
    needs_token: bool = False
    gateway: Shown | None = None


class Others(Protocol):
    """Other processes that serve the same: they are asked what they have to show."""

    @property
    def name(self) -> str:
        """Of this process."""

    async def ask(self, target: str) -> Mapping[str, JsonObject]:
        """What each of the others says; those that do not answer in time are left out."""

    async def ask_one(self, process: str, target: str) -> JsonObject | None: ...


class Window(Protocol):
    """What the page may see and do. It knows nothing else of the program."""

    @property
    def identity(self) -> Identity: ...

    @property
    def announcer(self) -> Announcer: ...

    @property
    def place(self) -> Installation: ...

    @property
    def traffic(self) -> Traffic | None:
        """None where calls are not recorded."""

    @property
    def others(self) -> Others | None:
        """Processes that serve the same; None for one that is alone."""

    @property
    def logins(self) -> ServerLogins: ...

    @property
    def tasks(self) -> ShownTasks: ...

    @property
    def care(self) -> ServerCare: ...

    @property
    def read_only(self) -> bool: ...

    def catalog(self) -> Catalog:
        """The catalog as it is now; waits for no upstream."""

    def is_pinned(self, tool: Tool) -> bool:
        """Is it listed in every view?"""

    def health(self) -> tuple[Health, ...]: ...

    def store(self) -> JsonObject | None:
        """How what is shared with other processes is doing; None where nothing is."""

    def layers(self, tool: Tool) -> tuple[Layer, ...]:
        """Nearest to the client first; the last is the source's own definition."""

    def secrets(self) -> frozenset[str]:
        """Values that came from variables: never shown."""

    def registries(self) -> Sequence[RegistryFile]: ...

    async def call(self, method: str, params: JsonObject, channel: Channel) -> Result:
        """Make a call as the page, through the handler that serves every client.

        Raises ProtocolError.
        """
