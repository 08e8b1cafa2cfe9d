"""The files in .registry/: one envelope a kind, written whole, private to the user.

Knows the envelope and its hash; does not know what the items mean.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import NamedTuple

import orjson

from toolyard.files.whole import write_whole
from toolyard.protocol.codec import dumps, exact, in_parts
from toolyard.protocol.values import JsonObject

VERSION = 1
FORMAT_VERSION = 1


class Cached(NamedTuple):
    items: list[JsonObject]
    hash: str


def canonical(items: list[JsonObject]) -> bytes:
    return b"[%b]" % b",".join(in_parts(items, orjson.OPT_SORT_KEYS))


def hash_of(items: list[JsonObject]) -> str:
    # It loads OpenSSL: the first list, which comes before any cache is written, goes without.
    import hashlib  # noqa: PLC0415

    return hashlib.sha256(canonical(items)).hexdigest()


def envelope(items: list[JsonObject], digest: str) -> bytes:
    """One line an item: easy to compare, and other threads are let in between."""
    head = {
        "version": VERSION,
        "format_version": FORMAT_VERSION,
        "generatedAt": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    lines = b",\n".join([dumps(item) for item in items])
    tail = {"hash": digest, "total": len(items)}
    parts = orjson.dumps(head)[:-1], lines, orjson.dumps(tail)[1:]
    return b'%b,"items":[\n%b\n],\n%b\n' % parts


def write(path: str, items: list[JsonObject]) -> str:
    """Write the file unless it already holds these items; the hash."""
    digest = hash_of(items)
    if holds(path, digest):
        return digest
    folder = os.path.dirname(path)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    write_whole(path, envelope(items, digest), sync=False)
    return digest


def holds(path: str, digest: str) -> bool:
    """Does the file end with this hash? It does not have to be parsed to know."""
    try:
        with open(path, "rb") as stream:
            stream.seek(-min(256, os.fstat(stream.fileno()).st_size), os.SEEK_END)
            return b'"%s"' % digest.encode() in stream.read()
    except OSError:
        return False


def read(path: str, max_bytes: int) -> Cached | None:
    """The items of a file that is whole and not too large; None otherwise."""
    try:
        with open(path, "rb") as stream:
            if os.fstat(stream.fileno()).st_size > max_bytes:
                return None
            content = exact(stream.read())
    except (OSError, ValueError):
        return None
    items = content.get("items") if isinstance(content, dict) else None
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        return None
    digest = content.get("hash")
    return Cached(items, digest if isinstance(digest, str) else hash_of(items))
