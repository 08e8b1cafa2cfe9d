"""Read local files as resources: inside the roots, real paths only, no special files."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Sequence
from errno import ELOOP
from urllib.parse import unquote_to_bytes

from toolyard.errors import INVALID_PARAMS, ProtocolError
from toolyard.files.beneath import is_below, open_real
from toolyard.protocol.call import Call, Channel, JsonObject
from toolyard.scripts.resources.contents import Body, not_found, unreadable

OUTSIDE = "Resource outside allowed roots"


class FileProvider:
    """`file://` URIs below the roots. No roots means that nothing may be read."""

    def __init__(self, roots: Sequence[str], max_bytes: int) -> None:
        self._roots = tuple(map(os.path.realpath, roots))
        self._max_bytes = max_bytes

    async def read(self, arguments: JsonObject, call: Call | None, channel: Channel | None) -> Body:
        uri = arguments["uri"]
        return await asyncio.to_thread(self.read_path, path_of(uri), uri)

    def paths(self, arguments: JsonObject) -> tuple[str, ...]:
        uri = arguments["uri"]
        return (self.real_path(path_of(uri), uri),)

    def real_path(self, path: str, uri: str) -> str:
        """Where the path leads. Raises ProtocolError where that is outside the roots."""
        try:
            real = os.path.realpath(path)
        except OSError:
            raise not_found(uri) from None  # a link was taken away while it was followed
        if not any(is_below(real, os.path.realpath(root)) for root in self._roots):
            raise unreadable(uri, OUTSIDE)
        return real

    def read_path(self, path: str, uri: str) -> Body:
        return Body(read_file(self.real_path(path, uri), self._max_bytes, uri))


class DataFile:
    """One file of the project, whatever URI it is served under."""

    def __init__(self, path: str, root: str, max_bytes: int) -> None:
        self._path = path
        self._files = FileProvider((root,), max_bytes)

    async def read(self, arguments: JsonObject, call: Call | None, channel: Channel | None) -> Body:
        return await asyncio.to_thread(self._files.read_path, self._path, arguments["uri"])

    def paths(self, arguments: JsonObject) -> tuple[str, ...]:
        return (self._files.real_path(self._path, arguments["uri"]),)


def path_of(uri: str) -> str:
    """The path that a file URI names, decoded once."""
    scheme, _, remainder = uri.partition(":")
    if scheme.lower() != "file":
        raise ProtocolError(INVALID_PARAMS, "Not a file URI", {"uri": uri})
    remainder = remainder.partition("#")[0].partition("?")[0]
    if remainder.startswith("//"):
        host, slash, path = remainder[2:].partition("/")
        if host.lower() not in ("", "localhost") or not slash:
            raise ProtocolError(INVALID_PARAMS, "Not a local file URI", {"uri": uri})
        remainder = slash + path
    local_path = os.fsdecode(unquote_to_bytes(remainder))
    if not local_path.startswith("/") or "\0" in local_path:
        raise ProtocolError(INVALID_PARAMS, "Not a local file URI", {"uri": uri})
    return local_path


def read_file(real: str, limit: int, uri: str) -> bytes:
    """`real` has been checked: what is opened is that very file, or nothing is."""
    try:
        descriptor = open_real(real)
    except (FileNotFoundError, NotADirectoryError):
        raise not_found(uri) from None
    except OSError as error:
        why = OUTSIDE if error.errno == ELOOP else f"Resource cannot be read: {error.strerror}"
        raise unreadable(uri, why) from None
    try:
        _check(os.fstat(descriptor), limit, uri)
        with open(descriptor, "rb", closefd=False) as stream:
            data = stream.read(limit + 1)
    except OSError as error:
        raise unreadable(uri, f"Resource cannot be read: {error.strerror}") from None
    finally:
        os.close(descriptor)
    if len(data) > limit:
        raise unreadable(uri, f"Resource exceeds {limit} bytes")
    return data


def _check(status: os.stat_result, limit: int, uri: str) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise unreadable(uri, "Resource is not a plain file")
    if status.st_size > limit:
        raise unreadable(uri, f"Resource exceeds {limit} bytes")
