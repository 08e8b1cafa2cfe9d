"""toolyard request: make one MCP request of any kind and print its result."""

from __future__ import annotations

import asyncio
import sys
from argparse import ArgumentParser, Namespace

import orjson

from toolyard.app.build import build
from toolyard.app.plan import Plan
from toolyard.cli.choosing import chosen_by, plan_of, refuse_nothing
from toolyard.cli.client.arguments import json_object
from toolyard.cli.client.terminal import TerminalChannel
from toolyard.cli.options import add_project
from toolyard.errors import ProtocolError
from toolyard.protocol.call import Call, Encoded, JsonObject
from toolyard.protocol.revisions import LATEST
from toolyard.transports.answer import in_rounds


def add(parser: ArgumentParser) -> None:
    parser.epilog = (
        'For example: request prompts/get \'{"name": "greeting"}\', or request resources/read '
        '\'{"uri": "file:///..."}\'. If it fails: exit code 1 and a JSON-RPC error.'
    )
    parser.add_argument("method", help="tools/list, prompts/get, resources/read, ...")
    parser.add_argument(
        "params", nargs="?", default="{}", help="JSON; @FILE reads a file, @- stdin"
    )
    add_project(parser)


def run(options: Namespace) -> int:
    params = json_object(options.params, "params")
    choice = chosen_by(options)
    refuse_nothing(choice)
    return asyncio.run(_run(plan_of(options, choice), options.method, params))


async def _run(plan: Plan, method: str, params: JsonObject) -> int:
    app = build(plan)
    channel = TerminalChannel()
    call = Call(method, params, LATEST, channel.client, id="request", log_level="info")
    try:
        result = await in_rounds(app.edge, call, channel)
    except ProtocolError as error:
        _print(orjson.dumps({"code": error.code, "message": error.message, "data": error.data}))
        return 1
    finally:
        channel.clear()
        await app.close()
    _print(result.body if isinstance(result, Encoded) else orjson.dumps(result))
    return 1 if isinstance(result, dict) and result.get("isError") else 0


def _print(line: bytes) -> None:
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()
