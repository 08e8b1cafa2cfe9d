"""The fixtures of the conformance suite on the official SDK: an upstream, and a yardstick.

python -m tests.peers.sdk_conformance_server                  # over stdio
python -m tests.peers.sdk_conformance_server 127.0.0.1:0      # over HTTP; the URL on stderr
"""

from __future__ import annotations

import asyncio
import socket
import sys
from typing import Any

import mcp_types as types
import uvicorn
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.sse import SseServerTransport
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http import EventCallback, EventMessage, EventStore
from mcp.server.subscriptions import ListenHandler
from mcp.shared.exceptions import MCPError
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route

from tests.peers.sdk_fixtures import (
    FIXTURES,
    MODERN,
    WATCHED,
    AskFirst,
    Context,
    JsonObject,
    Use,
    World,
    definition,
    definitions,
)
from tests.peers.sdk_texts import contents

STDIO = [sys.executable, "-m", "tests.peers.sdk_conformance_server"]
HTTP = [*STDIO, "127.0.0.1:0"]
WORDS = ("paris", "park", "party", "test", "testing")
NOT_THE_CLIENTS = ("requires", "path", "provider")


class FixtureServer(Server[Any]):
    """The SDK's server, saying in the handshake era too that its lists change."""

    def create_initialization_options(self, *_: Any, **__: Any) -> InitializationOptions:
        changes = NotificationOptions(True, True, True)
        return super().create_initialization_options(changes)


def build(world: World) -> FixtureServer:
    listen = ListenHandler(world.bus)
    server = FixtureServer("sdk-conformance", version="1.0.0", on_subscriptions_listen=listen)
    boundary = RequestStateBoundary(RequestStateSecurity.ephemeral(), default_audience=server.name)
    server.middleware.append(boundary)
    for method, params, result, handler in handlers(world):
        server.add_request_handler(method, params, typed(handler, result))
    return server


def typed(handler: Any, result: Any) -> Any:
    """The SDK adds what a revision wants of a result only to its own models."""

    async def handle(context: Context, params: Any) -> Any:
        found = await handler(context, params)
        asks = found.get("resultType") == "input_required"
        model = types.InputRequiredResult if asks else result
        return model.model_validate(found, by_name=False)

    return handle


def handlers(world: World) -> list[tuple[str, Any, Any, Any]]:
    async def list_tools(context: Context, params: Any) -> JsonObject:
        return {"tools": tools(world)}

    async def list_prompts(context: Context, params: Any) -> JsonObject:
        return {"prompts": prompts(world)}

    async def list_resources(context: Context, params: Any) -> JsonObject:
        return {"resources": resources("uri")}

    async def list_templates(context: Context, params: Any) -> JsonObject:
        return {"resourceTemplates": resources("uriTemplate")}

    async def run(context: Context, params: Any) -> JsonObject:
        return await use_fixture(context, params, world)

    async def read(context: Context, params: Any) -> JsonObject:
        return read_resource(str(params.uri), world)

    async def subscribe(context: Context, params: Any) -> JsonObject:
        if str(params.uri) == WATCHED:
            world.subscribers.append(context.session)
        return {}

    return [
        ("tools/list", types.PaginatedRequestParams, types.ListToolsResult, list_tools),
        ("tools/call", types.CallToolRequestParams, types.CallToolResult, run),
        ("prompts/list", types.PaginatedRequestParams, types.ListPromptsResult, list_prompts),
        ("prompts/get", types.GetPromptRequestParams, types.GetPromptResult, run),
        ("resources/list", types.PaginatedRequestParams, types.ListResourcesResult, list_resources),
        (
            "resources/templates/list",
            types.PaginatedRequestParams,
            types.ListResourceTemplatesResult,
            list_templates,
        ),
        ("resources/read", types.ReadResourceRequestParams, types.ReadResourceResult, read),
        ("resources/subscribe", types.SubscribeRequestParams, types.EmptyResult, subscribe),
        ("resources/unsubscribe", types.UnsubscribeRequestParams, types.EmptyResult, accept),
        ("logging/setLevel", types.SetLevelRequestParams, types.EmptyResult, accept),
        ("completion/complete", types.CompleteRequestParams, types.CompleteResult, complete),
    ]


