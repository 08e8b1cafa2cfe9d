"""The page's window on the program: on our own app, or on another gateway behind it."""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace

from toolyard import __version__
from toolyard.app.build import App
from toolyard.app.following import followed
from toolyard.app.lineage import Lineage
from toolyard.app.page.logins import PageLogins
from toolyard.app.page.other_gateway import Other, OtherFile
from toolyard.app.page.registry_files import registry_files
from toolyard.app.page.task_board import TaskBoard
from toolyard.app.plan import Plan
from toolyard.catalog.announcer import Announcer
from toolyard.catalog.entries import Tool
from toolyard.catalog.snapshot import Catalog
from toolyard.protocol.call import Call, Caller, Channel, JsonObject, Result
from toolyard.protocol.client import ABLE
from toolyard.protocol.guise import guise_of
from toolyard.protocol.identity import OWN_EXTENSIONS, UI_EXTENSION, Identity
from toolyard.protocol.revisions import LATEST
from toolyard.protocol.tasks.words import REQUIRED
from toolyard.transports.answer import in_rounds
from toolyard.upstreams.connections import Downstream
from toolyard.upstreams.health import Health
from toolyard.web.editing.registries import RegistryFile
from toolyard.web.recording.traffic import Traffic
from toolyard.web.window import (
    Installation,
    Layer,
    Others,
    ServerCare,
    ServerLogins,
    ShownTasks,
    Window,
)

# The person at the page can be asked anything that a client can, and is shown MCP Apps.
CLIENT = ABLE._replace(
    info={"name": "toolyard-page", "version": __version__},
    capabilities={**ABLE.capabilities, "extensions": {UI_EXTENSION: OWN_EXTENSIONS[UI_EXTENSION]}},
)
CALLER = Caller(id="page", name="page")
PERSON = Downstream(CALLER, guise_of(LATEST, CLIENT))


class AppWindow:
    """The window on our own app."""

    def __init__(
        self, plan: Plan, app: App, traffic: Traffic | None, care: ServerCare, *, needs_token: bool
    ) -> None:
        self._app = app
        self.care = care
        self._lineage = Lineage(app)
        self._view = Looking(app)
        self.identity: Identity = plan.identity
        self.announcer: Announcer = app.keeper.announcer
        self.place = _place(plan, needs_token)
        self.traffic = traffic
        self.others: Others | None = _others(app)
        self.logins: ServerLogins = PageLogins(app.federation, app.logins, CALLER)
        self.tasks: ShownTasks = TaskBoard(app.tasks)
        self.read_only: bool = plan.settings.page_read_only

    def catalog(self) -> Catalog:
        return self._view.catalog()

    def is_pinned(self, tool: Tool) -> bool:
        return self._app.context.is_pinned(tool)

    def health(self) -> tuple[Health, ...]:
        return self._app.federation.health()

    def store(self) -> JsonObject | None:
        return self._app.standing.document() if self._app.standing is not None else None

    def layers(self, tool: Tool) -> tuple[Layer, ...]:
        return self._lineage.layers(tool)

    def secrets(self) -> frozenset[str]:
        return self._app.federation.registries.secrets

    def registries(self) -> Sequence[RegistryFile]:
        return registry_files(self._app)

    async def call(self, method: str, params: JsonObject, channel: Channel) -> Result:
        number = secrets.token_hex(8)
        meta = {"progressToken": number}
        call = Call(method, params, LATEST, CLIENT, CALLER, meta, id=number, log_level="debug")
        tool = self._app.keeper.current.tools.get(str(params.get("name")))
        if method == "tools/call" and tool is not None and tool.tasks == REQUIRED:
            return await followed(self._app.edge, call, channel)
        return await in_rounds(self._app.edge, call, channel)


def _others(app: App) -> Others | None:
    if app.cluster is None:
        return None
    # A process on its own needs none of it.
    from toolyard.app.page.others import PeerPages  # noqa: PLC0415

    return PeerPages(app.cluster)


class OtherWindow:
    """The window on another gateway: what ours serves is all that it serves."""

    def __init__(self, window: Window, gateway: Other) -> None:
        self._window = window
        self._gateway = gateway
        self.care: ServerCare = window.care
        # Ours, and the same annotated from the other gateway's registry; made once for each.
        self._catalogs: tuple[Catalog, Catalog] | None = None
        self.identity: Identity = window.identity
        self.announcer: Announcer = window.announcer
        self.place = replace(window.place, gateway=gateway.shown)
        self.traffic = window.traffic
        self.others: Others | None = window.others
        self.logins: ServerLogins = window.logins
        self.tasks: ShownTasks = window.tasks
        self.read_only: bool = window.read_only
        self._files = (OtherFile(gateway, self.catalog()),) if gateway.native is not None else ()

    def catalog(self) -> Catalog:
        current = self._window.catalog()
        if self._catalogs is None or self._catalogs[0] is not current:
            self._catalogs = (current, self._gateway.annotated(current))
        return self._catalogs[1]

    def is_pinned(self, tool: Tool) -> bool:
        return self._window.is_pinned(tool)

    def health(self) -> tuple[Health, ...]:
        return self._window.health()

    def store(self) -> JsonObject | None:
        return self._window.store()

    def layers(self, tool: Tool) -> tuple[Layer, ...]:
        return self._gateway.layers(tool)

    def secrets(self) -> frozenset[str]:
        return self._window.secrets()

    def registries(self) -> Sequence[RegistryFile]:
        return self._files

    async def call(self, method: str, params: JsonObject, channel: Channel) -> Result:
        return await self._window.call(method, params, channel)


class Looking:
    """The catalog of the person at the page: given at once, while what is missing is asked for."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._settle_task: asyncio.Task[Catalog] | None = None
        self._ask_task: asyncio.Task[None] | None = None
        # The one that everybody sees, and what this person sees instead.
        self._catalogs: tuple[Catalog, Catalog] | None = None

    def catalog(self) -> Catalog:
        loop = asyncio.get_running_loop()
        if self._settle_task is None:
            self._settle_task = loop.create_task(self._app.keeper.catalog())
        current = self._app.keeper.current
        if self._ask_task is None:
            self._ask_task = loop.create_task(self._ask(current))
        return (
            self._catalogs[1]
            if self._catalogs is not None and self._catalogs[0] is current
            else current
        )

    async def _ask(self, current: Catalog) -> None:
        try:
            self._catalogs = (current, await self._app.federation.catalog(current, PERSON))
        finally:
            self._ask_task = None


def _place(plan: Plan, needs_token: bool) -> Installation:
    return Installation(
        project=os.path.abspath(plan.project.root) if plan.project else None,
        registries=tuple(map(os.path.abspath, plan.registry_paths)),
        program=_program(),
        needs_token=needs_token,
    )


def _program() -> str:
    """What a client's configuration can run, whatever its PATH is."""
    beside = os.path.join(os.path.dirname(sys.executable), "toolyard")
    return beside if os.path.exists(beside) else shutil.which("toolyard") or "toolyard"
