"""JSON Schema, compiled once: does a value match what was declared? Fetches nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from toolyard.catalog.costs import Costs
from toolyard.catalog.patterns import PATTERN_SIZES, TOO_LONG, Patterns
from toolyard.errors import shown
from toolyard.protocol.call import Json, JsonObject
from toolyard.protocol.codec import dumps

# None if the value is valid, otherwise what is wrong and where.
Checker: TypeAlias = Callable[[Json], str | None]

_MOST_ERRORS = 5
# Steps of a pattern times characters of a value: some tenths of a second at worst.
_MOST_WORK = 100_000_000
_FEWEST_STEPS, _MOST_STEPS = 10, 10_000
_TOO_MANY = {"BacktrackLimitExceeded": TOO_LONG}
TOO_MANY_STEPS = "(root): takes too many steps to check against the schema"


def compile_checker(schema: Json) -> Checker:
    """Compile a schema. Raises ValueError if it is not one, or costs more than we allow."""
    if not isinstance(schema, dict):
        return _checker_for(schema)
    costs = Costs(schema)
    if costs.reason is not None:
        raise ValueError(costs.reason)
    check = _checker_for(schema)
    if not costs.open:
        return check
    return lambda value: TOO_MANY_STEPS if costs.steps_exceeded(value) else check(value)


def _checker_for(schema: Json) -> Checker:
    """A checker for its patterns: none, linear ones of some size, or ones that look around."""
    # Costs 25 ms: a start that only lists must not pay for it.
    import jsonschema_rs  # noqa: PLC0415

    schema = _with_dialect(schema)

    def validator(patterns: Any) -> Any:
        return jsonschema_rs.validator_for(schema, retriever=_refuse, pattern_options=patterns)

    patterns = Patterns(schema)
    if not patterns.count:
        return _plain(validator(jsonschema_rs.RegexOptions()))
    for size in PATTERN_SIZES:
        try:
            linear = _plain(validator(jsonschema_rs.RegexOptions(size_limit=size)))
        except ValueError:
            continue
        return patterns.bounded(linear, size)
    return _step_bounded(lambda steps: validator(jsonschema_rs.FancyRegexOptions(steps)))


def _plain(validator: Any) -> Checker:
    is_valid = validator.is_valid
    return lambda value: None if is_valid(value) else _problem(validator, value)


def _step_bounded(validator: Callable[[int], Any]) -> Checker:
    """For patterns that look around or back, which no engine matches in linear time.

    The cost of one step grows with the text: the longer a value, the fewer steps it may take.
    """
    validators = {_MOST_STEPS: validator(_MOST_STEPS)}

    def check(value: Json) -> str | None:
        steps = _MOST_STEPS
        work = _MOST_WORK // len(dumps(value))
        while steps > max(work, _FEWEST_STEPS):
            steps //= 10
        if steps not in validators:
            validators[steps] = validator(steps)
        return _problem(validators[steps], value)

    return check


def _problem(validator: Any, value: Json) -> str | None:
    if validator.is_valid(value):
        return None
    return "; ".join(
        _explain(error)
        for _, error in zip(range(_MOST_ERRORS), validator.iter_errors(value), strict=False)
    )


def _with_dialect(schema: Json) -> Json:
    if isinstance(schema, dict) and "$schema" not in schema:
        return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
    return schema


def _refuse(uri: str) -> Json:
    raise ValueError(f"schemas are never fetched: {uri}")


def _explain(error: Any) -> str:
    place = "".join(f"/{part}" for part in error.instance_path)
    message = _TOO_MANY.get(type(error.kind).__name__, error.message)
    return f"{shown(place) or '(root)'}: {shown(message)}"


def never_valid(why: str) -> Checker:
    """The checker of a schema that is not one."""
    return lambda _value: why


def checker_or_reason(schema: JsonObject) -> Checker:
    try:
        return compile_checker(schema)
    except ValueError as error:
        return never_valid(f"the tool's schema is not valid: {error}")
