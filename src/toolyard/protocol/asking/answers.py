"""Does an answer fit the form? The schemas of elicitation, in every revision. Pure.

The page checks by the same rules, in frontend/src/model/answers.ts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, TypeGuard

from toolyard.protocol.client import ELICIT
from toolyard.protocol.values import Json, JsonObject

# How often a client is asked the same question if its answers do not fit.
MOST_ASKS = 3
_MOST_COMPLAINTS = 5
_MOST_CHOICES = 20
_MOST_LEVELS = 8
_ACTIONS = ("accept", "decline", "cancel")
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+")
_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_TIME = re.compile(
    r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?(?:Z|[+-]([0-9]{2}):([0-9]{2}))", re.IGNORECASE
)
_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


class CheckedAnswer(NamedTuple):
    answer: Json  # without the fields that were left empty
    wrong: str | None  # what is wrong with it, in one line


def judged(question: JsonObject, answer: Json) -> CheckedAnswer:
    """Check an answer against its question; only forms have rules."""
    if question.get("method") != ELICIT:
        return CheckedAnswer(answer, None)
    if not isinstance(answer, dict) or answer.get("action") not in _ACTIONS:
        return CheckedAnswer(answer, f"the action must be one of {', '.join(_ACTIONS)}")
    params = question.get("params")
    schema = params.get("requestedSchema") if isinstance(params, dict) else None
    if answer["action"] != "accept" or not isinstance(schema, dict):
        return CheckedAnswer(answer, None)
    content = answer.get("content")
    if content is not None and not isinstance(content, dict):
        return CheckedAnswer(answer, "the content must be an object")
    values = _without_empty(content or {}, schema)
    wrong = complaint(values, schema)
    return CheckedAnswer(answer if values == content else {**answer, "content": values}, wrong)


def asked_again(question: JsonObject, wrong: str) -> JsonObject:
    """The same question, which says why the last answer was not accepted."""
    params = question["params"]
    message = f"{params.get('message', '')}\n\nThe answer was not taken: {wrong}.".lstrip()
    return {**question, "params": {**params, "message": message}}


def complaint(content: JsonObject, schema: JsonObject) -> str | None:
    """Everything that is wrong with the content, in one line."""
    complaints = list(_wrong_members(content, schema, "", 0))
    return "; ".join(complaints[:_MOST_COMPLAINTS]) or None


def field_complaint(value: Json, field: Json) -> str | None:
    """What is wrong with the value of one field."""
    return next(_wrong(value, field, "", 0), None)


def _without_empty(content: JsonObject, schema: JsonObject) -> JsonObject:
    """Some clients send null for a field that was left empty."""
    fields = schema.get("properties")
    by_name = fields if isinstance(fields, dict) else {}
    return {
        name: value
        for name, value in content.items()
        if value is not None or name not in by_name or "null" in _types(by_name[name])
    }


def _wrong_members(value: JsonObject, schema: JsonObject, place: str, level: int) -> Iterator[str]:
    names, fields = schema.get("required"), schema.get("properties")
    for name in names if isinstance(names, list) else ():
        if isinstance(name, str) and name not in value:
            yield f"{place}{name}: is required"
    for name, field in fields.items() if isinstance(fields, dict) else ():
        if name in value:
            yield from _wrong(value[name], field, f"{place}{name}", level)


def _wrong(value: Json, field: Json, place: str, level: int) -> Iterator[str]:
    if not isinstance(field, dict) or level > _MOST_LEVELS:
        return
    why_wrong = _wrong_kind(value, field) or _wrong_choice(value, field)
    if why_wrong is None:
        why_wrong = next((why for rule in _RULES if (why := rule(value, field)) is not None), None)
    if why_wrong is not None:
        yield f"{place}: {why_wrong}" if place else why_wrong
    elif isinstance(value, dict):
        yield from _wrong_members(value, field, f"{place}." if place else "", level + 1)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _wrong(item, field.get("items"), f"{place}[{number}]", level + 1)


class _Kind(NamedTuple):
    phrase: str
    fits: Callable[[Json], bool]


def _is_number(value: Json) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


_KINDS: Mapping[str, _Kind] = {
    "string": _Kind("text", lambda value: isinstance(value, str)),
    "number": _Kind("a number", _is_number),
    "integer": _Kind("a whole number", lambda value: _is_number(value) and value == value // 1),
    "boolean": _Kind("true or false", lambda value: isinstance(value, bool)),
    "array": _Kind("a list", lambda value: isinstance(value, list)),
    "object": _Kind("an object", lambda value: isinstance(value, dict)),
    "null": _Kind("null", lambda value: value is None),
}


def _types(field: Json) -> list[str]:
    type_names = field.get("type") if isinstance(field, dict) else None
    names = type_names if isinstance(type_names, list) else [type_names]
    return [name for name in names if isinstance(name, str) and name in _KINDS]


def _wrong_kind(value: Json, field: JsonObject) -> str | None:
    kinds = [_KINDS[name] for name in _types(field)]
    if not kinds or any(kind.fits(value) for kind in kinds):
        return None
    return f"must be {' or '.join(kind.phrase for kind in kinds)}"


def _wrong_choice(value: Json, field: JsonObject) -> str | None:
    choices = _choices(field)
    if choices is None or any(_same(value, choice) for choice in choices):
        return None
    texts = [str(choice) for choice in choices[:_MOST_CHOICES]]
    more = ", ..." if len(choices) > _MOST_CHOICES else ""
    return f"must be one of {', '.join(texts)}{more}"


def _choices(field: JsonObject) -> list[Json] | None:
    """The values that may be chosen: bare, or each with a title."""
    for key in ("oneOf", "anyOf"):
        options = field.get(key)
        if isinstance(options, list) and all(isinstance(o, dict) and "const" in o for o in options):
            return [option["const"] for option in options]
    if "const" in field:
        return [field["const"]]
    values = field.get("enum")
    return values if isinstance(values, list) else None


def _same(value: Json, choice: Json) -> bool:
    """True is not 1."""
    return isinstance(value, bool) == isinstance(choice, bool) and bool(value == choice)


def _wrong_number(value: Json, field: JsonObject) -> str | None:
    if not _is_number(value):
        return None
    for key, beyond, phrase in _BOUNDS:
        bound = field.get(key)
        if _is_number(bound) and beyond(value, bound):
            return f"must be {phrase} {_plain(bound)}"
    return None


_BOUNDS: tuple[tuple[str, Callable[[float, float], bool], str], ...] = (
    ("minimum", lambda value, bound: value < bound, "at least"),
    ("maximum", lambda value, bound: value > bound, "at most"),
    ("exclusiveMinimum", lambda value, bound: value <= bound, "above"),
    ("exclusiveMaximum", lambda value, bound: value >= bound, "below"),
)


def _wrong_text(value: Json, field: JsonObject) -> str | None:
    if not isinstance(value, str):
        return None
    wrong = _wrong_count(len(value), field, ("minLength", "maxLength"), "characters")
    if wrong is not None:
        return wrong
    fits, phrase = _FORMATS.get(str(field.get("format")), (None, ""))
    if fits is not None and not fits(value):
        return f"must be {phrase}"
    return _wrong_pattern(value, field.get("pattern"))


def _wrong_pattern(value: str, pattern: Json) -> str | None:
    """Matched in linear time, whoever wrote it; a pattern that cannot be is ignored."""
    if not isinstance(pattern, str):
        return None
    # 5 ms, and only forms of scripts that go beyond the protocol have patterns.
    import re2  # noqa: PLC0415

    options = re2.Options()
    options.log_errors = False
    try:
        match = re2.compile(pattern, options).search(value)
    except (re2.error, UnicodeEncodeError):
        return None
    return None if match else f"must match {pattern}"


def _wrong_list(value: Json, field: JsonObject) -> str | None:
    if not isinstance(value, list):
        return None
    return _wrong_count(len(value), field, ("minItems", "maxItems"), "choices")


def _wrong_count(count: int, field: JsonObject, keys: tuple[str, str], noun: str) -> str | None:
    least, most = (field.get(key) for key in keys)
    if _is_number(least) and count < least:
        return f"must have at least {_plain(least)} {noun}"
    if _is_number(most) and count > most:
        return f"must have at most {_plain(most)} {noun}"
    return None


def _plain(number: float) -> str:
    return str(int(number)) if number == number // 1 else str(number)


def _is_date(text: str) -> bool:
    match = _DATE.fullmatch(text)
    if match is None:
        return False
    year, month, day = map(int, match.groups())
    if not 1 <= month <= 12 or not 1 <= day <= _DAYS[month - 1]:
        return False
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return month != 2 or day < 29 or leap


def _is_date_time(text: str) -> bool:
    date, time = text[:10], _TIME.fullmatch(text[11:])
    if not _is_date(date) or text[10:11] not in ("T", "t", " ") or time is None:
        return False
    hours, minutes, seconds, *offset = (int(part or 0) for part in time.groups())
    return max(hours, offset[0]) < 24 and max(minutes, offset[1]) < 60 and seconds <= 60


_FORMATS: Mapping[str, tuple[Callable[[str], bool], str]] = {
    "email": (lambda text: _EMAIL.fullmatch(text) is not None, "an e-mail address"),
    "uri": (lambda text: _URI.fullmatch(text) is not None, "a URI"),
    "date": (_is_date, "a date like 2026-07-28"),
    "date-time": (_is_date_time, "a date and time like 2026-07-28T12:00:00Z"),
}
_RULES = (_wrong_number, _wrong_text, _wrong_list)
