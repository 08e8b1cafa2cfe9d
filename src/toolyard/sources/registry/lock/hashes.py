"""The hash of a tool's definition, in each form that `expectedSchemaHash` may have."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator

from toolyard.protocol.call import JsonObject

_HASH = re.compile(r"sha256:[0-9a-fA-F]{64}")
_SHORT = ("name", "description", "inputSchema")
_LONG = (*_SHORT, "outputSchema", "annotations")


def definition_hash(definition: JsonObject) -> str:
    """Over everything that a model is told: what `registry lock` writes."""
    return json_hash({key: definition[key] for key in _LONG if key in definition})


def content_hash(definition: JsonObject) -> str:
    """The same without its name and with its title: a tool that is only renamed keeps it."""
    keys = ("title", *_LONG[1:])
    return json_hash({key: definition[key] for key in keys if key in definition})


def told_hash(definition: JsonObject) -> str:
    """Over what a model is told about a prompt or a resource, which leaves out sizes and dates."""
    keys = ("title", "description", "arguments", "mimeType")
    return json_hash({key: definition[key] for key in keys if key in definition})


def is_hash(text: str) -> bool:
    """Could any definition have it?"""
    return _HASH.fullmatch(text) is not None


def matches_hash(definition: JsonObject, expected: str) -> bool:
    return expected.lower() in _accepted(definition)


def _accepted(definition: JsonObject) -> Iterator[str]:
    for keys in (_SHORT, _LONG):
        present = {key: definition[key] for key in keys if key in definition}
        # Others write what is missing as null, or text as ASCII.
        for fields in (present, {key: definition.get(key) for key in keys}):
            yield json_hash(fields)
            yield json_hash(fields, ascii_only=True)


def json_hash(fields: JsonObject, ascii_only: bool = False) -> str:
    text = json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=ascii_only)
    return f"sha256:{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"
