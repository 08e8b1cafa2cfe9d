"""The pool as the client under test of the official suite: list everything, call every tool.

python -m tests.upstreams.conformance_client URL
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from dataclasses import replace

from tests.upstreams.seam import ClientSession, RecordingChannel
from toolyard.errors import ProtocolError, UpstreamError
from toolyard.protocol.call import Call, Client, Json, JsonObject
from toolyard.protocol.revisions import LATEST
from toolyard.upstreams.definition import ServerDefinition
from toolyard.upstreams.pool import Pool

SAMPLES: dict[str, Json] = {"string": "x", "number": 1, "integer": 1, "boolean": True, "array": []}
CAPABILITIES: JsonObject = {"elicitation": {"applyDefaults": True}, "sampling": {}, "roots": {}}
MAX_ROUNDS = 5


def sample(schema: Json) -> JsonObject:
    """Arguments that fit a schema well enough, its defaults first."""
    properties = schema.get("properties", {}) if isinstance(schema, dict) else {}
    return {name: _value(one) for name, one in properties.items() if isinstance(one, dict)}


def _value(schema: JsonObject) -> Json:
    if "default" in schema:
        return schema["default"]
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type", "string")
    return sample(schema) if kind == "object" else SAMPLES.get(str(kind), "x")


async def answer(question: JsonObject) -> Json:
    method, params = question["method"], question.get("params", {})
    if method == "elicitation/create":
        return {"action": "accept", "content": sample(params.get("requestedSchema"))}
    if method == "roots/list":
        return {"roots": []}
    return {"role": "assistant", "model": "m", "content": {"type": "text", "text": "x"}}


async def call_tool(pool: Pool, name: str, arguments: JsonObject) -> None:
    call = Call("tools/call", {}, LATEST, Client({"name": "test"}, CAPABILITIES))
    target = pool.targets.tool("server", name)
    channel = RecordingChannel(answer, ClientSession())
    for _ in range(MAX_ROUNDS):
        result = await target.call(arguments, call, channel)
        assert isinstance(result, dict)
        if result.get("resultType") != "input_required":
            return
        questions = result.get("inputRequests") or {}
        answers = {key: await answer(question) for key, question in questions.items()}
        call = replace(call, input_responses=answers, request_state=result.get("requestState"))


async def main(url: str) -> None:
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
    pool = Pool([ServerDefinition(name="server", url=url, transport="streamablehttp")])
    try:
        listing = await pool.listing("server")
        if listing.error:
            sys.exit(listing.error)
        calls = [(one["name"], one["arguments"]) for one in context.get("toolCalls", ())]
        named = {"add_numbers": {"a": 5, "b": 3}}
        for tool in listing.tools:
            arguments = named.get(tool["name"]) or sample(tool.get("inputSchema"))
            if tool["name"] == "json_schema_echo":
                arguments = {"schema": listing.tools[0].get("inputSchema")}
            calls += [] if context.get("toolCalls") else [(tool["name"], arguments)]
        for name, arguments in calls:
            try:
                await call_tool(pool, name, arguments)
            except (ProtocolError, UpstreamError) as error:
                print(f"{name}: {error}", file=sys.stderr)
        call, channel = Call("resources/read", {}, LATEST), RecordingChannel()
        for resource in listing.resources:
            await pool.targets.resource("server").call({"uri": resource["uri"]}, call, channel)
        for prompt in listing.prompts:
            await pool.targets.prompt("server", prompt["name"]).call({}, call, channel)
    finally:
        await pool.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[-1]))
