"""toolyard registry show: each tool as clients see it, and where each part of it comes from."""

from __future__ import annotations

import asyncio
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from toolyard.app.build import App
from toolyard.app.lineage import Lineage
from toolyard.catalog.entries import Tool
from toolyard.catalog.snapshot import Catalog
from toolyard.cli.options import add_project
from toolyard.cli.output import near, pretty, print_json, table
from toolyard.cli.registry.chosen import opened, plan_for
from toolyard.cli.registry.views import add_views, show_view
from toolyard.context.sizes import tokens_in
from toolyard.errors import ConfigError, did_you_mean
from toolyard.protocol.call import JsonObject
from toolyard.sources.registry.chain.parts import Anatomy, Part
from toolyard.telemetry import masked


def add(parser: ArgumentParser) -> None:
    parser.epilog = "Sizes are in tokens, estimated: models count differently."
    parser.add_argument("tool", nargs="?", help="one tool in full (default: a table of all)")
    parser.add_argument("--json", action="store_true", help="for programs")
    add_views(parser)
    add_project(parser)


def run(options: Namespace) -> int:
    if options.view is not None or options.budget is not None:
        return show_view(options)
    tools = asyncio.run(_views(options))
    if options.json:
        print_json(tools if options.tool is None else tools[0])
    elif options.tool is None:
        print("\n".join(table(_summary(tools))))
    else:
        print("\n".join(_in_full(tools[0])))
    return 0


async def _views(options: Namespace) -> list[JsonObject]:
    async with opened(plan_for(options)) as app:
        catalog = await app.catalog()
        all_views = list(views(app, catalog))
    if options.tool is None:
        return all_views
    matches = [view for view in all_views if view["name"] == options.tool]
    if not matches:
        mean = did_you_mean(options.tool, [view["name"] for view in all_views])
        raise ConfigError.at(options.tool, f"there is no such tool{mean}")
    return matches


def views(app: App, catalog: Catalog) -> Iterator[JsonObject]:
    secrets = app.federation.registries.secrets
    for parts in Lineage(app).anatomies(catalog):
        yield _view(parts, catalog.tools.get(parts.name), secrets)


def _view(anatomy: Anatomy, tool: Tool | None, secrets: frozenset[str]) -> JsonObject:
    reason = anatomy.disabled or (tool.unavailable if tool else None)
    client = tool.definition if tool is not None and tool.listed and not reason else None
    return {
        "name": anatomy.name,
        "place": near(anatomy.place),
        "chain": [near(place) for place in anatomy.chain],
        "hidden": anatomy.hidden,
        "disabled": masked(reason, secrets) if reason else None,
        "parts": [_as_json(part) for part in anatomy.parts],
        "client": client,
        "source": anatomy.underlying,
        "tokens": {
            "client": tokens_in(client) if client is not None else 0,
            "source": tokens_in(anatomy.underlying) if anatomy.underlying is not None else 0,
        },
    }


def _as_json(part: Part) -> JsonObject:
    fields: JsonObject = {"name": part.name, "place": near(part.place)}
    return fields if part.value is None else {**fields, "value": part.value}


def _summary(tools: list[JsonObject]) -> Iterator[tuple[object, ...]]:
    yield ("TOOL", "FROM", "CLIENT", "SOURCE", "")
    for view in tools:
        tokens = view["tokens"]
        yield (view["name"], view["chain"][-1], tokens["client"], tokens["source"], _state(view))
    totals = [sum(view["tokens"][side] for view in tools) for side in ("client", "source")]
    yield ("", "tokens, estimated", *totals, "")


def _state(view: JsonObject) -> str:
    if view["disabled"]:
        return f"disabled: {view['disabled']}"
    return "hidden" if view["hidden"] else ""


def _in_full(view: JsonObject) -> Iterator[str]:
    yield f"{view['name']}  ({view['place']})"
    yield f"  {' -> '.join(view['chain'])}"
    if _state(view):
        yield f"  {_state(view)}"
    yield ""
    rows = [("", part["name"], part["place"], part.get("value", "")) for part in view["parts"]]
    yield from table([("", "PART", "COMES FROM", ""), *rows])
    for title, side in (("What the client sees", "client"), ("What the source says", "source")):
        if view[side] is not None:
            yield f"\n{title} (about {view['tokens'][side]:,} tokens):\n{pretty(view[side])}"
