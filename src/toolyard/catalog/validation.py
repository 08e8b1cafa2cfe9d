"""JSON Schema, compiled once: is this value what was declared? Fetches nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from toolyard.protocol.call import Json, JsonObject

# None when the value is valid, otherwise what is wrong and where.
Checker: TypeAlias = Callable[[Json], str | None]

_MOST_ERRORS = 5


def compile_checker(schema: Json) -> Checker:
    """Compile a schema. Raises ValueError when it is not one."""
    # Costs 25 ms: a start that only lists must not pay for it.
    import jsonschema_rs  # noqa: PLC0415

    validator = jsonschema_rs.validator_for(_with_dialect(schema), retriever=_refuse)

    def check(value: Json) -> str | None:
        if validator.is_valid(value):
            return None
        return "; ".join(
            _explain(error)
            for _, error in zip(range(_MOST_ERRORS), validator.iter_errors(value), strict=False)
        )

    return check


def _with_dialect(schema: Json) -> Json:
    if isinstance(schema, dict) and "$schema" not in schema:
        return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
    return schema


def _refuse(uri: str) -> Json:
    raise ValueError(f"schemas are never fetched: {uri}")


def _explain(error: Any) -> str:
    place = "".join(f"/{part}" for part in error.instance_path)
    return f"{place or '(root)'}: {error.message}"


def never_valid(why: str) -> Checker:
    """The checker of a schema that is not one."""
    return lambda _value: why


def checker_or_reason(schema: JsonObject) -> Checker:
    try:
        return compile_checker(schema)
    except ValueError as error:
        return never_valid(f"the tool's schema is not valid: {error}")
