"""The Mcp-* headers of the modern era: their codec, and those that repeat arguments."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping

from toolyard.errors import HEADER_MISMATCH, ProtocolError
from toolyard.protocol.call import Json, JsonObject
from toolyard.protocol.kinds import NAMED_BY

PARAM_PREFIX = "mcp-param-"
ANNOTATION = "x-mcp-header"
OF_TASKS = frozenset({"tasks/get", "tasks/update", "tasks/cancel"})
# The parameter that Mcp-Name repeats, by method.
MCP_NAME = {**NAMED_BY, **dict.fromkeys(OF_TASKS, "taskId")}
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+\Z")
_PLAIN = re.compile(r"[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?\Z")
# Beyond this several integers share one float.
_EXACT_IN_FLOATS = 2**53
ENCODED, _CLOSE = "=?base64?", "?="


def encode_value(value: Json) -> str:
    """A header value for an argument: as it is if possible, else base64."""
    text = _text(value)
    if _PLAIN.match(text) and not (text.startswith(ENCODED) and text.endswith(_CLOSE)):
        return text
    return ENCODED + base64.b64encode(text.encode()).decode() + _CLOSE


def decode_value(value: str) -> str:
    """The text a header value stands for."""
    value = value.strip(" \t")
    if not (value.startswith(ENCODED) and value.endswith(_CLOSE)):
        return value
    try:
        text = value[len(ENCODED) : -len(_CLOSE)]
        return base64.b64decode(text, validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        raise mismatch(f"{value!r} is not valid base64 of UTF-8") from None


def _text(value: Json) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def mismatch(why: str) -> ProtocolError:
    return ProtocolError(HEADER_MISMATCH, f"Header mismatch: {why}")


def header_parameters(schema: Json) -> dict[tuple[str, ...], str]:
    """Where an input schema asks for headers: path of properties -> header suffix.

    Raises ValueError if the annotations are not valid.
    """
    names_by_path = dict(_annotations(schema, ()))
    names = [name.lower() for name in names_by_path.values()]
    if len(set(names)) != len(names):
        raise ValueError(f"{ANNOTATION} names are not unique")
    if _count(schema) != len(names_by_path):
        raise ValueError(f"{ANNOTATION} is somewhere that no plain chain of properties leads to")
    return names_by_path


def _annotations(schema: Json, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict):
        return
    for name, child in properties.items():
        if isinstance(child, dict) and ANNOTATION in child:
            yield (*path, name), _checked_name(child)
        yield from _annotations(child, (*path, name))


def _checked_name(schema: JsonObject) -> str:
    name = schema[ANNOTATION]
    if not isinstance(name, str) or not _TOKEN.match(name):
        raise ValueError(f"{ANNOTATION} must be a header token, not {name!r}")
    if schema.get("type") not in ("string", "integer", "boolean"):
        raise ValueError(f"{ANNOTATION} {name!r} is on a type that no header can carry")
    return name


def _count(schema: Json) -> int:
    if isinstance(schema, list):
        return sum(map(_count, schema))
    if not isinstance(schema, dict):
        return 0
    here = isinstance(schema.get(ANNOTATION), str) and "type" in schema
    return here + sum(_count(value) for value in schema.values())


def check_parameters(
    headers: Mapping[str, str], names_by_path: Mapping[tuple[str, ...], str], arguments: JsonObject
) -> None:
    """Every annotated argument that is present must be repeated by its header."""
    for path, name in names_by_path.items():
        value = _at(arguments, path)
        header = headers.get(PARAM_PREFIX + name.lower())
        if value is None:
            if header is not None:
                raise mismatch(f"Mcp-Param-{name} was sent without its argument")
            continue
        if header is None:
            raise mismatch(f"the Mcp-Param-{name} header is missing")
        if not _same(decode_value(header), value):
            raise mismatch(f"Mcp-Param-{name} does not match the argument")


def parameters(
    names_by_path: Mapping[tuple[str, ...], str], arguments: JsonObject
) -> dict[str, str]:
    """The Mcp-Param-* headers that go with these arguments."""
    values = ((name, _at(arguments, path)) for path, name in names_by_path.items())
    return {f"Mcp-Param-{name}": encode_value(v) for name, v in values if v is not None}


def _at(arguments: Json, path: tuple[str, ...]) -> Json:
    for name in path:
        if not isinstance(arguments, dict):
            return None
        arguments = arguments.get(name)
    return arguments


def _same(text: str, value: Json) -> bool:
    if isinstance(value, bool | str):
        return text == _text(value)
    try:
        if type(value) is int and abs(value) > _EXACT_IN_FLOATS:
            return int(text) == value
        return float(text) == float(value)
    except (TypeError, ValueError, OverflowError):
        return False
