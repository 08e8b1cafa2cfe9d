"""Values against a schema, compiled at first use. Fetches nothing, knows no tools."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, TypeAlias

from toolyard.errors import ToolError
from toolyard.protocol.call import Json, JsonObject

# What is wrong with the value, or None.
Validate: TypeAlias = Callable[[Json], str | None]

BACKTRACKS = 100_000
SHOWN = 300


def lazy_validator(schema: JsonObject) -> Validate:
    """A schema that is none shows at the first use: the call says so."""
    compiled: list[Any] = []

    def validate(value: Json) -> str | None:
        if not compiled:
            compiled.append(_compile(schema))
        if compiled[0].is_valid(value):
            return None
        return _said(next(iter(compiled[0].iter_errors(value))))

    return validate


def why_no_schema(schema: Json) -> str | None:
    """Why this cannot be used as a schema, for those who have the time to ask."""
    try:
        _compile(schema)
    except ToolError as error:
        return error.message
    return None


def _compile(schema: Json) -> Any:
    # 25 ms, and a registry without output schemas never needs it.
    import jsonschema_rs  # noqa: PLC0415

    # Bounded instead of linear: upstreams' own schemas use lookahead.
    patterns = jsonschema_rs.FancyRegexOptions(backtrack_limit=BACKTRACKS)
    try:
        return jsonschema_rs.validator_for(schema, retriever=_refuse, pattern_options=patterns)
    except ValueError as error:
        said = str(error).partition("\n")[0]
        raise ToolError(f"the schema cannot be used: {said}") from error


def _refuse(uri: str) -> NoReturn:
    raise ValueError(f"{uri} is not fetched")


def _said(error: Any) -> str:
    place = "".join(f"/{part}" for part in error.instance_path)
    message = str(error.message)
    shown = message if len(message) <= SHOWN else f"{message[:SHOWN]}..."
    return f"{place}: {shown}" if place else shown
