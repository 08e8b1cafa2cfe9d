"""`registry show --view`, `--budget`: what each view costs, and what a model would read."""

from __future__ import annotations

import asyncio
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from toolyard.app.build import App
from toolyard.catalog.snapshot import Catalog
from toolyard.cli.output import pretty, print_json, table
from toolyard.cli.registry.chosen import opened, plan_for
from toolyard.context.costs import view_costs
from toolyard.context.display import chosen, definitions
from toolyard.context.reading import Reading, reading_of
from toolyard.errors import ConfigError
from toolyard.protocol.call import JsonObject


def add_views(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--view", metavar="NAME", help="what a model reads in view full, index or search"
    )
    parser.add_argument(
        "--budget", metavar="TOKENS", help="the same for the fullest view within so many tokens"
    )


def show_view(options: Namespace) -> int:
    try:
        reading = reading_of({"view": options.view, "budget": options.budget})
    except ValueError as error:
        raise ConfigError.at("--view, --budget", str(error)) from None
    report = asyncio.run(_report(options, reading or Reading()))
    if options.json:
        print_json(report)
    else:
        print("\n".join(_as_text(report)))
    return 0


async def _report(options: Namespace, reading: Reading) -> JsonObject:
    async with opened(plan_for(options)) as app:
        return report_of(app, await app.catalog(), reading)


def report_of(app: App, catalog: Catalog, reading: Reading) -> JsonObject:
    is_pinned = app.context.is_pinned
    view = chosen(reading, catalog, is_pinned)
    return {
        "view": view,
        "views": [cost._asdict() for cost in view_costs(catalog, is_pinned)],
        "tools": definitions(catalog, view, is_pinned),
    }


def _as_text(report: JsonObject) -> Iterator[str]:
    rows = [
        (cost["view"], cost["tools"], f"{cost['tokens']:,}", _share(cost["saved"]))
        for cost in report["views"]
    ]
    yield from table([("VIEW", "TOOLS", "TOKENS", "SAVED"), *rows])
    yield f"\nWhat a model reads in view {report['view']}:\n{pretty(report['tools'])}"


def _share(saved: float) -> str:
    """Of a few tools, the meta tools take more than the tools themselves: nothing is saved."""
    return f"{saved:.0%}" if saved >= 0 else "none"
