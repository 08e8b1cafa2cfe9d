"""What becomes of the parts that were gathered, and which are kept. Calls nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from toolyard.protocol.call import Json, JsonObject
from toolyard.virtual.codec import dumps
from toolyard.virtual.mappings import Problem, literal_value
from toolyard.virtual.paths import MISSING, BadPath, Budget, Path, compile_path

Aggregate: TypeAlias = Callable[[list[Json]], Json]
_Op: TypeAlias = Callable[[Json], Json]


def compile_aggregation(stated: Json, pointer: str, problem: Problem) -> Aggregate:
    ops = stated.get("ops", []) if isinstance(stated, dict) else None
    if not isinstance(ops, list):
        problem(f"{pointer}/ops", "must be a list of operations")
        ops = []
    compiled = [_compile_op(op, f"{pointer}/ops/{i}", problem) for i, op in enumerate(ops)]

    def aggregate(parts: list[Json]) -> Json:
        value: Json = parts
        for op in compiled:
            value = op(value)
        return value

    return aggregate


def _compile_op(stated: Json, pointer: str, problem: Problem) -> _Op:
    known = [kind for kind in _OPS if isinstance(stated, dict) and kind in stated]
    if len(known) != 1:
        problem(pointer, f"must have one of {', '.join(_OPS)}")
        return _same
    kind = known[0]
    value = stated[kind]
    if value is False:  # `flatten: false` asks for nothing
        return _same
    return _OPS[kind](value if isinstance(value, dict) else {}, f"{pointer}/{kind}", problem)


def _same(value: Json) -> Json:
    return value


def _flatten(_: JsonObject, _pointer: str, _problem: Problem) -> _Op:
    def flatten(value: Json) -> Json:
        parts = _as_list(value)
        return [one for part in parts for one in (part if isinstance(part, list) else [part])]

    return flatten


def _merge(_: JsonObject, _pointer: str, _problem: Problem) -> _Op:
    def merge(value: Json) -> Json:
        merged: JsonObject = {}
        for part in _as_list(value):
            merged.update(part if isinstance(part, dict) else {})
        return merged

    return merge


def _sort(stated: JsonObject, pointer: str, problem: Problem) -> _Op:
    field = _field(stated, pointer, problem)
    order = stated.get("order", "asc")
    if order not in ("asc", "desc"):
        problem(f"{pointer}/order", 'must be "asc" or "desc"')
    return lambda value: sorted(
        _as_list(value), key=lambda one: _rank(_at(field, one)), reverse=order == "desc"
    )


def _dedupe(stated: JsonObject, pointer: str, problem: Problem) -> _Op:
    field = _field(stated, pointer, problem)

    def dedupe(value: Json) -> Json:
        seen: set[str] = set()
        kept = []
        for one in _as_list(value):
            found = _at(field, one)
            key = None if found is MISSING else dumps(found)
            if key is None or key not in seen:
                kept.append(one)
            if key is not None:
                seen.add(key)
        return kept

    return dedupe


def _limit(stated: JsonObject, pointer: str, problem: Problem) -> _Op:
    count = stated.get("count")
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


def _field(stated: JsonObject, pointer: str, problem: Problem) -> Path:
    """A path, or the name of a member."""
    text = stated.get("field", "$")
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
    """Numbers before strings before all else, so that mixed values sort at all."""
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


def compile_predicate(stated: Json, pointer: str, problem: Problem) -> Callable[[Json], bool]:
    if not isinstance(stated, dict):
        problem(pointer, "must be an object with field, op and value")
        return bool
    field = _field(stated, pointer, problem)
    name = stated.get("op", "eq")
    test = _TESTS.get(_ALIASES.get(name, name)) if isinstance(name, str) else None
    if test is None:
        problem(f"{pointer}/op", f"must be one of {', '.join(_TESTS)}")
        return bool
    wanted = _wanted(stated.get("value"))
    return lambda value: test(_at(field, value), wanted)


def _wanted(stated: Json) -> Json:
    value = literal_value(stated)
    return stated if value is MISSING else value


def _compared(compare: Callable[[Json, Json], bool]) -> Callable[[Json, Json], bool]:
    """Only numbers with numbers and strings with strings have an order."""

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
