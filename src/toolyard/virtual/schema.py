"""A schema as clients see it: references resolved, hidden fields gone. Knows no tools."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterator
from typing import TypeGuard
from urllib.parse import unquote

from toolyard.files.pointers import escape, unescape
from toolyard.protocol.call import Json, JsonObject
from toolyard.virtual.subschemas import IN_PLACE_LISTS, rebuild, walk

# Without a limit, a file of a few lines could unfold to gigabytes: each schema twice in the next.
MAX_SUBSCHEMAS = 20_000

_ANNOTATIONS = frozenset(
    {
        *("title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"),
        *("$comment", "source_field"),
    }
)


class BadReference(ValueError):
    """A reference into the file that leads nowhere, or only to itself."""


class References:
    """The references of one registry file: resolves any of its schemas, and changes none."""

    def __init__(self, document: JsonObject) -> None:
        self._document = document
        self._recursive: dict[str, bool] = {}

    def resolve(self, schema: Json) -> Json:
        """A self-contained copy: references are inlined, recursive ones lead to `$defs`."""
        return _Resolution(self).of(schema)

    def names(self) -> list[str]:
        """The references to the schemas of the file's `schemas` section."""
        return [f"#/schemas/{escape(name)}" for name in self._document.get("schemas", ())]

    def target(self, ref: str) -> Json:
        value: Json = self._document
        for token in _tokens(ref):
            value = _child(value, token)
            if value is None:
                raise BadReference(f"no schema at {ref!r}")
        if not isinstance(value, (dict, bool)):
            raise BadReference(f"{ref!r} is not a schema")
        return value

    def recursive(self, ref: str) -> bool:
        if ref not in self._recursive:
            self._recursive[ref] = ref in self._reachable(ref)
        return self._recursive[ref]

    def check(self, ref: str) -> None:
        """Refuse a reference that leads nowhere, or only through references back to itself."""
        chain = [ref]
        target = self.target(ref)
        while isinstance(target, dict) and is_ours(target.get("$ref")):
            if target["$ref"] in chain:
                raise BadReference(
                    f"references only each other: {' -> '.join(chain)} -> {chain[0]}"
                )
            chain.append(target["$ref"])
            target = self.target(target["$ref"])

    def _reachable(self, ref: str) -> set[str]:
        refs: set[str] = set()
        todo = [ref]
        while todo:
            for below in refs_in(self.target(todo.pop())):
                if below not in refs:
                    refs.add(below)
                    todo.append(below)
        return refs


class _Resolution:
    """One schema on its way to being self-contained, and the `$defs` it has gathered."""

    def __init__(self, references: References) -> None:
        self._references = references
        self._names: dict[str, str] = {}
        self._defs: JsonObject = {}
        self._names_in_use: set[str] = set()
        self._allowance = MAX_SUBSCHEMAS

    def of(self, schema: Json) -> Json:
        if not isinstance(schema, dict):
            return copy.deepcopy(schema)
        definitions = schema.get("$defs")
        self._names_in_use = set(definitions) if isinstance(definitions, dict) else set()
        resolution = self._resolve(schema)
        if not self._defs or not isinstance(resolution, dict):
            return resolution
        definitions = resolution.get("$defs")
        own = definitions if isinstance(definitions, dict) else {}
        return {**resolution, "$defs": {**own, **self._defs}}

    def _resolve(self, schema: JsonObject) -> Json:
        self._allowance -= 1
        if self._allowance < 0:
            raise BadReference(f"the references unfold to over {MAX_SUBSCHEMAS} schemas")
        ref = schema.get("$ref")
        if not is_ours(ref):
            return rebuild(schema, self._resolve)
        siblings = {key: value for key, value in schema.items() if key != "$ref"}
        return self._merged(ref, rebuild(siblings, self._resolve))

    def _merged(self, ref: str, siblings: JsonObject) -> Json:
        self._references.check(ref)
        if self._references.recursive(ref):
            return {"$ref": f"#/$defs/{self._named(ref)}", **siblings}
        target = self._references.target(ref)
        resolution = self._resolve(target) if isinstance(target, dict) else target
        return merge(resolution, siblings)

    def _named(self, ref: str) -> str:
        if ref not in self._names:
            name = self._names[ref] = self._free_name(ref)
            target = self._references.target(ref)
            self._defs[name] = self._resolve(target) if isinstance(target, dict) else target
        return self._names[ref]

    def _free_name(self, ref: str) -> str:
        last_token = _tokens(ref)[-1]
        name = "".join(char if char.isalnum() or char in "_-." else "_" for char in last_token)
        free, number = name, 2
        while free in self._names_in_use:
            free, number = f"{name}_{number}", number + 1
        self._names_in_use.add(free)
        return free


def merge(target: Json, siblings: JsonObject) -> Json:
    """A referenced schema and the keywords beside the reference: both apply."""
    if not siblings or target is False:
        return target
    if target is True:
        return siblings
    clash = (siblings.keys() & target.keys()) - _ANNOTATIONS
    if clash or ("additionalProperties" in target and not siblings.keys() <= _ANNOTATIONS):
        return {**siblings, "allOf": [*siblings.get("allOf", ()), target]}
    return {**target, **siblings}


