"""What a bundle asks its user for, checked before it is packed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolyard.errors import ConfigError, Problem
from toolyard.protocol.call import JsonObject

_TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "number": (int, float),
    "boolean": bool,
    "directory": str,
    "file": str,
}
_MAPS = ("user_config_env_map", "user_config_args_map")


def check_user_config(facts: JsonObject) -> None:
    """Raises ConfigError with everything that is wrong."""
    problems = [Problem("user_config", pointer, message) for pointer, message in _problems(facts)]
    if problems:
        raise ConfigError(problems)


def _problems(facts: JsonObject) -> Iterator[tuple[str, str]]:
    config = facts.get("user_config", {})
    if not isinstance(config, dict):
        yield "", "must be an object"
        return
    for key, field in config.items():
        yield from ((f"/{key}{pointer}", message) for pointer, message in _field(field))
    for name in _MAPS:
        keys = facts.get(name, {})
        if not isinstance(keys, dict | list):
            yield "", f"{name} must be an object or a list of keys"
            continue
        for key in keys:
            if key not in config:
                yield "", f"{name} names {key!r}, which user_config does not have"


def _field(field: Any) -> Iterator[tuple[str, str]]:
    if not isinstance(field, dict):
        yield "", "must be an object"
        return
    kind = field.get("type")
    if kind not in _TYPES:
        yield "/type", f"must be one of {', '.join(_TYPES)}"
    if not isinstance(field.get("title"), str) or not field["title"]:
        yield "/title", "is missing"
    if kind in _TYPES and "default" in field and not _fits(field["default"], field):
        yield "/default", f"is not a {kind}"


def _fits(default: Any, field: JsonObject) -> bool:
    if field.get("multiple") is True and isinstance(default, list):
        return all(_is_a(part, field["type"]) for part in default)
    return _is_a(default, field["type"])


def _is_a(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, _TYPES[kind])
