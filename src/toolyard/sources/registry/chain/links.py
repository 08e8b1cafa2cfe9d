"""How the entries of a registry refer to each other: unknown names, doubles and cycles."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from toolyard.errors import did_you_mean
from toolyard.sources.registry.format.model import ToolDefinition
from toolyard.sources.registry.format.report import Report
from toolyard.upstreams.definition import ServerDefinition
from toolyard.virtual.composing.composition import tools_used


def check_names(kind: str, names: Iterable[tuple[str, str]], report: Report) -> None:
    """Two entries of one name: the second is wrong."""
    places_by_name: dict[str, str] = {}
    for name, pointer in names:
        if name in places_by_name:
            report.refuse(
                f"{pointer}/name", f'a {kind} named "{name}" is already at {places_by_name[name]}'
            )
        places_by_name.setdefault(name, report.place(pointer))


def check_links(
    tools: Sequence[tuple[ToolDefinition, str]],
    servers: Sequence[ServerDefinition],
    elsewhere: Collection[str] | None,
    report: Report,
) -> None:
    """`elsewhere`: tools outside of the file that a source may name; None where unknown."""
    known_servers = [server.name for server in servers]
    known_tools = [tool.name for tool, _ in tools]
    for tool, pointer in tools:
        if tool.server is not None and tool.server not in known_servers:
            mean = did_you_mean(tool.server, known_servers)
            report.problem(f"{pointer}/server", f'no server named "{tool.server}"{mean}')
        for place, name in _tools_named(tool):
            if name not in known_tools and elsewhere is not None and name not in elsewhere:
                mean = did_you_mean(name, [*known_tools, *elsewhere])
                report.problem(pointer + place, f'no tool named "{name}"{mean}')
    _check_cycles(tools, report)


def _tools_named(tool: ToolDefinition) -> Iterator[tuple[str, str]]:
    if tool.source is not None:
        yield "/source", tool.source
    if tool.composition is not None:
        yield from (("/spec", name) for name in tools_used(tool.composition))


def _check_cycles(tools: Sequence[tuple[ToolDefinition, str]], report: Report) -> None:
    uses = {tool.name: [name for _, name in _tools_named(tool)] for tool, _ in tools}
    places = {
        tool.name: pointer + ("/spec" if tool.source is None else "/source")
        for tool, pointer in tools
    }
    names_reported: set[str] = set()
    for cycle in _cycles(uses):
        path = " -> ".join(cycle)
        message = f"refers to itself: {path}" if len(cycle) == 2 else f"is in a cycle: {path}"
        for name in cycle:
            if name not in names_reported:
                names_reported.add(name)
                report.problem(places[name], message)


def _cycles(uses: Mapping[str, Sequence[str]]) -> Iterator[list[str]]:
    """The names along each cycle: every tool that is in a cycle is in one of these."""
    finished_names: set[str] = set()
    for start in uses:
        # From the start to where we are, each with what it uses and was not looked at yet.
        path = {} if start in finished_names else {start: iter(uses[start])}
        while path:
            name = next(reversed(path))
            used = next(path[name], None)
            if used is None:
                del path[name]
                finished_names.add(name)
            elif used in path:
                names = list(path)
                yield [*names[names.index(used) :], used]
            elif used in uses and used not in finished_names:
                path[used] = iter(uses[used])
