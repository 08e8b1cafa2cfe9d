"""What the page must not show: values of variables, and whatever is named like a secret."""

from __future__ import annotations

import re
from collections.abc import Iterable

from toolyard.protocol.call import Json, JsonObject
from toolyard.telemetry import MASK, Mask

_SECRET_NAME = re.compile(
    r"passw(or)?d|passphrase|secret|token(?!s)|api[-_]?key|access[-_]?key|private[-_]?key|"
    r"credential|authorization|cookie|bearer",
    re.IGNORECASE,
)
_BEARER = re.compile(r"\b(Bearer|Basic)\s+[\w.~+/=-]{8,}", re.IGNORECASE)
# A call's bookkeeping: named like secrets, and of no use to anyone who reads it.
_HARMLESS = frozenset({"progressToken", "maxTokens"})


def without_secrets(value: Json, secrets: Iterable[str], private: frozenset[str]) -> Json:
    """A copy to show. `private`: the arguments that their schema marks as passwords."""
    return _cleaned(value, Mask(secrets), private)


def _cleaned(value: Json, mask: Mask, private: frozenset[str]) -> Json:
    """By name too, which `each_text` does not see: a password that we were never told."""
    if isinstance(value, str):
        return _BEARER.sub(rf"\1 {MASK}", mask(value))
    if isinstance(value, dict):
        return {
            mask(key): MASK if _is_secret(key, part, private) else _cleaned(part, mask, private)
            for key, part in value.items()
        }
    if isinstance(value, list):
        return [_cleaned(part, mask, private) for part in value]
    return value


def _is_secret(key: str, value: Json, private: frozenset[str]) -> bool:
    if not isinstance(value, str) or not value or key in _HARMLESS:
        return False
    return key in private or _SECRET_NAME.search(key) is not None


def secret_values(value: Json, private: frozenset[str]) -> frozenset[str]:
    """The values under secret names: a tool may repeat them in its text."""
    if isinstance(value, list):
        return frozenset().union(*(secret_values(part, private) for part in value))
    if not isinstance(value, dict):
        return frozenset()
    own = frozenset(part for key, part in value.items() if _is_secret(key, part, private))
    return own.union(*(secret_values(part, private) for part in value.values()))


def private_arguments(schema: JsonObject | None) -> frozenset[str]:
    """The top-level arguments that a schema marks as passwords."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict):
        return frozenset()
    return frozenset(
        name for name, property_schema in properties.items() if _is_password(property_schema)
    )


def _is_password(schema: Json) -> bool:
    return isinstance(schema, dict) and (
        schema.get("format") == "password" or schema.get("writeOnly") is True
    )
