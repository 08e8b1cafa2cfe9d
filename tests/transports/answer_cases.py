"""Fields of forms, values for them, and what is said of those that do not fit.

The server and the page judge by the same rules: both are held to this table.
"""

from __future__ import annotations

from typing import Any

TEXT = {"type": "string"}
PEOPLE = {"type": "integer", "minimum": 1, "maximum": 8}
TITLED = {"type": "string", "oneOf": [{"const": "s", "title": "Small"}, {"const": "l"}]}
SEVERAL = {
    "type": "array",
    "items": {"type": "string", "enum": ["mon", "tue", "wed"]},
    "minItems": 1,
    "maxItems": 2,
}
SEVERAL_TITLED = {"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}}
EMAIL, URI = {**TEXT, "format": "email"}, {**TEXT, "format": "uri"}
DATE, MOMENT = {**TEXT, "format": "date"}, {**TEXT, "format": "date-time"}
IS_DATE, IS_MOMENT = "must be a date like 2026-07-28", "must be a date and time like"

# (the field, a value, what is wrong with it or None)
CASES: list[tuple[Any, Any, str | None]] = [
    (TEXT, "x", None),
    (TEXT, "", None),
    (TEXT, 1, "must be text"),
    (TEXT, None, "must be text"),
    ({"type": ["string", "null"]}, None, None),
    ({"type": ["string", "number"]}, True, "must be text or a number"),
    ({**TEXT, "minLength": 3}, "añ", "must have at least 3 characters"),
    ({**TEXT, "minLength": 2, "maxLength": 2}, "a𝄞", None),
    ({**TEXT, "maxLength": 2}, "abc", "must have at most 2 characters"),
    (PEOPLE, 8, None),
    (PEOPLE, 8.0, None),
    (PEOPLE, 99, "must be at most 8"),
    (PEOPLE, 0, "must be at least 1"),
    (PEOPLE, 2.5, "must be a whole number"),
    (PEOPLE, "3", "must be a whole number"),
    (PEOPLE, True, "must be a whole number"),
    ({"type": "number", "minimum": 0.5}, 0.25, "must be at least 0.5"),
    ({"type": "number"}, 1, None),
    ({"type": "number"}, 10**30, None),
    ({"type": "number"}, False, "must be a number"),
    ({"type": "number", "exclusiveMinimum": 0}, 0, "must be above 0"),
    ({"type": "number", "exclusiveMaximum": 1}, 1, "must be below 1"),
    ({"type": "boolean"}, False, None),
    ({"type": "boolean"}, 0, "must be true or false"),
    ({"type": "boolean"}, "yes", "must be true or false"),
    ({**TEXT, "enum": ["r", "g"], "enumNames": ["Red", "Green"]}, "g", None),
    ({**TEXT, "enum": ["r", "g"], "enumNames": ["Red", "Green"]}, "Red", "must be one of r, g"),
    ({"enum": [1, "x"]}, True, "must be one of 1, x"),
    ({"const": "x"}, "y", "must be one of x"),
    (TITLED, "l", None),
    (TITLED, "Small", "must be one of s, l"),
    (SEVERAL, ["mon", "wed"], None),
    (SEVERAL, [], "must have at least 1 choices"),
    (SEVERAL, ["mon", "tue", "wed"], "must have at most 2 choices"),
    (SEVERAL, "mon", "must be a list"),
    (SEVERAL_TITLED, ["a"], None),
    (EMAIL, "a@b.example", None),
    (EMAIL, "a b@c", "must be an e-mail address"),
    (EMAIL, "nobody", "must be an e-mail address"),
    (URI, "https://example.com/x?y#z", None),
    (URI, "example.com", "must be a URI"),
    (URI, "https://a b", "must be a URI"),
    (DATE, "2028-02-29", None),
    (DATE, "2026-02-29", IS_DATE),
    (DATE, "2026-13-01", IS_DATE),
    (DATE, "2026-7-28", IS_DATE),
    (DATE, "2026-07-28T00:00:00Z", IS_DATE),
    (MOMENT, "2026-07-28T12:00:00Z", None),
    (MOMENT, "2026-07-28t12:00:00.25+02:00", None),
    (MOMENT, "2026-07-28T12:00:00", IS_MOMENT),
    (MOMENT, "2026-07-28T25:00:00Z", IS_MOMENT),
    (MOMENT, "2026-07-28", IS_MOMENT),
    ({**TEXT, "format": "postcode"}, "anything", None),
    ({"type": "object"}, {}, None),
    ({"type": "unheard-of"}, 1, None),
    (True, 1, None),
]
# Inside of a value the two say the place differently.
INSIDE: list[tuple[Any, Any]] = [
    (SEVERAL, ["sun"]),
    (SEVERAL_TITLED, ["A"]),
    ({"type": "array", "items": TEXT}, ["a", 1]),
    ({"type": "object", "properties": {"a": TEXT}, "required": ["a"]}, {}),
    ({"type": "object", "properties": {"a": TEXT}}, {"a": 1}),
]
