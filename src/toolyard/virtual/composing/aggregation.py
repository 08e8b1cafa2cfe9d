"""How gathered parts become one value, and which elements a filter keeps. Calls nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from toolyard.protocol.call import Json, JsonObject
from toolyard.virtual.codec import dumps
from toolyard.virtual.output.mappings import Problem, literal_value
from toolyard.virtual.query.paths import MISSING, BadPath, Budget, Path, compile_path

Aggregate: TypeAlias = Callable[[list[Json]], Json]
_Op: TypeAlias = Callable[[Json], Json]


def compile_aggregation(settings: Json, pointer: str, problem: Problem) -> Aggregate:
    ops = settings.get("ops", []) if isinstance(settings, dict) else None
    if not isinstance(ops, list):
        problem(f"{pointer}/ops", "must be a list of operations")
        ops = []
    operations = [_compile_op(op, f"{pointer}/ops/{i}", problem) for i, op in enumerate(ops)]

    def aggregate(parts: list[Json]) -> Json:
        value: Json = parts
        for op in operations:
            value = op(value)
        return value

    return aggregate


def _compile_op(settings: Json, pointer: str, problem: Problem) -> _Op:
    kinds = [kind for kind in _OPS if isinstance(settings, dict) and kind in settings]
    if len(kinds) != 1:
        problem(pointer, f"must have one of {', '.join(_OPS)}")
        return _same
    kind = kinds[0]
    value = settings[kind]
    if value is False:  # `flatten: false` asks for nothing
        return _same
    return _OPS[kind](value if isinstance(value, dict) else {}, f"{pointer}/{kind}", problem)


def _same(value: Json) -> Json:
    return value


def _flatten(_: JsonObject, _pointer: str, _problem: Problem) -> _Op:
    def flatten(value: Json) -> Json:
        parts = _as_list(value)
        return [element for part in parts for element in _as_list(part)]

    return flatten


def _merge(_: JsonObject, _pointer: str, _problem: Problem) -> _Op:
    def merge(value: Json) -> Json:
        members: JsonObject = {}
        for part in _as_list(value):
            members.update(part if isinstance(part, dict) else {})
        return members

    return merge


def _sort(settings: JsonObject, pointer: str, problem: Problem) -> _Op:
    field = _field(settings, pointer, problem)
    order = settings.get("order", "asc")
    if order not in ("asc", "desc"):
        problem(f"{pointer}/order", 'must be "asc" or "desc"')
    return lambda value: sorted(
        _as_list(value), key=lambda element: _rank(_at(field, element)), reverse=order == "desc"
    )


def _dedupe(settings: JsonObject, pointer: str, problem: Problem) -> _Op:
    field = _field(settings, pointer, problem)

    def dedupe(value: Json) -> Json:
        keys: set[str] = set()
        elements = []
        for element in _as_list(value):
            field_value = _at(field, element)
            key = None if field_value is MISSING else dumps(field_value)
            if key is None or key not in keys:
                elements.append(element)
            if key is not None:
                keys.add(key)
        return elements

    return dedupe


def _limit(settings: JsonObject, pointer: str, problem: Problem) -> _Op:
    count = settings.get("count")
    if not isinstance(count, int) or isinstance(count, bool) or count < 0:
        problem(f"{pointer}/count", "must be a whole number, 0 or more")
        return _same
    return lambda value: _as_list(value)[:count]


_OPS: Mapping[str, Callable[[JsonObject, str, Problem], _Op]] = {
    "flatten": _flatten,
    "concat": _flatten,
    "merge": _merge,
    "sort": _sort,
    "dedupe": _dedupe,
    "limit": _limit,
}


def _as_list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else [value]


def _field(settings: JsonObject, pointer: str, problem: Problem) -> Path:
    """A path, or the name of a member."""
    text = settings.get("field", "$")
    try:
        return compile_path(_as_path(text))
    except BadPath as error:
        problem(f"{pointer}/field", str(error))
        return compile_path("$")


def _as_path(text: Json) -> str:
    if not isinstance(text, str):
        return ""
    return text if text.startswith("$") else f"$.{text}"


def _at(path: Path, value: Json) -> Json:
    return path.find(value, Budget()) if path.get is None else path.get(value)


def _rank(value: Json) -> tuple[int, float | str]:
    """Numbers, then strings, then all else: mixed values have an order too."""
    if isinstance(value, (int, float)):
        return 0, value
    return (1, value) if isinstance(value, str) else (2, "")


_ALIASES = {
    "==": "eq",
    "equals": "eq",
    "!=": "ne",
    "neq": "ne",
    "notEquals": "ne",
    ">": "gt",
    ">=": "gte",
    "ge": "gte",
    "<": "lt",
    "<=": "lte",
    "le": "lte",
}


def compile_predicate(predicate: Json, pointer: str, problem: Problem) -> Callable[[Json], bool]:
    if not isinstance(predicate, dict):
        problem(pointer, "must be an object with field, op and value")
        return bool
    field = _field(predicate, pointer, problem)
    name = predicate.get("op", "eq")
    test = _TESTS.get(_ALIASES.get(name, name)) if isinstance(name, str) else None
    if test is None:
        problem(f"{pointer}/op", f"must be one of {', '.join(_TESTS)}")
        return bool
    operand = _operand(predicate.get("value"))
    return lambda value: test(_at(field, value), operand)


def _operand(setting: Json) -> Json:
    value = literal_value(setting)
    return setting if value is MISSING else value


def _compared(compare: Callable[[Json, Json], bool]) -> Callable[[Json, Json], bool]:
    """Only numbers can be compared with numbers, and strings with strings."""

    def test(left: Json, right: Json) -> bool:
        numbers = isinstance(left, (int, float)) and isinstance(right, (int, float))
        texts = isinstance(left, str) and isinstance(right, str)
        return (numbers or texts) and compare(left, right)

    return test


_TESTS: Mapping[str, Callable[[Json, Json], bool]] = {
    "eq": lambda left, right: left is not MISSING and left == right,
    "ne": lambda left, right: left is MISSING or left != right,
    "gt": _compared(lambda left, right: left > right),
    "gte": _compared(lambda left, right: left >= right),
    "lt": _compared(lambda left, right: left < right),
    "lte": _compared(lambda left, right: left <= right),
    "contains": lambda left, right: isinstance(left, (str, list)) and _has(left, right),
    "in": lambda left, right: isinstance(right, (str, list)) and _has(right, left),
    "exists": lambda left, right: (left is not MISSING) == (right is not False),
}


def _has(whole: str | list[Json], part: Json) -> bool:
    return part in whole if isinstance(whole, list) or isinstance(part, str) else False
