"""JSON that people write into files, and what they are told if it is wrong.

One set of sentences, each to follow the name of the file: it cannot be read, it is not JSON (with
line and column), it does not hold an object. The caller decides who must act.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NoReturn

from toolyard.errors import ConfigError

_BOM = b"\xef\xbb\xbf"


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


# Not orjson: settings are read with it, before anything heavy is imported.
DECODER = json.JSONDecoder(parse_constant=_refuse)


def _decode(data: bytes) -> Any:
    return DECODER.decode(data.decode())


def read_object(path: str, remedy: str = "") -> dict[str, Any]:
    """The object in a file. Raises ConfigError; `remedy` is added if there is no such file."""
    try:
        return object_in(_content(path, remedy))
    except ValueError as error:
        raise ConfigError.at(path, str(error)) from None


def read_value(path: str) -> Any:
    """Whatever JSON is in a file. Raises ConfigError."""
    try:
        return value_in(_content(path))
    except ValueError as error:
        raise ConfigError.at(path, f"is not JSON: {error}") from None


def object_in(data: bytes, decode: Callable[[bytes], Any] = _decode) -> dict[str, Any]:
    """Raises ValueError."""
    try:
        value = value_in(data, decode)
    except ValueError as error:
        raise ValueError(f"is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise ValueError("must hold a JSON object")
    return value


def value_in(data: bytes, decode: Callable[[bytes], Any] = _decode) -> Any:
    """Raises ValueError that says where and what; editors of some systems begin with a BOM."""
    try:
        return decode(data.removeprefix(_BOM))
    except json.JSONDecodeError as error:
        raise ValueError(where_and_what(error)) from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def where_and_what(error: json.JSONDecodeError) -> str:
    return f"line {error.lineno}, column {error.colno}: {error.msg[0].lower()}{error.msg[1:]}"


def _content(path: str, remedy: str = "") -> bytes:
    try:
        with open(path, "rb") as stream:
            return stream.read()
    except OSError as error:
        raise ConfigError.at(path, f"cannot be read: {error.strerror}{remedy}") from None
