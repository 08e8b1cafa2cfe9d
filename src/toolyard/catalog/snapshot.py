"""The catalog: an immutable snapshot of everything on offer.

What is made from its entries (list pages as bytes, compiled validators, digests) is made at
first use and kept with it: most catalogs are replaced before anybody asks for most of that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property, partial
from typing import Any, TypeAlias, TypeVar

from toolyard.catalog.entries import Completion, Entries, Prompt, Resource, Template, Tool
from toolyard.catalog.pages import Slice, Version, digest_of, encode_items, encode_page
from toolyard.catalog.uris import is_one_of, withheld_spellings
from toolyard.catalog.uritemplate import match
from toolyard.catalog.validation import Checker, checker_or_reason
from toolyard.errors import INTERNAL_ERROR, ProtocolError
from toolyard.protocol.call import Caller, Encoded, JsonObject
from toolyard.protocol.eras.headers import header_parameters
from toolyard.protocol.kinds import KINDS, SPELLED, Kind
from toolyard.protocol.paging import decode_cursor
from toolyard.protocol.revisions import Revision
from toolyard.protocol.tasks.words import FORBIDDEN

ListedEntry: TypeAlias = Tool | Resource | Template | Prompt
HeaderNames: TypeAlias = Mapping[tuple[str, ...], str]
_Made = TypeVar("_Made")
_Entry = TypeVar("_Entry", Tool, Resource, Template, Prompt, Completion)
_MOST_PAGES_KEPT = 256


@dataclass(frozen=True, slots=True)
class PageRequest:
    """Which page of which list, for which revision."""

    kind: Kind
    revision: Revision
    limit: int
    cursor: str | None = None


@dataclass(frozen=True)
class Catalog:
    """Everything on offer at one moment. Never edited: the keeper builds a new one."""

    tools: Mapping[str, Tool] = field(default_factory=dict)
    resources: Mapping[str, Resource] = field(default_factory=dict)
    templates: Mapping[str, Template] = field(default_factory=dict)
    prompts: Mapping[str, Prompt] = field(default_factory=dict)
    completions: Mapping[str, Completion] = field(default_factory=dict)
    # Templates that answer last and are not listed; none if rules narrow the catalog.
    unlisted: Mapping[str, Template] = field(default_factory=dict)
    broken: Mapping[Kind, str] = field(default_factory=dict)
    # URIs that exist but are not for this caller: no template answers for them either.
    withheld: frozenset[str] = frozenset()
    warnings: tuple[str, ...] = ()
    caller: str = ""  # whose it is, if not everybody's
    created_at: str = field(
        default_factory=lambda: datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    )
    # Filled on first use; each value depends on the catalog alone.
    _digests: dict[Kind, str] = field(default_factory=dict, repr=False)
    _pages: dict[tuple[Kind, str, int, int], Encoded] = field(default_factory=dict, repr=False)
    _items: dict[tuple[Kind, str], list[bytes]] = field(default_factory=dict, repr=False)
    # What others make of it, by a name of theirs: kept as long as the catalog is.
    derived: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def listed(self, kind: Kind) -> tuple[ListedEntry, ...]:
        if kind == "tools":
            return tuple(tool for tool in self.tools.values() if tool.listed)
        entries: Mapping[str, ListedEntry] = getattr(self, kind)
        return tuple(entries.values())

    def digest(self, kind: Kind) -> str:
        """SHA-256 over the definitions of one kind: `list_changed` is sent when it differs."""
        if kind not in self._digests:
            definitions = [entry.definition for entry in self.listed(kind)]
            self._digests[kind] = digest_of(definitions, self.broken.get(kind))
        return self._digests[kind]

    def changed_since(self, older: Catalog) -> frozenset[Kind]:
        return frozenset(kind for kind in KINDS if self.digest(kind) != older.digest(kind))

    def page(self, request: PageRequest, stamp: JsonObject) -> Encoded:
        """One page of a list, already encoded for the revision that asks."""
        if request.kind in self.broken:
            raise ProtocolError(INTERNAL_ERROR, self.broken[request.kind])
        offset = 0
        if request.cursor is not None:
            offset = decode_cursor(
                request.cursor, SPELLED[request.kind].key, self.digest(request.kind)
            )
        key = (request.kind, request.revision.date, offset, request.limit)
        page = self._pages.get(key)
        if page is None:
            page = self._encode_page(request, offset, stamp)
            if len(self._pages) < _MOST_PAGES_KEPT:
                self._pages[key] = page
        return page

    def _encode_page(self, request: PageRequest, offset: int, stamp: JsonObject) -> Encoded:
        kind, revision = request.kind, request.revision
        items = self._encoded_items(kind, revision)
        more = offset + request.limit < len(items)
        version = Version(self.digest(kind) if more else "", self.created_at)
        part = Slice(kind, revision, offset, request.limit)
        return Encoded(encode_page(items, part, version, stamp))

    def _encoded_items(self, kind: Kind, revision: Revision) -> list[bytes]:
        key = (kind, revision.date)
        if key not in self._items:
            definitions = (entry.definition for entry in self.listed(kind))
            self._items[key] = encode_items(kind, definitions, revision)
        return self._items[key]

    @cached_property
    def input_checkers(self) -> Mapping[str, Checker]:
        return PerTool(self.tools, partial(_checker, "inputSchema"))

    @cached_property
    def output_checkers(self) -> Mapping[str, Checker]:
        return PerTool(self.tools, partial(_checker, "outputSchema"))

    @cached_property
    def header_names(self) -> Mapping[str, HeaderNames]:
        """The arguments of each tool that are repeated in headers."""
        return PerTool(self.tools, _header_names)

    def find_resource(self, uri: str) -> tuple[Resource | Template, Mapping[str, str]] | None:
        """The entry that answers for a URI, and the variables of its template."""
        if uri in self.resources:
            return self.resources[uri], {}
        if self.withholds(uri):
            return None
        for template in (*self.templates.values(), *self.unlisted.values()):
            variables = match(template.uri_template, uri)
            if variables is not None:
                return template, variables
        return None

    def withholds(self, uri: str) -> bool:
        """Is this URI, however it is spelled, one that is not for this caller?"""
        return bool(self.withheld) and is_one_of(uri, self._withheld_spellings)

    @cached_property
    def has_tasks(self) -> bool:
        return any(tool.tasks is not FORBIDDEN for tool in self.tools.values())

    @cached_property
    def _withheld_spellings(self) -> frozenset[str]:
        return withheld_spellings(self.withheld)

    def narrowed(self, allows: Callable[[Kind, str], bool]) -> Catalog:
        """The part of the catalog that a caller may see."""
        resources = {k: v for k, v in self.resources.items() if allows("resources", k)}
        templates = {k: v for k, v in self.templates.items() if allows("templates", k)}
        prompts = {k: v for k, v in self.prompts.items() if allows("prompts", k)}
        refs = {*prompts, *templates, *resources}
        refs |= {entry.name for entry in templates.values()}
        refs |= {entry.name for entry in resources.values()}
        return Catalog(
            tools={k: v for k, v in self.tools.items() if allows("tools", k)},
            resources=resources,
            templates=templates,
            prompts=prompts,
            completions={k: v for k, v in self.completions.items() if k in refs},
            broken=self.broken,
            withheld=self.withheld | (self.resources.keys() - resources.keys()),
            caller=self.caller,
            created_at=self.created_at,
        )


# Narrows a catalog to what a caller may see.
Narrowing: TypeAlias = Callable[[Catalog, Caller], Catalog]


class PerTool(dict[str, _Made]):
    """What is made of a tool when it is first looked up by its name, and kept."""

    def __init__(self, tools: Mapping[str, Tool], make: Callable[[Tool], _Made]) -> None:
        super().__init__()
        self._tools = tools
        self._make = make

    def __missing__(self, name: str) -> _Made:
        made = self[name] = self._make(self._tools[name])
        return made


def _checker(part: str, tool: Tool) -> Checker:
    return checker_or_reason(tool.definition.get(part) or {})


def _header_names(tool: Tool) -> HeaderNames:
    try:
        return header_parameters(tool.definition.get("inputSchema"))
    except ValueError:
        return {}


def assemble(parts: Iterable[Entries], caller: str = "") -> Catalog:
    """One catalog of all the sources' entries; the first of a name wins, others are warned of."""
    parts = tuple(parts)
    warnings = [warning for part in parts for warning in part.warnings]
    broken: dict[Kind, str] = {}
    for part in parts:
        broken.update(part.broken)
    return Catalog(
        tools=_by_key("tool", (e for p in parts for e in p.tools), _by_name, warnings),
        resources=_by_key("resource", (e for p in parts for e in p.resources), _by_uri, warnings),
        templates=_by_key(
            "template", (e for p in parts for e in p.templates), _by_template, warnings
        ),
        prompts=_by_key("prompt", (e for p in parts for e in p.prompts), _by_name, warnings),
        completions=_by_key("completion", (e for p in parts for e in p.completions), _by_ref, []),
        unlisted=_by_key("template", (e for p in parts for e in p.unlisted), _by_template, []),
        broken=broken,
        warnings=tuple(warnings),
        caller=caller,
    )


def _by_key(
    kind: str, entries: Iterable[_Entry], key: Callable[[_Entry], str], warnings: list[str]
) -> dict[str, _Entry]:
    by_name: dict[str, _Entry] = {}
    for entry in entries:
        name = key(entry)
        if name in by_name:
            place, winner = entry.origin.place or entry.origin.owner, by_name[name].origin
            warnings.append(
                f"{kind} {name!r} from {place} is left out: "
                f"{winner.place or winner.owner} has the same name"
            )
            continue
        by_name[name] = entry
    return by_name


def _by_name(entry: Tool | Prompt) -> str:
    return entry.name


def _by_uri(entry: Resource) -> str:
    return entry.uri


def _by_template(entry: Template) -> str:
    return entry.uri_template


def _by_ref(entry: Completion) -> str:
    return entry.ref
