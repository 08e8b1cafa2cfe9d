"""Read local files as resources: inside the roots, real paths only, no special files."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Sequence
from urllib.parse import unquote_to_bytes

from toolyard.errors import INVALID_PARAMS, ProtocolError
from toolyard.protocol.call import Call, Channel, JsonObject
from toolyard.runners.contents import Body, not_found, unreadable
from toolyard.runners.embedded import is_below


class FileProvider:
    """`file://` URIs below the roots. No roots means that nothing may be read."""

    def __init__(self, roots: Sequence[str], max_bytes: int) -> None:
        self._roots = tuple(map(os.path.realpath, roots))
        self._max_bytes = max_bytes

    async def read(self, arguments: JsonObject, call: Call | None, channel: Channel | None) -> Body:
        uri = arguments["uri"]
        return await asyncio.to_thread(self.read_path, path_of(uri), uri)

    def paths(self, arguments: JsonObject) -> tuple[str, ...]:
        return (os.path.realpath(path_of(arguments["uri"])),)

    def read_path(self, path: str, uri: str) -> Body:
        real = os.path.realpath(path)
        if not any(is_below(real, root) for root in self._roots):
            raise unreadable(uri, "Resource outside allowed roots")
        return Body(read_file(real, self._max_bytes, uri))


class DataFile:
    """One file of the project, whatever URI it is served under."""

    def __init__(self, path: str, root: str, max_bytes: int) -> None:
        self._path = path
        self._files = FileProvider((root,), max_bytes)

    async def read(self, arguments: JsonObject, call: Call | None, channel: Channel | None) -> Body:
        return await asyncio.to_thread(self._files.read_path, self._path, arguments["uri"])

    def paths(self, arguments: JsonObject) -> tuple[str, ...]:
        return (self._path,)


def path_of(uri: str) -> str:
    """The path that a file URI names, decoded once."""
    scheme, _, rest = uri.partition(":")
    if scheme.lower() != "file":
        raise ProtocolError(INVALID_PARAMS, "Not a file URI", {"uri": uri})
    rest = rest.partition("#")[0].partition("?")[0]
    if rest.startswith("//"):
        host, slash, path = rest[2:].partition("/")
        if host.lower() not in ("", "localhost") or not slash:
            raise ProtocolError(INVALID_PARAMS, "Not a local file URI", {"uri": uri})
        rest = slash + path
    decoded = os.fsdecode(unquote_to_bytes(rest))
    if not decoded.startswith("/") or "\0" in decoded:
        raise ProtocolError(INVALID_PARAMS, "Not a local file URI", {"uri": uri})
    return decoded


def read_file(real: str, limit: int, uri: str) -> bytes:
    """`real` has been checked: what is opened must still be that very file."""
    try:
        descriptor = os.open(real, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        raise not_found(uri) from None
    except OSError as error:
        raise unreadable(uri, f"Resource cannot be read: {error.strerror}") from None
    try:
        _check(real, os.fstat(descriptor), limit, uri)
        with open(descriptor, "rb", closefd=False) as stream:
            data = stream.read(limit + 1)
    finally:
        os.close(descriptor)
    if len(data) > limit:
        raise unreadable(uri, f"Resource exceeds {limit} bytes")
    return data


def _check(real: str, status: os.stat_result, limit: int, uri: str) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise unreadable(uri, "Resource is not a plain file")
    if os.path.realpath(real) != real:
        raise unreadable(uri, "Resource outside allowed roots")
    if status.st_size > limit:
        raise unreadable(uri, f"Resource exceeds {limit} bytes")
