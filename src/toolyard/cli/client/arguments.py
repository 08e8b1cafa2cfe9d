"""JSON given on a command line: as text, from a file with @FILE, from stdin with @-."""

from __future__ import annotations

import sys

import orjson

from toolyard.errors import ConfigError
from toolyard.files.objects import value_in
from toolyard.protocol.call import JsonObject


def json_object(value_or_file: str, flag: str) -> JsonObject:
    """Raises ConfigError, which names the flag or the file."""
    place, text = _text(value_or_file, flag)
    try:
        value = value_in(text, orjson.loads)
    except ValueError as error:
        raise ConfigError.at(place, f"is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise ConfigError.at(place, "must be a JSON object")
    return value


def _text(value_or_file: str, flag: str) -> tuple[str, bytes]:
    if not value_or_file.startswith("@"):
        return flag, value_or_file.encode("utf-8", "surrogateescape")
    if value_or_file == "@-":
        return f"{flag} (stdin)", sys.stdin.buffer.read()
    try:
        with open(value_or_file[1:], "rb") as stream:
            return value_or_file[1:], stream.read()
    except OSError as error:
        raise ConfigError.at(value_or_file[1:], f"cannot be read: {error.strerror}") from None
