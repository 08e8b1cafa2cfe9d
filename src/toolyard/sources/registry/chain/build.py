"""One registry entry as a catalog entry: what clients see, and the target behind it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from toolyard.catalog.entries import Origin, Tool
from toolyard.context.cutting import LIMIT
from toolyard.context.display import PINNED
from toolyard.protocol.call import JsonObject, Target
from toolyard.protocol.tasks.words import Support, hosted, with_support
from toolyard.sources.registry.chain.chain import Chain
from toolyard.sources.registry.chain.inputs import advertised_input
from toolyard.sources.registry.chain.targets import Timed, Unavailable, gather
from toolyard.sources.registry.format.model import ToolDefinition
from toolyard.upstreams.target import UpstreamTargets
from toolyard.virtual.composing.compose import ComposedTarget
from toolyard.virtual.composing.composition import tools_used
from toolyard.virtual.output.listings import TextExtraction
from toolyard.virtual.output.projection import Projection
from toolyard.virtual.output.views import SchemaViews
from toolyard.virtual.target import Output, VirtualTarget
from toolyard.virtual.watching import Onlooker

_Value = TypeVar("_Value")
VERSION_KEY = "toolyard/version"


@dataclass(frozen=True, slots=True)
class ChainBuilder:
    connect: UpstreamTargets
    # The entry of that name, whichever source it is from; None where there is none.
    find: Callable[[str], Tool | None]
    file: str
    onlooker: Onlooker | None = None

    def disabled(self, tool: ToolDefinition, reason: str) -> Tool:
        """Not in the lists; a call to it says why."""
        definition = {"name": tool.name, "inputSchema": {"type": "object"}}
        return Tool(
            tool.name,
            definition,
            Unavailable(reason),
            self._origin(tool),
            unavailable=reason,
            listed=False,
            extra=_extra(tool) | _named_in_vain(tool),
        )

    def tool(self, chain: Chain) -> Tool:
        output = _output(chain)
        existing = chain.existing
        definition, tasks = _with_tasks(chain, _definition(chain, output))
        return Tool(
            chain.tool.name,
            definition,
            self._target(chain, output),
            self._origin(chain.tool),
            requires=existing.requires if existing else (),
            hidden=chain.withheld(base=existing.hidden if existing else frozenset()),
            check_output=existing.check_output if existing and output is None else False,
            tasks=tasks,
            asks_first=existing.asks_first if existing else False,
            extra=_extra(chain.tool) | _chain_extra(chain),
        )

    def _origin(self, tool: ToolDefinition) -> Origin:
        return Origin("registry", self.file, tool.pointer)

    def _target(self, chain: Chain, output: Output | None) -> Target:
        target = self._underlying(chain)
        timeout = _nearest(chain, lambda link: link.timeout)
        if timeout is not None:
            server = chain.server.name if chain.server is not None else None
            target = Timed(target, timeout, server)
        if output is None and not chain.defaults and not chain.renamings:
            return target
        return VirtualTarget(target, chain.defaults, output, chain.renamings, self.onlooker)

    def _underlying(self, chain: Chain) -> Target:
        if chain.existing is not None:
            return chain.existing.target
        if chain.server is not None:
            return self.connect.tool(chain.server.name, chain.original_name)
        composition = chain.links[-1].composition
        assert composition is not None
        used = {name: self.find(name) for name in tools_used(composition)}
        targets = {name: tool.target for name, tool in used.items() if tool is not None}
        return ComposedTarget(composition, targets, gather, self.onlooker)

    def missing_tool(self, chain: Chain) -> str | None:
        """Why a composition cannot run: a tool of it is not there, or disabled."""
        composition = chain.links[-1].composition
        for name in tools_used(composition) if composition is not None else ():
            tool = self.find(name)
            if tool is None:
                return f'no tool named "{name}"'
            if tool.unavailable is not None:
                return f'tool "{name}" is disabled: {tool.unavailable}'
        return None


def _nearest(chain: Chain, field_of: Callable[[ToolDefinition], _Value | None]) -> _Value | None:
    values = (field_of(link) for link in chain.links)
    return next((value for value in values if value is not None), None)


def _output(chain: Chain) -> Output | None:
    projection = _nearest(chain, lambda link: link.projection)
    extraction: TextExtraction | None = _nearest(chain, lambda link: link.text_extraction)
    if projection is None and extraction is None:
        return None
    return Output.of(projection or Projection(lambda value: value, {}), extraction)


def _definition(chain: Chain, output: Output | None) -> JsonObject:
    """The underlying definition, unknown fields kept, with what the registry says laid over it."""
    definition: JsonObject = {**(chain.definition or {}), "name": chain.tool.name}
    fields: Mapping[str, object] = {
        "title": _nearest(chain, lambda link: link.title),
        "description": _nearest(chain, lambda link: link.description),
        "annotations": _nearest(chain, lambda link: link.annotations),
    }
    definition.update({key: value for key, value in fields.items() if value is not None})
    definition["inputSchema"] = advertised_input(chain)
    if output is not None:
        definition.pop("outputSchema", None)
        if output.projection.advertised:
            definition["outputSchema"] = _typed(output.projection.advertised)
    if chain.tool.version is not None:
        meta = definition.get("_meta")
        own_meta = meta if isinstance(meta, dict) else {}
        definition["_meta"] = {**own_meta, VERSION_KEY: chain.tool.version}
    return definition


def _with_tasks(chain: Chain, definition: JsonObject) -> tuple[JsonObject, Support]:
    """Whether calls may become tasks: as the registry says, else what is underneath."""
    support: Support | None = _nearest(chain, lambda link: link.task_support)
    if support is not None:
        return with_support(definition, support), support
    if chain.existing is not None:
        return definition, chain.existing.tasks
    return hosted(definition, chain.makes_tasks)


def _typed(schema: JsonObject) -> JsonObject:
    """Clients of older revisions want to read there that it is an object."""
    if "type" in schema or SchemaViews(schema).of(schema).properties is None:
        return schema
    return {"type": "object", **schema}


def _used(tool: ToolDefinition) -> tuple[str, ...]:
    """The tools that a composition calls, each once."""
    return tuple(dict.fromkeys(tools_used(tool.composition))) if tool.composition else ()


def _extra(tool: ToolDefinition) -> dict[str, object]:
    has_pin = tool.source_version_pin is not None or tool.expected_schema_hash is not None
    fields = {
        "version": tool.version,
        "tags": tool.tags or None,
        "uses": _used(tool) or None,
        "timeout": tool.timeout,
        "keywords": tool.keywords or None,
        PINNED: tool.pinned or None,
        "pinned": has_pin or None,
    }
    return {key: value for key, value in fields.items() if value is not None}


def _named_in_vain(tool: ToolDefinition) -> dict[str, object]:
    owners = {"server": tool.server, "source": tool.source}
    return {key: value for key, value in owners.items() if value is not None}


def _chain_extra(chain: Chain) -> dict[str, object]:
    extra: dict[str, object] = {"chain": tuple(link.name for link in chain.links)}
    if chain.definition is not None:
        extra["underlying"] = chain.definition
    if chain.server is not None:
        extra |= {"server": chain.server.name, "originalName": chain.original_name}
    if chain.existing is not None:
        extra |= {"source": chain.existing.name, **_passed_on(chain.existing)}
    limit = _result_limit(chain)
    return extra if limit is None else {**extra, LIMIT: limit}


def _result_limit(chain: Chain) -> object:
    """The nearest entry's, else that of the server or the tool underneath."""
    own = _nearest(chain, lambda link: link.result_limit)
    if own is not None:
        return own
    if chain.server is not None:
        return chain.server.result_limit
    return chain.existing.extra.get(LIMIT) if chain.existing is not None else None


def _passed_on(existing: Tool) -> dict[str, object]:
    """Which upstream's tool does the work underneath."""
    origin_fields = {key: existing.extra.get(key) for key in ("server", "originalName")}
    return {key: value for key, value in origin_fields.items() if value is not None}
