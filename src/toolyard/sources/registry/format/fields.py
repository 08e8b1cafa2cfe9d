"""Which fields the parts of a registry have, and of which kind, as tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from toolyard.errors import did_you_mean
from toolyard.protocol.call import Json, JsonObject
from toolyard.sources.registry.format.report import Report
from toolyard.virtual.subschemas import escape


class FieldKind(NamedTuple):
    phrase: str
    fits: Callable[[Json], bool]


def one_of(*values: str) -> FieldKind:
    shown = ", ".join(f'"{value}"' for value in values)
    return FieldKind(f"one of {shown}", lambda value: isinstance(value, str) and value in values)


def _texts(value: Json) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _text_map(value: Json) -> bool:
    return isinstance(value, dict) and all(isinstance(one, str) for one in value.values())


def _seconds(value: Json) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0


ANYTHING = FieldKind("anything", lambda value: True)
TEXT = FieldKind("a string", lambda value: isinstance(value, str))
NAME = FieldKind("a string that is not empty", lambda value: isinstance(value, str) and value != "")
OBJECT = FieldKind("an object", lambda value: isinstance(value, dict))
LIST = FieldKind("a list", lambda value: isinstance(value, list))
FLAG = FieldKind("true or false", lambda value: isinstance(value, bool))
REASON = FieldKind("true, false or the reason", lambda value: isinstance(value, (bool, str)))
SECONDS = FieldKind("a number of seconds above 0", _seconds)
TEXTS = FieldKind("a list of strings", _texts)
TEXT_MAP = FieldKind("an object whose values are strings", _text_map)

FILE: Mapping[str, FieldKind] = {
    "schemaVersion": TEXT,
    "servers": LIST,
    "schemas": OBJECT,
    "tools": LIST,
    "project": OBJECT,
}
PROJECT: Mapping[str, FieldKind] = {
    "expose": FieldKind(
        '"all", "none" or a list of glob patterns',
        lambda value: value in ("all", "none") if isinstance(value, str) else _texts(value),
    )
}
SERVER: Mapping[str, FieldKind] = {
    "name": NAME,
    "description": TEXT,
    "stdio": OBJECT,
    "url": NAME,
    "env": TEXT_MAP,
    "headers": TEXT_MAP,
    "transport": TEXT,
    "auth": one_of("none", "oauth"),
    "oauth": OBJECT,
    "timeoutSecs": SECONDS,
    "expose": FieldKind(
        '"listed", "all" or a list of glob patterns',
        lambda value: value in ("listed", "all") if isinstance(value, str) else _texts(value),
    ),
    "prefix": TEXT,
    "share": one_of("safe", "always"),
    "validate": FLAG,
    "disabled": REASON,
}
_GRANTS = ("authorization_code", "client_credentials", "jwt_bearer", "enterprise")
OAUTH: Mapping[str, FieldKind] = {
    "grant": FieldKind(
        f"one of {', '.join(_GRANTS)}",
        lambda value: isinstance(value, str) and (value in _GRANTS or "${" in value),
    ),
    "clientId": TEXT,
    "clientSecret": TEXT,
    "issuer": TEXT,
    "scopes": FieldKind("a list of strings", lambda value: isinstance(value, str) or _texts(value)),
    "privateKey": TEXT,
    "algorithm": TEXT,
    "assertion": TEXT,
    "idpTokenEndpoint": TEXT,
    "idpClientId": TEXT,
    "idToken": TEXT,
}
STDIO: Mapping[str, FieldKind] = {"command": NAME, "args": TEXTS, "cwd": NAME}
TOOL: Mapping[str, FieldKind] = {
    "name": NAME,
    "server": NAME,
    "source": NAME,
    "originalName": NAME,
    "title": TEXT,
    "description": TEXT,
    "inputSchema": OBJECT,
    "outputSchema": OBJECT,
    "outputTransform": OBJECT,
    "spec": OBJECT,
    "defaults": OBJECT,
    "annotations": OBJECT,
    "version": TEXT,
    "sourceVersionPin": TEXT,
    "expectedSchemaHash": ANYTHING,  # what cannot match is a mismatch
    "validationMode": one_of("strict", "warn", "skip"),
    "textExtraction": OBJECT,
    "auth": one_of("none", "oauth"),
    "hideFields": TEXTS,
    "hidden": FLAG,
    "timeoutSecs": SECONDS,
    "tags": TEXTS,
}
TEXT_EXTRACTION: Mapping[str, FieldKind] = {
    "parser": one_of("markdown_numbered_list", "markdown_bullet_list"),
    "list_field": NAME,
    "item_patterns": OBJECT,
}
_TRANSFORMS = ("remove_commas", "lowercase", "uppercase", "strip")
ITEM_PATTERN: Mapping[str, FieldKind] = {
    "regex": NAME,
    "required": FLAG,
    "type": one_of("string", "integer", "number", "float", "boolean"),
    "transform": FieldKind(
        f"one of {', '.join(_TRANSFORMS)}, or a list of them",
        lambda value: (
            value in _TRANSFORMS
            if isinstance(value, str)
            else _texts(value) and set(value) <= set(_TRANSFORMS)
        ),
    ),
    "multiline": FLAG,
}


def read_fields(
    raw: JsonObject, table: Mapping[str, FieldKind], pointer: str, report: Report
) -> JsonObject:
    """The known fields that are of their kind; the others become problems, or notes if unknown."""
    read: JsonObject = {}
    for key, value in raw.items():
        at = f"{pointer}/{escape(key)}"
        if key not in table:
            if key != "$comment":
                report.note(at, f"unknown key, ignored{did_you_mean(key, table)}")
        elif value is None:
            continue
        elif table[key].fits(value):
            read[key] = value
        else:
            report.problem(at, f"must be {table[key].phrase}")
    return read
