"""A program that serves entries held in memory through the real transports.

    python -m tests.peers.inmemory stdio
    python -m tests.peers.inmemory http [PORT]

For tests of transports and for measuring them: no process is started by any tool.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

import uvloop

from toolyard.catalog.entries import Entries, Origin, Prompt, Resource, Tool
from toolyard.catalog.keeper import Keeper
from toolyard.errors import ProtocolError, ToolError
from toolyard.http.serving.listening import listen
from toolyard.http.serving.server import serve
from toolyard.methods.offer import Offer
from toolyard.methods.table import Methods, methods_of
from toolyard.protocol.call import Call, Channel, JsonObject, Result
from toolyard.protocol.eras.handshake import Answered
from toolyard.protocol.eras.modern import stamp
from toolyard.protocol.identity import Identity
from toolyard.transports.answer import Edge
from toolyard.transports.endpoint.app import HttpSettings, HttpTransport
from toolyard.transports.stdio import StdioSettings, StdioTransport

Work: TypeAlias = Callable[[JsonObject, Call, Channel], Awaitable[Result]]
ORIGIN = Origin("memory")
NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
ANYTHING: JsonObject = {"type": "object"}


@dataclass(frozen=True, slots=True)
class Function:
    """A target that is a function."""

    work: Work

    async def call(self, arguments: JsonObject, call: Call, channel: Channel) -> Result:
        return await self.work(arguments, call, channel)


def text(value: str) -> JsonObject:
    return {"content": [{"type": "text", "text": value}]}


async def echo(arguments: JsonObject, _call: Call, _channel: Channel) -> Result:
    return {**text(arguments["name"]), "structuredContent": {"name": arguments["name"]}}


async def fail(_arguments: JsonObject, _call: Call, _channel: Channel) -> Result:
    raise ToolError("it did not work")


async def crash(_arguments: JsonObject, _call: Call, _channel: Channel) -> Result:
    raise RuntimeError("secret detail")


async def refuse(_arguments: JsonObject, _call: Call, _channel: Channel) -> Result:
    raise ProtocolError(-31000, "no", {"why": "own code"})


async def steps(_arguments: JsonObject, _call: Call, channel: Channel) -> Result:
    channel.progress(1, 2, "half")
    channel.log("debug", "fine")
    channel.log("warning", "careful", "steps")
    channel.progress(2, 2, "done")
    return text("done")


async def hang(_arguments: JsonObject, _call: Call, channel: Channel) -> Result:
    channel.progress(1, None, "hanging")
    print("hang began", file=sys.stderr, flush=True)
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        print("hang was cancelled", file=sys.stderr, flush=True)
        raise
    return text("never")


async def ask(_arguments: JsonObject, _call: Call, channel: Channel) -> Result:
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    params = {"mode": "form", "message": "Who?", "requestedSchema": schema}
    answers = await channel.ask({"who": {"method": "elicitation/create", "params": params}})
    return text(f"Hello {answers['who']['content']['name']}")


async def ask_stateless(_arguments: JsonObject, call: Call, _channel: Channel) -> Result:
    answer = (call.input_responses or {}).get("roots")
    if answer is None:
        return {
            "resultType": "input_required",
            "inputRequests": {"roots": {"method": "roots/list"}},
            "requestState": "plain text",
        }
    return text(f"{call.request_state}: {len(answer['roots'])} roots")


async def kinds(_arguments: JsonObject, _call: Call, _channel: Channel) -> Result:
    annotations = {"priority": 1, "lastModified": "2026-01-01T00:00:00Z"}
    return {
        "content": [
            {"type": "text", "text": "t", "annotations": annotations, "x-vendor": 1},
            {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
            {"type": "resource_link", "uri": "test://r", "name": "r"},
        ],
        "structuredContent": [1, 2, 3],
        "_meta": {"vendor/key": "kept"},
        "vendorField": True,
    }


async def read(arguments: JsonObject, _call: Call, _channel: Channel) -> Result:
    return {"contents": [{"uri": arguments["uri"], "mimeType": "text/plain", "text": "x"}]}


async def prompt(arguments: JsonObject, _call: Call, _channel: Channel) -> Result:
    content = {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"}
    return {"messages": [{"role": "user", "content": content}], "description": str(arguments)}


def tool(name: str, work: Work, schema: JsonObject | None = None, **more: object) -> Tool:
    definition = {
        "name": name,
        "title": name.title(),
        "description": f"The tool {name}",
        "inputSchema": schema or ANYTHING,
        "annotations": {"readOnlyHint": True},
        "icons": [{"src": "data:image/png;base64,AAAA"}],
        "x-vendor": "kept",
        **more,
    }
    return Tool(name, definition, Function(work), ORIGIN)


HEADED = {
    "type": "object",
    "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
}
OUTPUT = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
TOOLS: tuple[Tool, ...] = (
    tool("echo", echo, NAME, outputSchema=OUTPUT),
    tool("fail", fail),
    tool("crash", crash),
    tool("refuse", refuse),
    tool("steps", steps),
    tool("hang", hang),
    tool("ask", ask),
    tool("ask_stateless", ask_stateless),
    tool("kinds", kinds, outputSchema={"type": "array"}),
    tool("headed", steps, HEADED),
)
URI = "test://thing"


class Memory:
    """A source whose tools can be changed while it serves."""

    def read(self) -> Entries:
        thing = Resource(URI, {"uri": URI, "name": "thing", "title": "T"}, Function(read), ORIGIN)
        arguments = [{"name": "a", "required": True}]
        written = Prompt("p", {"name": "p", "arguments": arguments}, Function(prompt), ORIGIN)
        return Entries(tools=TOOLS, resources=(thing,), prompts=(written,))

    async def settle(self) -> None: ...

    async def watch(self, changed: Callable[[], None]) -> None: ...


def made() -> tuple[Edge, Methods]:
    identity = Identity({"name": "memory", "version": "1", "title": "Memory"}, "Be kind.")
    methods = methods_of(Offer(Keeper([Memory()]), stamp(identity)))
    return Edge(methods, identity), methods


async def over_stdio() -> None:
    edge, _ = made()
    await StdioTransport(edge, StdioSettings(grace=1, patience=1), Answered()).serve()


async def over_http(port: int) -> None:
    edge, methods = made()
    transport = HttpTransport(edge, HttpSettings())
    sock = listen("127.0.0.1", port)
    print(f"http://127.0.0.1:{sock.getsockname()[1]}/mcp", file=sys.stderr, flush=True)

    async def stopping() -> None:
        await methods.close()
        await edge.parking.close()
        await transport.drain()

    await serve(transport, sock, stopping, 2)


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        asyncio.run(over_stdio())
    else:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(over_http(int(sys.argv[2]) if len(sys.argv) > 2 else 0))
