"""Pages for MCP Apps: a file of the project, or one of our templates filled from its config."""

from __future__ import annotations

import asyncio
import os

from toolyard.protocol.call import Call, Channel, JsonObject
from toolyard.scripts.resources.contents import Body
from toolyard.scripts.resources.files import FileProvider
from toolyard.scripts.resources.page_templates import page_of


class StaticPage:
    """One file in the folder of a page; no link that leads out of it."""

    def __init__(self, folder: str, entrypoint: str, max_bytes: int) -> None:
        self._path = os.path.join(folder, entrypoint)
        self._files = FileProvider((folder,), max_bytes)

    async def read(self, arguments: JsonObject, call: Call | None, channel: Channel | None) -> Body:
        return await asyncio.to_thread(self._files.read_path, self._path, arguments["uri"])

    def paths(self, arguments: JsonObject) -> tuple[str, ...]:
        return (self._files.real_path(self._path, arguments["uri"]),)


class TemplatePage:
    """One of our templates, filled in."""

    def __init__(self, template: str, config: JsonObject) -> None:
        self._template = template
        self._config = config

    async def read(self, arguments: JsonObject, call: Call | None, channel: Channel | None) -> Body:
        return Body(page_of(self._template, self._config).encode())

    def paths(self, arguments: JsonObject) -> tuple[str, ...]:
        return ()
