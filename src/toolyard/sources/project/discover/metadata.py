"""Metadata of an entry: NAME.meta.json, else an inline `# mcp:` line, else nothing.

Knows JSON, and by their schema the shapes of fields; does not know what kind of entry it reads for.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from toolyard.configuration.objects import shape
from toolyard.configuration.shapes import Shape
from toolyard.files.objects import object_in
from toolyard.protocol.codec import exact
from toolyard.protocol.values import JsonObject
from toolyard.sources.project.discover.icons import inline_icons
from toolyard.sources.project.discover.walk import File, Remembered, is_plain
from toolyard.sources.shortage import raise_if_short

HEAD_BYTES = 16384
_READ_BYTES = 65536
_INLINE_LINES = 10
_INLINE_MARK = b"mcp:"


class MetadataError(Exception):
    """This metadata cannot be used; the message names the file."""


class FoundResources(NamedTuple):
    resources: list[JsonObject]
    templates: list[JsonObject]
    # Programs without metadata: served by nobody, unless a template names them.
    strays: list[str]
    # Paths of resources that no metadata describes: metadata elsewhere may do so.
    bare: list[str]


class FoundThen(NamedTuple):
    """What was found in a folder, when it held these files and there were these providers."""

    files: Mapping[str, File]
    providers: frozenset[str]
    found: FoundResources


class Metadata:
    """What is kept from scan to scan: metadata that was read, what was made of it, folders."""

    def __init__(self) -> None:
        self.known: dict[str, tuple[int, JsonObject]] = {}
        # By script: the stamps of script and metadata, and the item that they make.
        self.items: dict[str, tuple[int, int, JsonObject]] = {}
        # Scripts, by their path below the folder of tools, whose name is that of their file.
        self.nameless: set[str] = set()
        # Scripts that were seen to start like a program, with their stamps.
        self.runnable: dict[str, int] = {}
        self.folders = Remembered()
        self.found: dict[str, FoundThen] = {}

    def read(self, file: File) -> JsonObject:
        stamp_and_meta = self.known.get(file.path)
        if stamp_and_meta is None or stamp_and_meta[0] != file.stamp:
            stamp_and_meta = (file.stamp, parse_object(read_bytes(file.path), file.path))
            self.known[file.path] = stamp_and_meta
        return stamp_and_meta[1]


def parse_object(content: bytes, place: str) -> JsonObject:
    try:
        return object_in(content, exact)
    except ValueError as error:
        raise MetadataError(f"{place}: {error}") from None


def read_bytes(path: str) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise_if_short(error, path)
        raise MetadataError(f"{path}: cannot be read: {error.strerror}") from None
    try:
        content = os.read(descriptor, _READ_BYTES)
        if len(content) == _READ_BYTES:
            while more := os.read(descriptor, _READ_BYTES):
                content += more
        return content
    except OSError as error:
        raise MetadataError(f"{path}: cannot be read: {error.strerror}") from None
    finally:
        os.close(descriptor)


def head(path: str, size: int = HEAD_BYTES) -> bytes:
    """The first bytes of a file; nothing where it cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise_if_short(error, path)
        return b""
    try:
        return os.read(descriptor, size)
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def inline(content: bytes, path: str) -> JsonObject:
    """The object after `mcp:` in one of the first ten lines; empty where there is none."""
    if _INLINE_MARK not in content:
        return {}
    # The head of a file, already in memory: files/lines.py is for input that arrives in pieces.
    for line in content.split(b"\n", _INLINE_LINES)[:_INLINE_LINES]:
        _, mark, after = line.partition(_INLINE_MARK)
        if mark and after.lstrip().startswith(b"{"):
            return parse_object(after.strip(), f"{path}: the inline mcp: line")
    return {}


# Without these there is no entry: whoever makes it says what is wrong.
_DECIDED_ELSEWHERE = frozenset(
    {"name", "inputSchema", "arguments", "icons", "uri", "uriTemplate", "path", "provider", "role"}
    | {"stdin", "progressExtendsTimeout"}
)


@cache
def _shapes() -> Mapping[str, Shape]:
    """Of the fields that are left out with a warning where they have another shape."""
    kinds = (shape("project", f"/$defs/{kind}") for kind in ("tool", "prompt", "resource"))
    members = {field: member for kind in kinds for field, member in kind.members.items()}
    return {field: member for field, member in members.items() if field not in _DECIDED_ELSEWHERE}


def checked(meta: JsonObject, place: str, warnings: list[str]) -> JsonObject:
    """The metadata without the fields that have the wrong shape, icons inlined."""
    sound: JsonObject = {}
    shapes = _shapes()
    for field, value in meta.items():
        member = shapes.get(field)
        if member is None:
            sound[field] = value
        elif value is None:
            continue
        elif member.fits(value):
            sound[field] = int(value) if field in _SECONDS and isinstance(value, str) else value
        else:
            warnings.append(f"{place}: {field} {member.message}; left out")
    if "icons" in sound:
        sound["icons"] = inline_icons(sound["icons"], os.path.dirname(place), warnings, place)
        if sound["icons"] is None:
            del sound["icons"]
    return sound


_SECONDS = ("timeoutSecs", "maxTimeoutSecs", "taskTimeoutSecs")


def name_of(meta: JsonObject, default: str, place: str) -> str:
    name = meta.get("name", default)
    if isinstance(name, str) and name.strip() and is_plain(name):
        return name
    raise MetadataError(f"{place}: name must be text without control characters; skipped")


def schema_of(meta: JsonObject, place: str) -> JsonObject:
    """The input schema, or the older `arguments`, with at least type and properties."""
    field = "inputSchema" if meta.get("inputSchema") is not None else "arguments"
    schema = meta.get(field)
    if schema is None:
        return {"type": "object", "properties": {}}
    if not isinstance(schema, dict):
        raise MetadataError(f"{place}: {field} must be an object; skipped")
    return normalised(schema)


def normalised(schema: JsonObject) -> JsonObject:
    if schema.get("type") and isinstance(schema.get("properties"), dict):
        return schema
    properties = schema.get("properties")
    return {
        **schema,
        "type": schema.get("type") or "object",
        "properties": properties if isinstance(properties, dict) else {},
    }
