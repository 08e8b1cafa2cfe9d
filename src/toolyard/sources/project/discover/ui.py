"""Pages for MCP Apps: `tools/NAME/ui/` and `ui/NAME/`, as resources with a ui:// URI."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from toolyard.protocol.values import JsonObject
from toolyard.sources.project.discover.metadata import Metadata, MetadataError, checked
from toolyard.sources.project.discover.walk import Folder, Walk
from toolyard.sources.project.layout import PAGE_PREFIX, Project

MIME_TYPE = "text/html;profile=mcp-app"
PAGE_FILES = frozenset({"index.html", "ui.meta.json"})
TEMPLATES = ("form", "data-table", "progress", "diff-viewer", "tree-view", "kanban")
_CSP = ("connectDomains", "resourceDomains", "frameDomains", "baseUriDomains")


def is_page(folder: Folder) -> bool:
    return not PAGE_FILES.isdisjoint(folder.files)


def discover_pages(
    own: list[Folder], walk: Walk, metadata: Metadata, server: str, project: Project
) -> list[JsonObject]:
    """The pages beside tools (`own`), then those in the folder for pages; first of a name wins."""
    items: dict[str, JsonObject] = {}
    for name, folder in (*_beside_tools(own), *_shared(walk)):
        try:
            item = _item(folder, metadata, project.root, walk.warnings)
            item |= {"name": project.page_prefix + name, "uri": f"ui://{server}/{name}"}
        except MetadataError as problem:
            walk.warnings.append(str(problem))
            continue
        if items.setdefault(item["uri"], item) is not item:
            walk.warnings.append(f"{folder.path}: there is already a page {item['uri']}; skipped")
    return list(items.values())


def named_apart(pages: list[JsonObject], resources: list[JsonObject]) -> list[JsonObject]:
    """A page with the name of a resource gets our prefix, to tell them apart."""
    names = {item["name"] for item in resources}
    return [
        {**page, "name": PAGE_PREFIX + page["name"]} if page["name"] in names else page
        for page in pages
    ]


def _beside_tools(own: list[Folder]) -> Iterator[tuple[str, Folder]]:
    for folder in own:
        yield os.path.basename(os.path.dirname(folder.relative)), folder


def _shared(walk: Walk) -> Iterator[tuple[str, Folder]]:
    for folder in walk.folders():
        if folder.relative and "/" not in folder.relative and is_page(folder):
            yield folder.relative, folder


def _item(folder: Folder, metadata: Metadata, root: str, warnings: list[str]) -> JsonObject:
    meta_file = folder.files.get("ui.meta.json")
    place = meta_file.path if meta_file else folder.path
    meta = checked(metadata.read(meta_file) if meta_file else {}, place, warnings)
    item: JsonObject = {
        "name": "",
        "description": meta.get("description", ""),
        "page": os.path.relpath(folder.path, root),
        "uri": "",
        "mimeType": MIME_TYPE,
        "provider": "ui",
        "_meta": {"ui": _about(meta.get("meta"))},
    }
    if "title" in meta:
        item["title"] = meta["title"]
    if meta.get("template") is not None:
        return {**item, **_template(meta, place)}
    entrypoint = meta.get("entrypoint", "index.html")
    if entrypoint not in folder.files:
        raise MetadataError(f"{place}: there is no page {entrypoint!r} in this folder; skipped")
    return {**item, "entrypoint": entrypoint}


def _template(meta: JsonObject, place: str) -> JsonObject:
    template, config = meta["template"], meta.get("config", {})
    if template not in TEMPLATES:
        raise MetadataError(f"{place}: template must be one of {', '.join(TEMPLATES)}; skipped")
    if not isinstance(config, dict):
        raise MetadataError(f"{place}: config must be an object; skipped")
    return {"template": template, "config": config}


def _about(meta: Any) -> JsonObject:
    """What the client is told of a page: where it may connect, what it may use."""
    fields = meta if isinstance(meta, dict) else {}
    csp = fields.get("csp")
    about: JsonObject = {"prefersBorder": fields.get("prefersBorder") is not False}
    if isinstance(csp, dict):
        about["csp"] = {key: csp[key] for key in _CSP if isinstance(csp.get(key), list)}
    if fields.get("permissions"):
        about["permissions"] = fields["permissions"]
    return about
