"""The conformance fixtures as an ordinary user of the official SDK writes them.

In its high-level style, serving both eras, and asking inside the handler (`ctx.elicit`,
`create_message`), which only a client of the handshake era can answer.

python -m tests.peers.sdk_user_server                  # over stdio
python -m tests.peers.sdk_user_server 127.0.0.1:0      # over HTTP; the URL on stderr
"""

from __future__ import annotations

import base64
import json
import socket
import sys
import warnings
from collections.abc import Callable
from typing import Annotated, Any, Literal

import anyio
import mcp_types as types
import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from pydantic import BaseModel, Field

from tests.peers.sdk_conformance_server import Events
from tests.peers.sdk_user_rounds import add_rounds

STDIO = [sys.executable, "-m", "tests.peers.sdk_user_server"]
HTTP = [*STDIO, "127.0.0.1:0"]
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
IMAGE = types.ImageContent(type="image", data=PNG, mime_type="image/png")
WATCHED = "test://watched-resource"

# What the SDK calls deprecated is what most servers of today do.
warnings.simplefilter("ignore", MCPDeprecationWarning)
server = MCPServer("sdk-user", version="1.0.0", log_level="WARNING")
add_rounds(server)


def embedded(uri: str, text: str, mime: str = "text/plain") -> types.EmbeddedResource:
    inside = types.TextResourceContents(uri=uri, mime_type=mime, text=text)
    return types.EmbeddedResource(type="resource", resource=inside)


def plain(text: str) -> types.TextContent:
    return types.TextContent(type="text", text=text)


def tool(function: Callable[..., Any]) -> Callable[..., Any]:
    described = function.__name__.replace("_", " ")
    return server.tool(description=described, structured_output=False)(function)


def prompt(function: Callable[..., Any]) -> Callable[..., Any]:
    return server.prompt(description=function.__name__.replace("_", " "))(function)


# -- tools that only answer ----------------------------------------------------------------


@tool
async def test_simple_text() -> str:
    return "This is a simple text response for testing."


@tool
async def test_image_content() -> list[types.ContentBlock]:
    return [IMAGE]


@tool
async def test_audio_content() -> list[types.ContentBlock]:
    return [types.AudioContent(type="audio", data=WAV, mime_type="audio/wav")]


@tool
async def test_embedded_resource() -> list[types.ContentBlock]:
    return [embedded("test://embedded-resource", "This is an embedded resource content.")]


@tool
async def test_multiple_content_types() -> list[types.ContentBlock]:
    data = json.dumps({"test": "data", "value": 123}, separators=(",", ":"))
    mixed = embedded("test://mixed-content-resource", data, "application/json")
    return [plain("Multiple content types test:"), IMAGE, mixed]


@tool
async def test_error_handling() -> str:
    raise ToolError("This tool intentionally returns an error for testing")


@tool
async def test_x_mcp_header(
    region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})] = "",
) -> str:
    return f"Region: {region}"


@tool
async def test_missing_capability(ctx: Context) -> str:
    if ctx.client_capabilities is None or ctx.client_capabilities.sampling is None:
        raise MCPError(-32021, "sampling is required", {"requiredCapabilities": {"sampling": {}}})
    return "The client can sample."


# -- tools that tell something meanwhile ---------------------------------------------------


@tool
async def test_tool_with_logging(ctx: Context) -> str:
    await ctx.info("Tool execution started")
    await anyio.sleep(0.05)
    await ctx.info("Tool processing data")
    await anyio.sleep(0.05)
    await ctx.info("Tool execution completed")
    return "Tool with logging executed successfully"


@tool
async def test_logging_tool(ctx: Context) -> str:
    await ctx.info("test_logging_tool ran")
    return "Logged once."


@tool
async def test_tool_with_progress(ctx: Context) -> str:
    for done in (0, 50, 100):
        await ctx.report_progress(done, 100)
        await anyio.sleep(0.05)
    return "Tool with progress executed successfully"


@tool
async def test_reconnection(ctx: Context) -> str:
    await ctx.close_sse_stream()
    await anyio.sleep(0.2)
    return "Reconnection test completed"


@tool
async def test_trigger_tool_change(ctx: Context) -> str:
    name = f"added_{len(await server.list_tools())}"
    server.add_tool(test_simple_text, name, description="added", structured_output=False)
    await ctx.notify_tools_changed()
    return "The list of tools has changed."


@tool
async def test_trigger_prompt_change(ctx: Context) -> str:
    name = f"added_{len(await server.list_prompts())}"
    server.prompt(name, description="added")(test_simple_text)
    await ctx.notify_prompts_changed()
    return "The list of prompts has changed."


# -- tools that ask inside ------------------------------------------------------------------


class User(BaseModel):
    username: str = Field(description="User's response")
    email: str = Field(description="User's email address")


