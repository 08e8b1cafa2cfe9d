"""A registry file to a Registry: read, recognised, converted, checked whole."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from toolyard.configuration.check import check
from toolyard.configuration.objects import shape
from toolyard.context.reading import Reading, reading_of
from toolyard.errors import ConfigError
from toolyard.files.comments import Empty, parse
from toolyard.files.pointers import escape
from toolyard.protocol.call import Json, JsonObject
from toolyard.sources.registry.chain.links import check_links, check_names
from toolyard.sources.registry.format.converted import Converted
from toolyard.sources.registry.format.formats import to_native
from toolyard.sources.registry.format.model import Expose, Registry, ToolDefinition
from toolyard.sources.registry.format.report import Report
from toolyard.sources.registry.format.servers import Surroundings, read_server
from toolyard.sources.registry.format.tools import SchemaReader, read_limit, read_tool
from toolyard.sources.shortage import raise_if_short
from toolyard.upstreams.definition import ServerDefinition
from toolyard.virtual.schema import References

_NOTHING = "{} is a registry with nothing in it"
# Deeper than anybody writes, and well within what recursion can follow.
MAX_LEVELS = 100


def load_registry(
    path: str, environ: Mapping[str, str], scripts: Collection[str] | None = None
) -> Registry:
    """Raises ConfigError with every problem of a file that cannot be used as a whole.

    `scripts` are the tools of the project, which a `source` may name; None where not known.
    """
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise_if_short(error, path)
        raise ConfigError.at(path, f"cannot be read: {error.strerror}") from None
    return read_registry(data, path, environ, scripts)


def read_registry(
    data: bytes, file: str, environ: Mapping[str, str], scripts: Collection[str] | None = None
) -> Registry:
    try:
        raw = parse(data)
    except Empty:
        raise ConfigError.at(file, f"is empty; {_NOTHING}") from None
    except ValueError as error:
        raise ConfigError.at(file, str(error)) from None
    if not isinstance(raw, dict):
        raise ConfigError.at(file, f"must be a JSON object; {_NOTHING}")
    if _deeper_than(raw, MAX_LEVELS):
        raise ConfigError.at(file, f"is nested deeper than {MAX_LEVELS} levels")
    folder = os.path.dirname(os.path.abspath(file))
    conversion = to_native(raw, folder)
    report = Report(file, conversion.places, data)
    for pointer, message in conversion.problems:
        report.problem(pointer, message)
    return _Reading(conversion, Surroundings(report, environ, folder)).registry(scripts)


def keeping(
    servers: Iterable[ServerDefinition], secrets: Collection[str]
) -> tuple[ServerDefinition, ...]:
    """The servers, for which these are secrets as well: a default of a tool reaches its server."""
    return tuple(replace(server, secrets=server.secrets | set(secrets)) for server in servers)


def _deeper_than(value: Json, limit: int) -> bool:
    level = [value]
    for _ in range(limit):
        level = [
            child
            for container in level
            for child in (container.values() if isinstance(container, dict) else container)
            if isinstance(child, (dict, list))
        ]
        if not level:
            return False
    return True


@dataclass(slots=True)
class _Reading:
    converted: Converted
    around: Surroundings

    def registry(self, scripts: Collection[str] | None) -> Registry:
        report, native = self.around.report, self.converted.native
        sections = check(native, shape("registry"), report, apart=("servers", "tools"))
        _check_version(sections.get("schemaVersion", "1.0"), report)
        schemas = native["schemas"] if "schemas" in sections else {}
        references = References({"schemas": schemas, "tools": native.get("tools")})
        self._check_schemas(schemas, references)
        servers = self._servers(sections.get("servers", []))
        tools = self._tools(sections.get("tools", []), references)
        check_links(tools, [server for server, _ in servers], _elsewhere(servers, scripts), report)
        report.close()
        usable = self._without_mistakes(servers, tools)
        return Registry(
            file=report.file,
            format=self.converted.format,
            servers=keeping(_with_oauth(*usable, native), self.around.secrets),
            schemas=schemas,
            tools=tuple(usable[1]),
            project_expose=_expose(sections.get("project", {}).get("expose", "all")),
            reading=_reading(sections.get("context", {}), report),
            pinned=tuple(sections.get("context", {}).get("pinned", ())),
            result_limit=read_limit(sections.get("context", {}), "/context", report),
            prefix_on_collision=self.converted.prefix_on_collision,
            raw=native,
            secrets=frozenset(self.around.secrets),
            problems=tuple(report.problems),
            broken=frozenset(report.entries),
            warnings=tuple(report.warnings),
            notes=tuple(report.notes),
            lost=self.converted.lost,
        )

    def _check_schemas(self, schemas: JsonObject, references: References) -> None:
        reader = SchemaReader(references, self.around.report)
        for name, schema in schemas.items():
            pointer = f"/schemas/{escape(name)}"
            reader.check(schema, pointer)

    def _without_mistakes(
        self,
        servers: list[tuple[ServerDefinition, str]],
        tools: list[tuple[ToolDefinition, str]],
    ) -> tuple[list[ServerDefinition], list[ToolDefinition]]:
        """What has a mistake is disabled, and said to be."""
        report = self.around.report
        sentences = {pointer: f"server {server.name} is disabled" for server, pointer in servers}
        said_elsewhere = {pointer for _, pointer in tools}  # where its chain is looked at
        for entry, why in report.entries.items():
            if entry not in said_elsewhere:
                consequence = (
                    "what refers to it is disabled" if "/schemas/" in entry else "it is left out"
                )
                report.warn(entry, f"{sentences.get(entry, consequence)}: {why}")
        return (
            [
                replace(server, disabled=report.reason(at) or server.disabled)
                for server, at in servers
            ],
            [replace(tool, disabled=report.reason(at) or tool.disabled) for tool, at in tools],
        )

    def _servers(self, raw: list[Json]) -> list[tuple[ServerDefinition, str]]:
        pairs_or_none = [
            (read_server(entry, pointer, self.around), pointer)
            for entry, pointer in _placed(raw, "/servers")
        ]
        servers = [(server, pointer) for server, pointer in pairs_or_none if server is not None]
        pairs = [(server.name, pointer) for server, pointer in servers]
        check_names("server", pairs, self.around.report)
        return servers

    def _tools(self, raw: list[Json], references: References) -> list[tuple[ToolDefinition, str]]:
        pairs_or_none = [
            (read_tool(entry, pointer, references, self.around), pointer)
            for entry, pointer in _placed(raw, "/tools")
        ]
        tools = [(tool, pointer) for tool, pointer in pairs_or_none if tool is not None]
        check_names("tool", [(tool.name, pointer) for tool, pointer in tools], self.around.report)
        return tools


def _placed(entries: list[Json], section: str) -> list[tuple[Json, str]]:
    return [(entry, f"{section}/{number}") for number, entry in enumerate(entries)]


def _check_version(version: str, report: Report) -> None:
    if version.partition(".")[0] != "1":
        report.problem("/schemaVersion", f'"{version}" is not known; this reads "1.0"')


def _elsewhere(
    servers: list[tuple[ServerDefinition, str]], scripts: Collection[str] | None
) -> Collection[str] | None:
    """What a source may name beside the file's own tools; None while an upstream exposes some."""
    upstreams_expose = any(server.expose != "listed" for server, _ in servers)
    return None if upstreams_expose or scripts is None else scripts


def _reading(section: JsonObject, report: Report) -> Reading | None:
    try:
        return reading_of(section)
    except ValueError as error:
        report.warn("/context", f"{error}; all tools are listed")
        return None


def _expose(value: str | list[str]) -> Expose:
    if isinstance(value, list):
        return tuple(value)
    return "none" if value == "none" else "all"


def _with_oauth(
    servers: list[ServerDefinition], tools: list[ToolDefinition], native: JsonObject
) -> tuple[ServerDefinition, ...]:
    """`auth: "oauth"` on a tool means the same as on its server."""
    sources = {tool.name: tool for tool in tools}
    entries = [raw for raw in native.get("tools") or [] if isinstance(raw, dict)]
    names = [str(raw.get("name")) for raw in entries if raw.get("auth") == "oauth"]
    oauth = {_server_of(sources[name], sources) for name in names if name in sources}
    return tuple(
        replace(server, auth="oauth") if server.name in oauth else server for server in servers
    )


def _server_of(tool: ToolDefinition, tools: Mapping[str, ToolDefinition]) -> str | None:
    for _ in tools:  # a cycle has no server at its end
        if tool.source is None or tool.source not in tools:
            break
        tool = tools[tool.source]
    return tool.server
