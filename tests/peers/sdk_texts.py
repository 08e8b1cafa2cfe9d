"""What the SDK-based server's prompts and resources say. Knows no transport."""

from __future__ import annotations

import base64
import json

from tests.peers.sdk_fixtures import PROJECT, TEXT, WATCHED, JsonObject, Use, World, fixture, form


def prompt(*blocks: JsonObject) -> JsonObject:
    return {"messages": [{"role": "user", "content": block} for block in blocks]}


def text_block(text: str) -> JsonObject:
    return {"type": "text", "text": text}


@fixture("test_simple_prompt")
async def simple_prompt(use: Use) -> JsonObject:
    return prompt(text_block("This is a simple prompt for testing."))


@fixture("added_prompt")
async def added_prompt(use: Use) -> JsonObject:
    return prompt(text_block("I was added while the server ran."))


@fixture("test_prompt_with_arguments")
async def prompt_with_arguments(use: Use) -> JsonObject:
    first, second = use.arguments["arg1"], use.arguments["arg2"]
    return prompt(text_block(f"Prompt with arguments: arg1='{first}', arg2='{second}'"))


@fixture("test_prompt_with_embedded_resource")
async def prompt_with_resource(use: Use) -> JsonObject:
    uri, text = use.arguments["resourceUri"], "Embedded resource content for testing."
    resource = {"uri": uri, "mimeType": "text/plain", "text": text}
    return prompt(
        {"type": "resource", "resource": resource},
        text_block("Please process the embedded resource above."),
    )


@fixture("test_input_required_result_prompt")
async def prompt_that_asks(use: Use) -> JsonObject:
    question = form("What context should the prompt use?", context=TEXT)
    answers = await use.ask(user_context=question)
    return prompt(text_block(f"Use this context: {answers['user_context']['content']['context']}"))


def contents(uri: str, world: World) -> JsonObject:
    """What `resources/read` finds at a URI; KeyError where there is nothing."""
    if uri == WATCHED:
        return {"mimeType": "text/plain", "text": f"Watched resource, version {world.version}"}
    if uri == "test://static-text":
        text = (PROJECT / "resources" / "static-text.txt").read_text(encoding="utf-8")
        return {"mimeType": "text/plain", "text": text}
    if uri == "test://static-binary":
        data = (PROJECT / "resources" / "static-binary.png").read_bytes()
        return {"mimeType": "image/png", "blob": base64.b64encode(data).decode()}
    if uri.startswith("test://template/") and uri.endswith("/data"):
        id = uri.removeprefix("test://template/").removesuffix("/data")
        data_of = {"id": id, "templateTest": True, "data": f"Data for ID: {id}"}
        text = json.dumps(data_of, separators=(",", ":"))
        return {"mimeType": "application/json", "text": text}
    raise KeyError(uri)
