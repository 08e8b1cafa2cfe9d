"""Prompts of a project: which files are prompts, and what their items say."""

from __future__ import annotations

from typing import Any

from toolyard.protocol.values import JsonObject
from toolyard.sources.project.discover.files import completion_beside, entries_in, is_program
from toolyard.sources.project.discover.metadata import (
    Metadata,
    MetadataError,
    checked,
    name_of,
    normalised,
)
from toolyard.sources.project.discover.walk import (
    META_SUFFIX,
    File,
    Folder,
    Walk,
    is_document,
    metadata_file,
    stem_of,
)
from toolyard.sources.project.items import unique

FIELDS = frozenset({"name", "title", "description", "arguments", "icons", "_meta"})
ROLES = ("user", "assistant")
_SET_FIRST = ("name", "description", "path", "inputSchema", "arguments", "role")


def discover_prompts(walk: Walk, metadata: Metadata) -> list[JsonObject]:
    items: list[JsonObject] = []
    for folder in walk.folders():
        _warn_of_lone_metadata(folder, walk.warnings)
        for file in entries_in(folder):
            try:
                items.append(_item(walk, folder, file, metadata))
            except MetadataError as problem:
                walk.warnings.append(str(problem))
    items.sort(key=_by_name_and_path)
    return unique(items, "name", "prompt", walk.warnings, walk.root)


def _item(walk: Walk, folder: Folder, file: File, metadata: Metadata) -> JsonObject:
    meta_file = metadata_file(folder, file.name)
    place = meta_file.path if meta_file else file.path
    meta = checked(metadata.read(meta_file) if meta_file else {}, place, walk.warnings)
    schema, arguments = arguments_of(meta, place)
    item: JsonObject = {
        "name": name_of(meta, stem_of(file.name), place),
        "description": meta.get("description", ""),
        "path": walk.relative(file),
        "inputSchema": schema,
        "arguments": arguments,
        "role": role_of(meta, place, walk.warnings),
    }
    item.update((name, value) for name, value in meta.items() if name not in _SET_FIRST)
    if is_program(file):
        item["executable"] = True
    script = completion_beside(folder, file.name)
    if script is not None:
        item["completion"] = walk.relative(script)
    return item


def arguments_of(meta: JsonObject, place: str) -> tuple[JsonObject, list[JsonObject]]:
    """Arguments are a schema or MCP's list; both forms are kept."""
    arguments = meta.get("inputSchema")
    if arguments is None:
        arguments = meta.get("arguments")
    if arguments is None:
        return {"type": "object", "properties": {}}, []
    if isinstance(arguments, dict):
        schema = normalised(arguments)
        return schema, _as_list(schema)
    if isinstance(arguments, list) and all(_is_argument(argument) for argument in arguments):
        return _as_schema(arguments), arguments
    raise MetadataError(f"{place}: arguments must be a schema or a list of arguments; skipped")


def _is_argument(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("name"), str)


def _as_list(schema: JsonObject) -> list[JsonObject]:
    names = schema.get("required")
    required_names = names if isinstance(names, list) else []
    return [
        {
            "name": name,
            **{key: about[key] for key in ("title", "description") if _has_text(about, key)},
            "required": name in required_names,
        }
        for name, about in schema["properties"].items()
    ]


def _has_text(about: Any, key: str) -> bool:
    return isinstance(about, dict) and isinstance(about.get(key), str)


def _as_schema(arguments: list[JsonObject]) -> JsonObject:
    return {
        "type": "object",
        "properties": {
            argument["name"]: {
                "type": "string",
                **{
                    key: argument[key]
                    for key in ("title", "description")
                    if _has_text(argument, key)
                },
            }
            for argument in arguments
        },
        "required": [
            argument["name"] for argument in arguments if argument.get("required") is True
        ],
    }


def role_of(meta: JsonObject, place: str, warnings: list[str]) -> str:
    role = meta.get("role", "user")
    if role in ROLES:
        return str(role)
    warnings.append(f"{place}: role must be one of {', '.join(ROLES)}; user is used")
    return "user"


def _warn_of_lone_metadata(folder: Folder, warnings: list[str]) -> None:
    stems = {stem_of(name) for name in folder.files} | set(folder.files)
    for name, file in folder.files.items():
        if name.endswith(META_SUFFIX) and not is_document(name):
            bare = name.removesuffix(META_SUFFIX)
            other_stems = stems - {name, stem_of(name)}
            if bare not in other_stems:
                warnings.append(f"{file.path}: there is no prompt beside it; skipped")


def _by_name_and_path(item: JsonObject) -> tuple[str, str]:
    return item["name"], item["path"]