def tools(world: World) -> list[JsonObject]:
    spare = [definition("spare/added_tool/tool.meta.json")] if world.tool_added else []
    # The SDK has no tasks: what only they need is not here.
    found = [tool for tool in definitions("tools/*/tool.meta.json") if tool["name"] in FIXTURES]
    return [shown(tool) for tool in [*found, *spare]]


def prompts(world: World) -> list[JsonObject]:
    spare = [definition("spare/added_prompt/added_prompt.meta.json")] if world.prompt_added else []
    found = [*definitions("prompts/*.meta.json"), *spare]
    return [{**shown(prompt), "arguments": arguments_of(prompt)} for prompt in found]


def resources(key: str) -> list[JsonObject]:
    return [shown(item) for item in definitions("resources/*.meta.json") if key in item]


def shown(item: JsonObject) -> JsonObject:
    return {key: value for key, value in item.items() if key not in NOT_THE_CLIENTS}


def arguments_of(prompt: JsonObject) -> list[JsonObject]:
    """The project says them as a schema or as MCP does."""
    declared = prompt.get("arguments", [])
    if isinstance(declared, list):
        return declared
    return [
        {
            "name": name,
            "description": schema["description"],
            "required": name in declared["required"],
        }
        for name, schema in declared["properties"].items()
    ]


async def accept(context: Context, params: Any) -> JsonObject:
    return {}


async def use_fixture(context: Context, params: Any, world: World) -> JsonObject:
    found = FIXTURES.get(params.name)
    if found is None:
        raise MCPError(-32602, f"Unknown name: {params.name}")
    raw = (context.params or {}).get("inputResponses") or {}
    use = Use(
        context=context,
        world=world,
        name=params.name,
        arguments=params.arguments or {},
        state=params.request_state or "",
        modern=context.protocol_version == MODERN,
        given={key: value for key, value in raw.items() if isinstance(value, dict)},
    )
    try:
        return await found(use)
    except AskFirst as question:
        return question.result


def read_resource(uri: str, world: World) -> JsonObject:
    try:
        return {"contents": [{"uri": uri, **contents(uri, world)}]}
    except KeyError:
        raise MCPError(-32602, "Resource not found", {"uri": uri}) from None


async def complete(context: Context, params: Any) -> JsonObject:
    found = [word for word in WORDS if word.startswith(params.argument.value)]
    return {"completion": {"values": found, "total": len(found), "hasMore": False}}


class Events(EventStore):
    """Every event of every stream, in memory, for clients that come back."""

    def __init__(self) -> None:
        self.kept: list[tuple[str, Any]] = []

    async def store_event(self, stream_id: str, message: Any) -> str:
        self.kept.append((stream_id, message))
        return str(len(self.kept))

    async def replay_events_after(
        self, last_event_id: str, send_callback: EventCallback
    ) -> str | None:
        position = int(last_event_id)
        if not 0 < position <= len(self.kept):
            return None
        stream = self.kept[position - 1][0]
        for number, (of, message) in enumerate(self.kept[position:], position + 1):
            if of == stream and message is not None:
                await send_callback(EventMessage(message, str(number)))
        return stream


async def over_stdio() -> None:
    server = build(World())
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def over_http(host: str, port: int) -> None:
    server = build(World())
    app = server.streamable_http_app(event_store=Events(), retry_interval=100)
    app.router.routes += event_pair(server)
    listener = socket.create_server((host, port))
    print(
        f"listening on http://{host}:{listener.getsockname()[1]}/mcp", file=sys.stderr, flush=True
    )
    # httptools leaves trailing blanks on header values, which the suite forbids.
    config = uvicorn.Config(app, http="h11", log_level="warning", timeout_graceful_shutdown=1)
    uvicorn.Server(config).run([listener])


def event_pair(server: FixtureServer) -> list[BaseRoute]:
    """The transport of 2024-11-05, at /sse."""
    transport = SseServerTransport("/messages/")

    async def connect(request: Request) -> Response:
        async with transport.connect_sse(request.scope, request.receive, request._send) as both:
            await server.run(both[0], both[1], server.create_initialization_options())
        return Response()

    return [Route("/sse", connect), Mount("/messages/", app=transport.handle_post_message)]


def main(arguments: list[str]) -> None:
    if not arguments:
        asyncio.run(over_stdio())
        return
    host, _, port = arguments[0].rpartition(":")
    over_http(host, int(port))


if __name__ == "__main__":
    main(sys.argv[1:])
