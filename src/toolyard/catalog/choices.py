"""The values that a schema lists for an argument. Pure."""

from __future__ import annotations

from toolyard.protocol.call import Json, JsonObject
from toolyard.protocol.codec import dumps


def listed_values(schema: JsonObject, name: str) -> list[str]:
    properties = schema.get("properties")
    about = properties.get(name) if isinstance(properties, dict) else None
    if not isinstance(about, dict):
        return []
    choices = about.get("enum") or _constants(about.get("oneOf") or about.get("anyOf"))
    if not choices and about.get("type") == "boolean":
        return ["true", "false"]
    if not isinstance(choices, list):
        return []
    return [value if isinstance(value, str) else dumps(value).decode() for value in choices]


def _constants(options: Json) -> list[Json]:
    if not isinstance(options, list):
        return []
    return [option["const"] for option in options if isinstance(option, dict) and "const" in option]


def lists_values(schema: Json) -> bool:
    """Does any argument have values to choose from?"""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    return isinstance(properties, dict) and any(listed_values(schema, name) for name in properties)
