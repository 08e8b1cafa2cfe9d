"""Files that a tool embeds in its result by naming them in MCP_TOOL_RESOURCES_FILE."""

from __future__ import annotations

import base64
import os
import stat
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import orjson

from toolyard.files.beneath import is_below, open_real
from toolyard.protocol.call import Json, JsonObject
from toolyard.scripts.contract.environ import file_uri


class Named(NamedTuple):
    path: str
    mime_type: str | None = None
    uri: str | None = None


class EmbeddingRefusal(Exception):
    """Why a named file is not embedded."""


def named_in(said: bytes) -> list[Named]:
    """JSON (a path, an object, or a list of either), or lines `path<TAB>mime<TAB>uri`."""
    try:
        value = orjson.loads(said)
    except orjson.JSONDecodeError:
        lines = said.decode("utf-8", "replace").splitlines()
        return [Named(*line.split("\t")[:3]) for line in lines if line.strip()]
    return list(named_by_json(value if isinstance(value, list) else [value]))


def named_by_json(items: list[Json]) -> Iterator[Named]:
    for item in items:
        if isinstance(item, str):
            yield Named(item)
        elif isinstance(item, dict) and isinstance(item.get("path"), str):
            yield Named(item["path"], text(item.get("mimeType")), text(item.get("uri")))


def embed(named: Named, folder: str, roots: Sequence[str], limit: int) -> JsonObject:
    """The content block of one file; refused unless it lies below one of the `roots`.

    A relative path starts where the script did, in `folder`.
    """
    if "\0" in named.path:
        raise EmbeddingRefusal("a path with a NUL in it names no file")
    try:
        real = os.path.realpath(os.path.join(folder, named.path))
    except OSError as error:  # a link was taken away while it was followed
        raise EmbeddingRefusal(f"{named.path} cannot be read: {error.strerror}") from error
    if not any(is_below(real, os.path.realpath(root)) for root in roots):
        raise EmbeddingRefusal(f"{named.path} is outside the allowed roots")
    data = read_plain_file(real, limit)
    resource: JsonObject = {
        "uri": named.uri or file_uri(real),
        "mimeType": named.mime_type or guessed(real, data),
    }
    if is_text(data):
        resource["text"] = data.decode()
    else:
        resource["blob"] = base64.b64encode(data).decode()
    return {"type": "resource", "resource": resource}


def read_plain_file(path: str, limit: int) -> bytes:
    try:
        with open(path, "rb", opener=_opened) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise EmbeddingRefusal(f"{path} is not a plain file")
            if status.st_size > limit:
                raise EmbeddingRefusal(f"{path} is larger than {limit} bytes")
            return file.read(limit)
    except OSError as error:
        raise EmbeddingRefusal(f"{path} cannot be read: {error.strerror}") from error


def _opened(path: str, flags: int) -> int:
    return open_real(path, flags)


def guessed(path: str, data: bytes) -> str:
    import mimetypes  # noqa: PLC0415 (few results embed files, and a start should not pay for it)

    known, _ = mimetypes.guess_type(path)
    return known or ("text/plain" if is_text(data) else "application/octet-stream")


def is_text(data: bytes) -> bool:
    if b"\0" in data[:1024]:
        return False
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def text(value: Json) -> str | None:
    return value if isinstance(value, str) and value else None
