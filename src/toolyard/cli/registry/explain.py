"""toolyard registry explain: one call of a tool, stage by stage, with sizes and times."""

from __future__ import annotations

import asyncio
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Awaitable, Iterator

from toolyard.catalog.entries import Tool
from toolyard.catalog.snapshot import Catalog
from toolyard.cli.client.arguments import json_object
from toolyard.cli.client.terminal import TerminalChannel
from toolyard.cli.options import add_project
from toolyard.cli.output import pretty, print_json, table
from toolyard.cli.registry.chosen import opened, plan_for
from toolyard.context.sizes import CHARACTERS_PER_TOKEN
from toolyard.errors import ConfigError, ProtocolError, ToolError, did_you_mean
from toolyard.methods.tools import check_arguments, refuse_unready
from toolyard.protocol.asking.rounds import answered
from toolyard.protocol.call import Call, JsonObject, Result
from toolyard.protocol.revisions import LATEST
from toolyard.sources.registry.masking import masked_values
from toolyard.virtual.explain import explain
from toolyard.virtual.stages import Stage, Stages

SHOWN_LINES = 12


def add(parser: ArgumentParser) -> None:
    parser.epilog = (
        "The tool is called for real. Values that come from variables are shown as ***. "
        "Exit code 1: the call failed."
    )
    parser.add_argument("tool")
    parser.add_argument(
        "--args", default="{}", metavar="JSON", help="arguments; @FILE reads a file, @- stdin"
    )
    parser.add_argument("--full", action="store_true", help="print each value whole")
    parser.add_argument("--json", action="store_true", help="for programs")
    add_project(parser)


def run(options: Namespace) -> int:
    arguments = json_object(options.args, "--args")
    report = asyncio.run(_report(options, arguments))
    if options.json:
        print_json(report)
    else:
        print("\n".join(_as_text(report, options.full)))
    return 1 if report["failed"] else 0


async def _report(options: Namespace, arguments: JsonObject) -> JsonObject:
    async with opened(plan_for(options)) as app:
        catalog = await app.catalog()
        tool = _find(catalog, options.tool)
        stages, error = await _call(catalog, tool, arguments)
        secrets = app.federation.registries.secrets
    rows = [_as_json(stage, secrets) for stage in stages.marks]
    is_failure = error is not None or bool(stages.marks and _is_error(stages.marks[-1]))
    return {
        "tool": tool.name,
        "stages": rows,
        "failed": is_failure,
        "error": masked_values(error, secrets),
    }


def _find(catalog: Catalog, name: str) -> Tool:
    tool = catalog.tools.get(name)
    if tool is None:
        raise ConfigError.at(name, f"there is no such tool{did_you_mean(name, catalog.tools)}")
    return tool


async def _call(catalog: Catalog, tool: Tool, arguments: JsonObject) -> tuple[Stages, str | None]:
    """The stages of the last round; a tool that asks questions takes several."""
    channel = TerminalChannel()
    params = {"name": tool.name, "arguments": arguments}
    call = Call("tools/call", params, LATEST, client=channel.client, id="explain")
    stages = Stages(time.perf_counter)

    def make(call: Call) -> Awaitable[Result]:
        nonlocal stages
        stages = Stages(time.perf_counter)
        return explain(tool.target, arguments, call, channel, stages)

    try:
        refuse_unready(tool, call)
        if tool.check_input:
            check_arguments(catalog, tool, arguments)
        await answered(await make(call), call, make, channel.ask)
    except (ToolError, ProtocolError) as error:
        return stages, error.message
    finally:
        channel.clear()
    return stages, None


def _is_error(stage: Stage) -> bool:
    return isinstance(stage.value, dict) and bool(stage.value.get("isError"))


def _as_json(stage: Stage, secrets: frozenset[str]) -> JsonObject:
    return {
        "stage": stage.name,
        "bytes": stage.size,
        "tokens": -(-stage.size // CHARACTERS_PER_TOKEN),
        "ms": round(stage.seconds * 1000, 3),
        "value": masked_values(stage.value, secrets),
    }


def _as_text(report: JsonObject, full: bool) -> Iterator[str]:
    rows = [
        (stage["stage"], stage["bytes"], stage["tokens"], f"{stage['ms']:.3f}")
        for stage in report["stages"]
    ]
    yield from table([("STAGE", "BYTES", "TOKENS", "MS"), *rows])
    for stage in report["stages"]:
        lines = pretty(stage["value"]).splitlines()
        more = 0 if full else max(0, len(lines) - SHOWN_LINES)
        head = lines[: len(lines) - more]
        yield "\n".join(
            ["", f"{stage['stage']}:", *head, *([f"... {more} more lines"] if more else [])]
        )
    if report["error"] is not None:
        yield f"\nfailed: {report['error']}"