def refs_in(schema: Json) -> Iterator[str]:
    for _, sub in walk(schema):
        ref = sub.get("$ref")
        if is_ours(ref):
            yield ref


def is_ours(ref: Json) -> TypeGuard[str]:
    return isinstance(ref, str) and ref.startswith(("#/schemas/", "#/tools/"))


def _tokens(ref: str) -> list[str]:
    return [unescape(unquote(token)) for token in ref.split("/")[1:]]


def _child(value: Json, token: str) -> Json:
    if isinstance(value, dict):
        return value.get(token)
    if isinstance(value, list) and token.isascii() and token.isdigit() and int(token) < len(value):
        return value[int(token)]
    return None


def without_source_fields(schema: Json) -> Json:
    """The schema as advertised: the keyword goes, a property of that name stays."""
    if not isinstance(schema, dict):
        return copy.deepcopy(schema)
    keywords = {key: value for key, value in schema.items() if key != "source_field"}
    return rebuild(keywords, without_source_fields)


def hide(schema: JsonObject, fields: Collection[str]) -> JsonObject:
    """Take fields out of `properties` and `required`, in every schema of the root's instance."""
    return _hidden(schema, frozenset(fields), schema, 0) if fields else schema


def _hidden(schema: JsonObject, fields: frozenset[str], root: JsonObject, depth: int) -> JsonObject:
    schema = followed(schema, root)
    if depth > 16:
        return schema
    result = dict(schema)
    if isinstance(schema.get("properties"), dict):
        properties = {k: v for k, v in schema["properties"].items() if k not in fields}
        result["properties"] = properties
    if isinstance(schema.get("required"), list):
        result["required"] = _others(schema["required"], fields)
        if not result["required"]:
            del result["required"]
    if isinstance(schema.get("dependentRequired"), dict):
        result["dependentRequired"] = {
            key: _others(names, fields) if isinstance(names, list) else names
            for key, names in schema["dependentRequired"].items()
            if key not in fields
        }
    for key in IN_PLACE_LISTS:
        if isinstance(schema.get(key), list):
            result[key] = [
                _hidden(sub, fields, root, depth + 1) if isinstance(sub, dict) else sub
                for sub in schema[key]
            ]
    for key in ("if", "then", "else"):
        if isinstance(schema.get(key), dict):
            result[key] = _hidden(schema[key], fields, root, depth + 1)
    return result


def _others(names: list[Json], fields: frozenset[str]) -> list[Json]:
    """The names without the hidden ones; a stranger's list may hold anything."""
    return [name for name in names if not (isinstance(name, str) and name in fields)]


def followed(schema: JsonObject, root: JsonObject) -> JsonObject:
    """The schema without a reference at its root: others may refer to the same definition."""
    for _ in range(16):
        ref = schema.get("$ref")
        if not isinstance(ref, str) or not ref.startswith(("#/$defs/", "#/definitions/")):
            return schema
        target: Json = root
        for token in _tokens(ref):
            target = _child(target, token)
        if not isinstance(target, dict):
            return schema
        siblings = {key: value for key, value in schema.items() if key != "$ref"}
        union = merge(target, siblings)
        assert isinstance(union, dict)
        schema = union
    return schema


def required_fields(schema: JsonObject) -> frozenset[str]:
    """The fields that every valid instance must have."""
    return frozenset(
        name
        for part in _always(schema, schema)
        if isinstance(part.get("required"), list)
        for name in part["required"]
        if isinstance(name, str)
    )


def mentions(schema: JsonObject, field: str) -> bool:
    """Can a client tell from this schema that it may send the field?"""
    parts = list(_always(schema, schema, every=True))
    is_closed = any(part.get("additionalProperties") is False for part in parts)
    property_maps = [
        part["properties"] for part in parts if isinstance(part.get("properties"), dict)
    ]
    if not property_maps and not is_closed:
        return True
    return any(field in properties for properties in property_maps)


def property_names(schema: JsonObject) -> frozenset[str]:
    """The properties that the schema speaks of, in all its parts."""
    parts = _always(schema, schema, every=True)
    maps = (part["properties"] for part in parts if isinstance(part.get("properties"), dict))
    return frozenset(name for properties in maps for name in properties)


def _always(
    schema: JsonObject, root: JsonObject, every: bool = False, depth: int = 0
) -> Iterator[JsonObject]:
    """The schemas that apply to the same instance: always, or (`every`) possibly."""
    schema = followed(schema, root)
    yield schema
    if depth > 16:
        return
    for key in IN_PLACE_LISTS if every else ("allOf",):
        subs = schema.get(key)
        for sub in subs if isinstance(subs, list) else ():
            if isinstance(sub, dict):
                yield from _always(sub, root, every, depth + 1)
