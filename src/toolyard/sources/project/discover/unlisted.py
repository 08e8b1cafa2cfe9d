"""Files below the roots that no list names: read by their URI, as plain data, or not at all."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from urllib.parse import unquote

from toolyard.files.beneath import is_below
from toolyard.protocol.call import Call, Channel, JsonObject
from toolyard.scripts.resources.contents import Body, not_found
from toolyard.scripts.resources.files import FileProvider, path_of
from toolyard.sources.project.discover.files import is_program, type_by_name
from toolyard.sources.project.discover.walk import File
from toolyard.sources.project.layout import Project

_RELATIVE = ("file://./", "file:./")


class UnlistedFiles:
    """What the file provider may read, but for programs: their source is never served."""

    def __init__(self, project: Project, roots: Sequence[str], max_bytes: int) -> None:
        self._files = FileProvider(roots, max_bytes)
        self._roots = tuple(map(os.path.realpath, roots))
        self._bases = (*self._roots, project.root)
        self._programs = project.resources

    async def read(self, arguments: JsonObject, call: Call | None, channel: Channel | None) -> Body:
        return await asyncio.to_thread(self._read, str(arguments["uri"]))

    def paths(self, arguments: JsonObject) -> tuple[str, ...]:
        real = os.path.realpath(self._path(str(arguments["uri"])))
        return (real,) if any(is_below(real, root) for root in self._roots) else ()

    def _read(self, uri: str) -> Body:
        path = self._path(uri)
        real = os.path.realpath(path)
        if is_below(real, self._programs) and _is_program(real):
            raise not_found(uri)
        return Body(self._files.read_path(path, uri).data, type_by_name(real))

    def _path(self, uri: str) -> str:
        """The path; a relative one is looked for below each root, then below the project."""
        for start in _RELATIVE:
            if uri.lower().startswith(start):
                below = unquote(uri[len(start) :])
                candidates = [os.path.join(base, below) for base in self._bases]
                return next((path for path in candidates if os.path.isfile(path)), candidates[0])
        return path_of(uri)


def _is_program(real: str) -> bool:
    return is_program(File(os.path.basename(real), real, 0, os.access(real, os.X_OK)))
