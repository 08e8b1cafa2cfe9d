"""toolyard list: what a project, and the registries beside it, offer."""

from __future__ import annotations

import asyncio
import shutil
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence

import orjson

from toolyard.app.build import build
from toolyard.app.plan import Plan
from toolyard.catalog.snapshot import Catalog, ListedEntry
from toolyard.cli.choosing import chosen_by, plan_of, refuse_nothing
from toolyard.cli.options import add_project
from toolyard.cli.terminal.colour import painted
from toolyard.cli.terminal.waiting import waiting
from toolyard.protocol.call import JsonObject
from toolyard.protocol.kinds import KINDS, SPELLED
from toolyard.telemetry import one_line

_NARROWEST = 40


def add(parser: ArgumentParser) -> None:
    parser.add_argument(
        "path", nargs="*", help="a project folder and registry files (default: the current folder)"
    )
    parser.add_argument("--json", action="store_true", help="definitions, as clients see them")
    add_project(parser)


def run(options: Namespace) -> int:
    choice = chosen_by(options)
    refuse_nothing(choice, ", or a folder or registry file as an argument")
    catalog = asyncio.run(_catalog(plan_of(options, choice)))
    if options.json:
        sys.stdout.buffer.write(orjson.dumps(as_json(catalog), option=orjson.OPT_INDENT_2) + b"\n")
        return 1 if catalog.broken else 0
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
    print("\n\n".join("\n".join(part) for part in as_text(catalog, width)))
    return 1 if catalog.broken else 0


async def _catalog(plan: Plan) -> Catalog:
    app = build(plan)
    try:
        async with waiting(app.federation.health):
            return await app.catalog()
    finally:
        await app.close()


def as_json(catalog: Catalog) -> JsonObject:
    lists: JsonObject = {
        SPELLED[kind].key: [entry.definition for entry in catalog.listed(kind)] for kind in KINDS
    }
    return {**lists, "broken": dict(catalog.broken), "warnings": list(catalog.warnings)}


def as_text(catalog: Catalog, width: int) -> Iterator[Sequence[str]]:
    """A block of lines for each kind; lines are cut at `width`, 0 leaves them whole."""
    for kind in KINDS:
        if kind in catalog.broken:
            yield [f"{SPELLED[kind].title}: {catalog.broken[kind]}"]
            continue
        entries = catalog.listed(kind)
        if entries:
            heading = painted(f"{SPELLED[kind].title} ({len(entries)})", "bold")
            yield [heading, *_rows(entries, width)]
    if not any(catalog.listed(kind) for kind in KINDS) and not catalog.broken:
        yield ["Nothing is on offer yet. 'toolyard scaffold tool NAME' makes a tool."]


def _rows(entries: Sequence[ListedEntry], width: int) -> Iterator[str]:
    cells = [(_name(entry), _about(entry)) for entry in entries]
    column = max(len(name) for name, _ in cells)
    if width:
        column = min(column, max(width - _NARROWEST, 16))
    for name, about in cells:
        yield _cut(f"  {name:{column}}  {about}".rstrip(), width)


def _name(entry: ListedEntry) -> str:
    uri = getattr(entry, "uri", None) or getattr(entry, "uri_template", None)
    return one_line(str(uri or entry.name))


def _about(entry: ListedEntry) -> str:
    definition = entry.definition
    about = one_line(str(definition.get("description") or definition.get("title") or ""))
    unavailable = getattr(entry, "unavailable", None)
    return f"(unavailable: {one_line(unavailable)}) {about}" if unavailable else about


def _cut(line: str, width: int) -> str:
    return line if not width or len(line) <= width else line[: width - 1] + "…"
