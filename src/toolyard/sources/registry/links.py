"""How the entries of a registry refer to each other: unknown names, doubles and cycles."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from toolyard.sources.registry.model import ToolDefinition
from toolyard.sources.registry.report import Report, did_you_mean
from toolyard.upstreams.definition import ServerDefinition
from toolyard.virtual.composition import tools_used


def check_names(kind: str, names: Iterable[tuple[str, str]], report: Report) -> None:
    """Two entries of one name: the second is wrong."""
    seen: dict[str, str] = {}
    for name, pointer in names:
        if name in seen:
            report.problem(f"{pointer}/name", f'a {kind} named "{name}" is already at {seen[name]}')
        seen.setdefault(name, report.place(pointer))


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
    done: set[str] = set()
    for tool, pointer in tools:
        cycle = _cycle_from(tool.name, uses, done)
        if cycle:
            place = "/spec" if tool.source is None else "/source"
            shown = " -> ".join(cycle)
            said = f"refers to itself: {shown}" if len(cycle) == 2 else f"is in a cycle: {shown}"
            report.problem(pointer + place, said)


def _cycle_from(start: str, uses: dict[str, list[str]], done: set[str]) -> list[str] | None:
    """The names around a cycle that is reached from here and was not reported before."""
    path: list[str] = []
    todo: list[tuple[str, int]] = [(start, 0)]
    while todo:
        name, depth = todo.pop()
        del path[depth:]
        if name in path:
            cycle = [*path[path.index(name) :], name]
            done.update(path)
            return cycle
        if name in done or name not in uses:
            continue
        path.append(name)
        todo += [(used, depth + 1) for used in uses[name]]
    done.update(_reached(start, uses))
    return None


def _reached(start: str, uses: dict[str, list[str]]) -> set[str]:
    found, todo = set(), [start]
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += uses.get(name, [])
    return found
