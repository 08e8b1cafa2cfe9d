"""toolyard call: one tool of any MCP server, through the code that the gateway uses."""

from __future__ import annotations

import asyncio
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Awaitable

from toolyard.cli.client.arguments import json_object
from toolyard.cli.client.peer import add_peer, connected, definition_of
from toolyard.cli.client.results import as_text
from toolyard.cli.client.terminal import TerminalChannel
from toolyard.cli.output import print_json
from toolyard.cli.terminal.waiting import waiting
from toolyard.errors import ProtocolError, ToolError
from toolyard.protocol.asking.rounds import answered
from toolyard.protocol.call import Call, JsonObject, Result, Target
from toolyard.protocol.revisions import LATEST
from toolyard.upstreams.definition import ServerDefinition
from toolyard.virtual.codec import decoded


def add(parser: ArgumentParser) -> None:
    parser.epilog = (
        "SERVER is a server's name in the registry, a URL, or a command in quotes. "
        "Exit code 1: the call failed."
    )
    parser.add_argument("server", metavar="SERVER", help="its name, its URL or its command")
    parser.add_argument("tool", metavar="TOOL")
    parser.add_argument(
        "--args", default="{}", metavar="JSON", help="arguments; @FILE reads a file, @- stdin"
    )
    parser.add_argument("--json", action="store_true", help="the whole result, for programs")
    add_peer(parser)


def run(options: Namespace) -> int:
    arguments = json_object(options.args, "--args")
    definition = definition_of([options.server], options)
    try:
        result = asyncio.run(_result(options, definition, arguments))
    except ProtocolError as error:
        print(f"{definition.name}: {error.message} ({error.code})", file=sys.stderr)
        return 1
    except ToolError as error:
        print(error.message, file=sys.stderr)
        return 1
    if options.json:
        print_json(result)
    else:
        print("\n".join(as_text(result)))
    return 1 if result.get("isError") else 0


async def _result(
    options: Namespace, definition: ServerDefinition, arguments: JsonObject
) -> JsonObject:
    channel = TerminalChannel()
    async with connected(definition, options.timeout) as pool:
        target = pool.targets.tool(definition.name, options.tool)
        call = Call(
            "tools/call",
            {"name": options.tool, "arguments": arguments},
            LATEST,
            client=channel.client,
            meta={"progressToken": "call"},
            id="call",
            log_level="info",
        )
        try:
            async with waiting(pool.health):
                return decoded(await _answered(target, arguments, call, channel))
        finally:
            channel.clear()


async def _answered(
    target: Target, arguments: JsonObject, call: Call, channel: TerminalChannel
) -> Result:
    def make(call: Call) -> Awaitable[Result]:
        return target.call(arguments, call, channel)

    return await answered(await make(call), call, make, channel.ask)
