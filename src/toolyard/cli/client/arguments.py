"""JSON given on a command line: as text, from a file with @FILE, from stdin with @-."""

from __future__ import annotations

import sys

import orjson

from toolyard.errors import ConfigError
from toolyard.files.objects import value_in
from toolyard.protocol.call import JsonObject


def json_object(given: str, flag: str) -> JsonObject:
    """The object. Raises ConfigError that names the flag or the file."""
    place, text = _text(given, flag)
    try:
        value = value_in(text, orjson.loads)
    except ValueError as error:
        raise ConfigError.at(place, f"is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise ConfigError.at(place, "must be a JSON object")
    return value


def _text(given: str, flag: str) -> tuple[str, bytes]:
    if not given.startswith("@"):
        return flag, given.encode("utf-8", "surrogateescape")
    if given == "@-":
        return f"{flag} (stdin)", sys.stdin.buffer.read()
    try:
        with open(given[1:], "rb") as stream:
            return given[1:], stream.read()
    except OSError as error:
        raise ConfigError.at(given[1:], f"cannot be read: {error.strerror}") from None