class Defaults(BaseModel):
    name: str = "John Doe"
    age: int = 30
    score: float = 95.5
    status: Literal["active", "inactive", "pending"] = "active"
    verified: bool = True


@tool
async def test_sampling(prompt: str, ctx: Context) -> str:
    message = types.SamplingMessage(role="user", content=plain(prompt))
    result = await ctx.session.create_message(messages=[message], max_tokens=100)
    assert isinstance(result.content, types.TextContent)
    return f"LLM response: {result.content.text}"


@tool
async def test_elicitation(message: str, ctx: Context) -> str:
    result = await ctx.elicit(message, User)
    content = result.data.model_dump_json() if result.action == "accept" else "{}"
    return f"User response: action={result.action}, content={content}"


@tool
async def test_elicitation_sep1034_defaults(ctx: Context) -> str:
    result = await ctx.elicit("Please review and update the form fields with defaults", Defaults)
    return f"Elicitation completed: action={result.action}"


def titled(key: str, **choices: str) -> dict[str, Any]:
    return {key: [{"const": value, "title": title} for value, title in choices.items()]}


ENUMS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
        "titledSingle": {"type": "string", **titled("oneOf", value1="First", value2="Second")},
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2"],
            "enumNames": ["Option One", "Option Two"],
        },
        "untitledMulti": {
            "type": "array",
            "items": {"type": "string", "enum": ["option1", "option2"]},
        },
        "titledMulti": {"type": "array", "items": titled("anyOf", value1="First", value2="Second")},
    },
}


@tool
async def test_elicitation_sep1330_enums(ctx: Context) -> str:
    result = await ctx.session.elicit_form("Please choose", ENUMS, ctx.request_id)
    return f"Elicitation completed: action={result.action}"


# -- resources, prompts, completions --------------------------------------------------------


@server.resource("test://static-text", mime_type="text/plain")
async def static_text() -> str:
    return "This is the content of the static text resource."


@server.resource("test://static-binary", mime_type="image/png")
async def static_binary() -> bytes:
    return base64.b64decode(PNG)


@server.resource(WATCHED, mime_type="text/plain")
async def watched() -> str:
    return "Watched resource"


@server.resource("test://template/{id}/data", mime_type="application/json")
async def template(id: str) -> str:
    data = {"id": id, "templateTest": True, "data": f"Data for ID: {id}"}
    return json.dumps(data, separators=(",", ":"))


@prompt
async def test_simple_prompt() -> str:
    return "This is a simple prompt for testing."


@prompt
async def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


@prompt
async def test_prompt_with_embedded_resource(resourceUri: str) -> list[UserMessage]:
    resource = embedded(resourceUri, "Embedded resource content for testing.")
    return [UserMessage(resource), UserMessage("Please process the embedded resource above.")]


@prompt
async def test_prompt_with_image() -> list[UserMessage]:
    return [UserMessage(IMAGE), UserMessage("Please analyze the image above.")]


@server.completion()  # type: ignore[no-untyped-call,untyped-decorator]
async def complete(ref: Any, argument: Any, context: Any) -> types.Completion:
    found = [word for word in ("paris", "park", "party") if word.startswith(argument.value)]
    return types.Completion(values=found, total=len(found), has_more=False)


# -- what the high-level style has no decorator for -----------------------------------------


async def accept(ctx: Any, params: Any) -> types.EmptyResult:
    return types.EmptyResult()


SCHEMA_2020_12: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


@server.tool(structured_output=False, description="Tool with JSON Schema 2020-12 features")
async def json_schema_2020_12_tool(name: str = "") -> str:
    return f"Accepted: {name}"


def complete_by_hand() -> None:
    tool = server._tool_manager.get_tool("json_schema_2020_12_tool")
    assert tool is not None
    tool.parameters = SCHEMA_2020_12
    lower = server._lowlevel_server
    lower.add_request_handler("logging/setLevel", types.SetLevelRequestParams, accept)
    lower.add_request_handler("resources/subscribe", types.SubscribeRequestParams, accept)
    lower.add_request_handler("resources/unsubscribe", types.UnsubscribeRequestParams, accept)


def over_http(host: str, port: int) -> None:
    app = server.streamable_http_app(event_store=Events(), retry_interval=100)
    listener = socket.create_server((host, port))
    url = f"http://{host}:{listener.getsockname()[1]}/mcp"
    print(f"listening on {url}", file=sys.stderr, flush=True)
    # httptools leaves trailing blanks on header values, which the suite forbids.
    config = uvicorn.Config(app, http="h11", log_level="warning", timeout_graceful_shutdown=1)
    uvicorn.Server(config).run([listener])


def main(arguments: list[str]) -> None:
    complete_by_hand()
    if not arguments:
        server.run("stdio")
        return
    host, _, port = arguments[0].rpartition(":")
    over_http(host, int(port))


if __name__ == "__main__":
    main(sys.argv[1:])
