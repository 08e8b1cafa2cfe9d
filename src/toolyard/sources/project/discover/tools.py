"""Tools of a project: which files are tools, and what their items say."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from toolyard.protocol.values import JsonObject
from toolyard.sources.project.discover.metadata import (
    Metadata,
    MetadataError,
    checked,
    head,
    inline,
    name_of,
    schema_of,
)
from toolyard.sources.project.discover.ui import is_page
from toolyard.sources.project.discover.walk import (
    META_SUFFIX,
    File,
    Folder,
    Stamps,
    Walk,
    is_document,
    metadata_file,
    stem_of,
)
from toolyard.sources.project.items import split, unique

FIELDS = frozenset(
    {"name", "title", "description", "inputSchema", "outputSchema", "annotations", "icons", "_meta"}
    | {"execution"}
)
RUNNABLE = (b"#!", b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"MZ")


class FoundTools(NamedTuple):
    items: list[JsonObject]
    pages: list[Folder]  # the folders `ui` beside tools


def discover_tools(walk: Walk, metadata: Metadata, server: str) -> FoundTools:
    warnings = walk.warnings
    items: list[JsonObject] = []
    pages: list[Folder] = []
    for folder in walk.folders():
        if _is_own_page(folder):
            pages.append(folder)
            continue
        for file, meta_file in tools_in(folder):
            try:
                items.append(_known_item(walk, file, meta_file, metadata))
            except MetadataError as problem:
                warnings.append(str(problem))
    items.sort(key=_by_name)
    items = _told_apart(items, walk, metadata)
    folders = {os.path.dirname(page.relative) for page in pages}
    if folders:
        items = [_with_page(item, folders, server) for item in items]
    return FoundTools(unique(items, "name", "tool", warnings, walk.root), pages)


def _told_apart(items: list[JsonObject], walk: Walk, metadata: Metadata) -> list[JsonObject]:
    """Two scripts without a name of their own, in files of the same name, are both on offer.

    The first keeps the name of its file, each further one takes that of its folder.
    """
    nameless = [item for item in items if item["path"] in metadata.nameless]
    if len({item["name"] for item in nameless}) == len(nameless):
        return items
    names: set[str] = set()
    new_items: dict[str, JsonObject] = {}
    for item in nameless:
        name, folder = item["name"], os.path.basename(os.path.dirname(item["path"]))
        if name in names and folder:
            new_items[item["path"]] = {**item, "name": folder}
            place = os.path.join(walk.root, item["path"])
            why = f"there is already a tool {name!r}; without a name of its own it is {folder!r}"
            walk.warnings.append(f"{place}: {why}")
        names.add(name)
    return sorted((new_items.get(item["path"], item) for item in items), key=_by_name)


def tools_in(folder: Folder) -> Iterator[tuple[File, File | None]]:
    """The tools in one folder, each with its metadata file."""
    candidates = [
        (file, metadata_file(folder, name))
        for name, file in folder.files.items()
        if not name.endswith(META_SUFFIX) and not is_document(name)
    ]
    has_metadata = any(meta for _, meta in candidates)
    for file, meta in candidates:
        if file.executable or ((meta or not has_metadata) and _is_script(file)):
            yield file, meta


def _is_own_page(folder: Folder) -> bool:
    return folder.relative.endswith("/ui") and is_page(folder)


def _is_script(file: File) -> bool:
    """A file without the executable bit: a script by its name or its first line."""
    return file.name.endswith((".sh", ".bash")) or head(file.path, 2) == b"#!"


def _known_item(walk: Walk, file: File, meta_file: File | None, metadata: Metadata) -> JsonObject:
    """The item of the last scan where neither script nor metadata has changed since."""
    stamp = meta_file.stamp if meta_file else 0
    former = metadata.items.get(file.path)
    if former is not None and former[0] == file.stamp and former[1] == stamp:
        return former[2]
    before = len(walk.warnings)
    item = _item(walk, file, meta_file, metadata)
    if len(walk.warnings) == before:  # what is warned of is looked at again each time
        metadata.items[file.path] = (file.stamp, stamp, item)
    return item


def _item(walk: Walk, file: File, meta_file: File | None, metadata: Metadata) -> JsonObject:
    meta = metadata.read(meta_file) if meta_file else inline(head(file.path), file.path)
    place = meta_file.path if meta_file else file.path
    meta = checked(meta, place, walk.warnings)
    path = walk.relative(file)
    (metadata.nameless.discard if "name" in meta else metadata.nameless.add)(path)
    item: JsonObject = {
        "name": name_of(meta, stem_of(file.name), place),
        "description": meta.get("description", ""),
        "path": path,
        "inputSchema": schema_of(meta, place),
        "timeoutSecs": None,
    }
    for field, value in meta.items():
        if field not in _SET_ABOVE:
            item[field] = value
    if "taskSupport" in meta:
        item["execution"] = {**item.get("execution", {}), "taskSupport": meta["taskSupport"]}
    return item


_SET_ABOVE = frozenset({"name", "description", "path", "inputSchema", "arguments", "taskSupport"})


def _with_page(item: JsonObject, folders: set[str], server: str) -> JsonObject:
    """A tool with a page of its own (`ui/` beside it) points clients at it."""
    folder = os.path.dirname(item["path"])
    if folder not in folders:
        return item
    meta: JsonObject = item.get("_meta", {})
    page_meta = meta.get("ui")
    defaults = {
        "resourceUri": f"ui://{server}/{os.path.basename(folder)}",
        "visibility": ["model", "app"],
    }
    ui = page_meta if isinstance(page_meta, dict) else {}
    return item if "resourceUri" in ui else {**item, "_meta": {**meta, "ui": {**defaults, **ui}}}


def unrunnable(
    items: Iterable[JsonObject], root: str, stamps: Stamps, metadata: Metadata
) -> Iterator[str]:
    """The discovered scripts that no system can start. Looking into each would slow a list down:
    nothing waits for this."""
    real, runnable_stamps = os.path.realpath(root), metadata.runnable
    for item in items:
        path = f"{real}/{item.get('path', '')}"
        stamp = stamps.get(path)
        if stamp is None or runnable_stamps.get(path) == stamp:
            continue
        if head(path, 4).startswith(RUNNABLE):
            runnable_stamps[path] = stamp
        else:
            yield f"{path}: has no interpreter line (#!)"


def definition_of(item: JsonObject) -> JsonObject:
    """What clients see of a tool."""
    return split(item, FIELDS)[0]


def _by_name(item: JsonObject) -> tuple[str, str]:
    return item["name"], item["path"]
