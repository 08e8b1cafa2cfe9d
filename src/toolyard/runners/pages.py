"""Pages for MCP Apps: a file of the project, or one of our templates filled from its config."""

from __future__ import annotations

import asyncio
import os

from toolyard.protocol.call import Call, Channel, JsonObject
from toolyard.runners.contents import Body, unreadable
from toolyard.runners.files import read_file
from toolyard.runners.page_templates import page_of


class StaticPage:
    """One file in the folder of a page; no link, nothing above the folder."""

    def __init__(self, folder: str, entrypoint: str, max_bytes: int) -> None:
        self._folder = folder
        self._path = os.path.join(folder, entrypoint)
        self._max_bytes = max_bytes

    async def read(self, arguments: JsonObject, call: Call | None, channel: Channel | None) -> Body:
        uri = arguments["uri"]
        if os.path.dirname(os.path.realpath(self._path)) != self._folder:
            raise unreadable(uri, "Resource outside allowed roots")
        return Body(await asyncio.to_thread(read_file, self._path, self._max_bytes, uri))

    def paths(self, arguments: JsonObject) -> tuple[str, ...]:
        return (self._path,)


class TemplatePage:
    def __init__(self, template: str, config: JsonObject) -> None:
        self._template = template
        self._config = config

    async def read(self, arguments: JsonObject, call: Call | None, channel: Channel | None) -> Body:
        return Body(page_of(self._template, self._config).encode())

    def paths(self, arguments: JsonObject) -> tuple[str, ...]:
        return ()
