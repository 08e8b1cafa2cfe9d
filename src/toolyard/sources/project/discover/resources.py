"""Resources and templates of a project: which files are which, and what their items say."""

from __future__ import annotations

import os
from collections.abc import Iterator

from toolyard.catalog.uritemplate import NotATemplate, parse
from toolyard.files.beneath import is_below
from toolyard.protocol.values import JsonObject
from toolyard.sources.project.discover.files import (
    completion_beside,
    entries_in,
    is_program,
    type_by_name,
)
from toolyard.sources.project.discover.metadata import (
    FoundResources,
    FoundThen,
    Metadata,
    MetadataError,
    checked,
    head,
    inline,
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

FIELDS = frozenset(
    {"name", "title", "uri", "description", "mimeType", "annotations", "icons", "size", "_meta"}
)
TEMPLATE_FIELDS = (FIELDS - {"uri", "size"}) | {"uriTemplate"}
_SET_FIRST = ("name", "description", "path", "inputSchema", "uri", "mimeType", "provider")


def discover_resources(walk: Walk, metadata: Metadata, providers: frozenset[str]) -> FoundResources:
    """`providers` are the names of the project's own."""
    total, warnings = FoundResources([], [], [], []), walk.warnings
    for folder in walk.folders():
        here = _known_folder(walk, folder, metadata, providers)
        total.resources.extend(here.resources)
        total.templates.extend(here.templates)
        total.strays.extend(here.strays)
        total.bare.extend(here.bare)
    resources = sorted(_without_doubles(total, walk.root), key=_by_name_and_uri)
    total.templates.sort(key=_by_name)
    resources = unique(resources, "name", "resource", warnings, walk.root)
    return FoundResources(
        unique(resources, "uri", "resource", warnings, walk.root),
        unique(total.templates, "name", "template", warnings, walk.root),
        total.strays,
        total.bare,
    )


def _without_doubles(total: FoundResources, root: str) -> list[JsonObject]:
    """Without the files that metadata beside another name describes by their URI."""
    bare = set(total.bare)
    paths_described = {
        os.path.realpath(_path_in(item["uri"]))
        for item in total.resources
        if "path" not in item and item["uri"].startswith("file:///")
    }
    doubles = (
        {path for path in bare if f"{root}/{path}" in paths_described} if paths_described else set()
    )
    return [item for item in total.resources if item.get("path") not in doubles]


def _known_folder(
    walk: Walk, folder: Folder, metadata: Metadata, providers: frozenset[str]
) -> FoundResources:
    """What the last scan made of a folder, where the walk knows that nothing in it changed."""
    former = metadata.found.get(folder.path)
    if former is not None and former.files is folder.files and former.providers == providers:
        return former.found
    warnings_before = len(walk.warnings)
    discovery = _Discovery(walk, metadata, providers)
    contents = discovery.run(folder)
    if len(walk.warnings) == warnings_before and not discovery.looked_elsewhere:
        metadata.found[folder.path] = FoundThen(folder.files, providers, contents)
    return contents


class _Discovery:
    """Of the resources and templates in one folder."""

    def __init__(self, walk: Walk, metadata: Metadata, providers: frozenset[str]) -> None:
        self.walk = walk
        self.metadata = metadata
        self.providers = providers
        self.found = FoundResources([], [], [], [])
        self.looked_elsewhere = False  # something in it is about a file of another folder

    def run(self, folder: Folder) -> FoundResources:
        for file, meta in self._candidates(folder):
            try:
                self._take(folder, file, meta)
            except MetadataError as problem:
                self.walk.warnings.append(str(problem))
        return self.found

    def _candidates(self, folder: Folder) -> Iterator[tuple[File | None, File | None]]:
        """Files with their metadata, then metadata that has no file."""
        used: set[str] = set()
        for file in entries_in(folder):
            meta = metadata_file(folder, file.name)
            if meta is not None:
                used.add(meta.name)
            yield file, meta
        for name, meta in folder.files.items():
            if name.endswith(META_SUFFIX) and name not in used and not is_document(name):
                yield None, meta

    def _take(self, folder: Folder, file: File | None, meta_file: File | None) -> None:
        place = meta_file.path if meta_file else file.path if file else folder.path
        meta = self._metadata_of(file, meta_file, place)
        if file is not None and not meta and is_program(file):
            self.found.strays.append(self.walk.relative(file))
            return
        self.looked_elsewhere |= meta.get("path") is not None
        if meta.get("uriTemplate") is not None:
            item = template_item(meta, place, self.walk.root)
            self.found.templates.append(item)
        else:
            item = self._resource(file, meta, place)
            self.found.resources.append(item)
            if file is not None and not meta:
                self.found.bare.append(item["path"])
        script = completion_beside(folder, file.name if file else _bare(place))
        if script is not None:
            item["completion"] = self.walk.relative(script)

    def _metadata_of(self, file: File | None, meta_file: File | None, place: str) -> JsonObject:
        if meta_file is not None:
            meta = self.metadata.read(meta_file)
        else:
            meta = inline(head(file.path), file.path) if file else {}
        if not isinstance(meta.get("arguments", {}), dict):
            raise MetadataError(f"{place}: arguments must be an object; skipped")
        return checked(meta, place, self.walk.warnings)

    def _resource(self, file: File | None, meta: JsonObject, place: str) -> JsonObject:
        file = file or self._named(meta, place)
        uri = uri_of(meta, place) or (file_uri(file.path) if file else "")
        if not uri:
            raise MetadataError(f"{place}: has neither uri, uriTemplate nor a data file; skipped")
        program = file is not None and is_program(file)
        provider = provider_of(meta, uri, self.providers, place)
        if provider == "file" and file is None and not uri.startswith("file:"):
            raise MetadataError(f"{place}: nothing can read {uri!r}; skipped")
        item: JsonObject = {
            "name": name_of(meta, stem_of(file.name) if file else _bare(place), place),
            "description": meta.get("description", ""),
        }
        if file is not None:
            item["path"] = self.walk.relative(file)
        if isinstance(meta.get("inputSchema"), dict):
            item["inputSchema"] = normalised(meta["inputSchema"])
        item["uri"] = uri
        item["mimeType"] = meta.get("mimeType") or type_by_name(file.name if file else uri)
        item["provider"] = provider
        item.update((name, value) for name, value in meta.items() if name not in _SET_FIRST)
        if program:
            item["executable"] = True
        return item

    def _named(self, meta: JsonObject, place: str) -> File | None:
        """The file that the field `path` names."""
        if meta.get("path") is None:
            return None
        path = script_of(meta, place, self.walk.root)
        executable = os.access(path, os.X_OK)
        return File(os.path.basename(path), path, 0, executable)


def template_item(meta: JsonObject, place: str, root: str) -> JsonObject:
    """The item of a template; raises where it cannot be served."""
    template = meta.get("uriTemplate")
    if meta.get("uri") is not None:
        raise MetadataError(f"{place}: has both uri and uriTemplate; skipped")
    if not isinstance(template, str):
        raise MetadataError(f"{place}: uriTemplate must be text; skipped")
    try:
        parse(template)
    except NotATemplate as problem:
        raise MetadataError(f"{place}: uriTemplate {template!r}: {problem}; skipped") from None
    item = {"name": name_of(meta, _bare(place), place), **meta, "uriTemplate": template}
    if meta.get("path") is not None:
        item["path"] = script_of(meta, place, root)[len(root) + 1 :]
    return item


def script_of(meta: JsonObject, place: str, root: str) -> str:
    """The real path that `path` names: beside the metadata, or from the root of its kind."""
    path = meta["path"]
    if not isinstance(path, str) or "\0" in path:
        raise MetadataError(f"{place}: path must be text; skipped")
    for folder in (os.path.dirname(place), root):
        real = os.path.realpath(os.path.join(folder, path))
        if os.path.isfile(real) and is_below(real, root):
            return real
    raise MetadataError(f"{place}: path {path!r} is not a file below {root}; skipped")


def uri_of(meta: JsonObject, place: str) -> str:
    uri = meta.get("uri")
    if uri is None or uri == "":
        return ""
    if not isinstance(uri, str) or ":" not in uri:
        raise MetadataError(f"{place}: uri must be a URI; skipped")
    return uri


def provider_of(meta: JsonObject, uri: str, own: frozenset[str], place: str) -> str:
    """The one that is named; else the one for the scheme; else `file`."""
    provider = meta.get("provider")
    if provider is None:
        return provider_for(uri, own)
    if isinstance(provider, str) and (provider in BUILT_IN or provider in own):
        return provider
    raise MetadataError(f"{place}: there is no provider {provider!r}; skipped")


BUILT_IN = frozenset({"file", "git", "https", "ui", "echo"})
_BY_SCHEME = {"git+https": "git", "git": "git", "https": "https", "ui": "ui", "file": "file"}


def provider_for(uri: str, own: frozenset[str]) -> str:
    scheme = uri.partition(":")[0].lower()
    return scheme if scheme in own else _BY_SCHEME.get(scheme, "file")


def file_uri(path: str) -> str:
    # A project without resources, whose first list waits for this module, does without.
    from urllib.parse import quote  # noqa: PLC0415

    return "file://" + quote(path)


def _path_in(file_uri: str) -> str:
    from urllib.parse import unquote  # noqa: PLC0415 - as above

    return unquote(file_uri.removeprefix("file://"))


def _bare(place: str) -> str:
    name = os.path.basename(place)
    return stem_of(name.removesuffix(META_SUFFIX)) if name.endswith(META_SUFFIX) else stem_of(name)


def _by_name(item: JsonObject) -> str:
    return str(item["name"])


def _by_name_and_uri(item: JsonObject) -> tuple[str, str, str]:
    return item["name"], item["uri"], item.get("path", "")
