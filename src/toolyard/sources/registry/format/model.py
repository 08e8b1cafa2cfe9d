"""A registry file, read and checked: frozen values. Knows no upstream's answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from toolyard.context.reading import Reading
from toolyard.errors import Problem
from toolyard.protocol.call import Json, JsonObject
from toolyard.protocol.tasks.words import Support
from toolyard.upstreams.definition import ServerDefinition
from toolyard.virtual.composing.composition import Composition
from toolyard.virtual.output.listings import TextExtraction
from toolyard.virtual.output.projection import Projection
from toolyard.virtual.renaming import NO_RENAMING, Renaming

Expose: TypeAlias = Literal["all", "none"] | tuple[str, ...]
Mode: TypeAlias = Literal["strict", "warn", "skip"]


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    name: str
    pointer: str  # its place in the file as written
    server: str | None = None
    source: str | None = None
    composition: Composition | None = None
    original_name: str | None = None
    title: str | None = None
    description: str | None = None
    input_schema: JsonObject | None = None  # self-contained
    projection: Projection | None = None  # of its outputSchema or outputTransform
    text_extraction: TextExtraction | None = None
    defaults: Mapping[str, Json] = field(default_factory=dict)
    hide_fields: tuple[str, ...] = ()
    renaming: Renaming = NO_RENAMING
    pinned: bool = False
    keywords: tuple[str, ...] = ()
    result_limit: int | None = None  # bytes
    annotations: JsonObject | None = None
    version: str | None = None
    source_version_pin: str | None = None
    expected_schema_hash: str | None = None
    validation_mode: Mode = "warn"
    hidden: bool = False
    timeout: float | None = None
    task_support: Support | None = None
    tags: tuple[str, ...] = ()
    disabled: str | None = None  # the reason


@dataclass(frozen=True, slots=True)
class Registry:
    file: str = ""
    format: str = "native"
    servers: tuple[ServerDefinition, ...] = ()
    schemas: JsonObject = field(default_factory=dict)
    tools: tuple[ToolDefinition, ...] = ()
    project_expose: Expose = "all"
    # How much of the tools models read, as far as the file says it.
    reading: Reading | None = None
    pinned: tuple[str, ...] = ()
    result_limit: int | None = None  # bytes
    # Two exposed tools of one name: the later one gets its server's name in front.
    prefix_on_collision: bool = False
    # The file in the native form, variables not substituted: what is shown and converted.
    raw: JsonObject = field(default_factory=dict)
    # Values that came from variables, and must not be shown.
    secrets: frozenset[str] = frozenset()
    # What is wrong with single entries, and the entries (pointers into `raw`) that it disables.
    problems: tuple[Problem, ...] = ()
    broken: frozenset[str] = frozenset()
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()  # said at debug level
    # What a conversion could not express.
    lost: tuple[str, ...] = ()

    @property
    def sound(self) -> JsonObject:
        """`raw` without the entries that have mistakes: what can be told in other formats."""
        sections = {
            section: [
                entry
                for number, entry in enumerate(self.raw[section])
                if f"/{section}/{number}" not in self.broken
            ]
            for section in ("servers", "tools")
            if self.raw.get(section)
        }
        return {**self.raw, **sections}

    def server(self, name: str) -> ServerDefinition | None:
        return next((server for server in self.servers if server.name == name), None)
