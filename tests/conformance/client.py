"""Our upstream code, with its logins, as the official suite's client under test.

python -m tests.conformance.client URL
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Mapping
from dataclasses import replace
from typing import Any

from toolyard import telemetry
from toolyard.access.oauth.accounts import Accounts
from toolyard.access.oauth.browser import Headless
from toolyard.access.oauth.vault import MemoryVault
from toolyard.errors import ProtocolError, ToolError
from toolyard.protocol.asking.rounds import answered
from toolyard.protocol.call import Call, Channel, Client, Json, JsonObject, Questions, Result
from toolyard.protocol.client import ELICIT
from toolyard.protocol.revisions import LATEST
from toolyard.upstreams.connections import client_of
from toolyard.upstreams.conversation.running import Limits
from toolyard.upstreams.definition import ServerDefinition
from toolyard.upstreams.pool import Pool
from toolyard.upstreams.setup import Setup

DOCUMENT_URL = "https://conformance-test.local/client-metadata.json"
ANYONE = Call("tools/call", {}, LATEST, Client({}, {"elicitation": {"form": {}}}))
# What a schema's type is filled with where it gives no default.
_SAMPLES: Mapping[str, Json] = {
    "string": "text",
    "number": 1.5,
    "integer": 3,
    "boolean": True,
    "array": [],
    "object": {},
}


def main(url: str) -> int:
    telemetry.set_up("debug" if os.environ.get("TOOLYARD_DEBUG") else "error")
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    return asyncio.run(_run(url, context))


async def _run(url: str, context: JsonObject) -> int:
    accounts = Accounts(MemoryVault(), browser=Headless, document_url=DOCUMENT_URL)
    definition = ServerDefinition("peer", url=url, auth="oauth", oauth=oauth_of(context))
    # The suite runs dozens of servers at once: a slow one is no old one.
    limits = Limits(silence=20.0)
    setup = Setup(limits, authorize=accounts.authorize, on_challenge=accounts.on_challenge)
    pool = Pool([definition], setup)
    try:
        return await _use(pool, context)
    except (ToolError, ProtocolError) as error:
        print(error, file=sys.stderr)
        return 1
    finally:
        await pool.close()


async def _use(pool: Pool, context: JsonObject) -> int:
    """Ask for what it has and call each tool, as the suite wants or with made-up arguments."""
    listing = await pool.listing("peer", client_of(ANYONE, None))
    if listing.error is not None:
        print(listing.error, file=sys.stderr)
        return 1
    schemas = {tool["name"]: tool.get("inputSchema") or {} for tool in listing.tools}
    wanted = context.get("toolCalls") or [
        {"name": name, "arguments": sample(schema)} for name, schema in schemas.items()
    ]
    for tool in wanted:
        if tool["name"] == "json_schema_echo":
            tool["arguments"] = {"schema": next(iter(schemas.values()))}
    for tool in wanted:
        await _call(pool, tool["name"], tool.get("arguments") or {})
    await _read_the_rest(pool, listing.prompts, listing.resources)
    return 0


async def _read_the_rest(pool: Pool, prompts: Any, resources: Any) -> None:
    channel = Answering()
    for prompt in prompts:
        call = replace(ANYONE, method="prompts/get")
        await pool.targets.prompt("peer", prompt["name"]).call({}, call, channel)
    for resource in resources:
        call = replace(ANYONE, method="resources/read")
        await pool.targets.resource("peer").call({"uri": resource["uri"]}, call, channel)


async def _call(pool: Pool, name: str, arguments: JsonObject) -> None:
    """One call, with as many rounds as the server asks questions in."""
    channel, target = Answering(), pool.targets.tool("peer", name)

    def make(call: Call) -> Awaitable[Result]:
        return target.call(arguments, call, channel)

    await answered(await make(ANYONE), ANYONE, make, channel.ask)


def oauth_of(context: JsonObject) -> JsonObject:
    """The suite's context in the registry's words."""
    names = {
        "client_id": "clientId",
        "client_secret": "clientSecret",
        "issuer": "issuer",
        "private_key_pem": "privateKey",
        "signing_algorithm": "algorithm",
        "valid_jwt": "assertion",
        "idp_client_id": "idpClientId",
        "idp_token_endpoint": "idpTokenEndpoint",
        "idp_id_token": "idToken",
    }
    oauth = {ours: context[theirs] for theirs, ours in names.items() if theirs in context}
    return {**oauth, "grant": _grant(context)}


def _grant(context: JsonObject) -> str:
    if "idp_id_token" in context:
        return "enterprise"
    if "valid_jwt" in context:
        return "jwt_bearer"
    scenario = os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
    return "client_credentials" if "client-credentials" in scenario else "authorization_code"


def sample(schema: JsonObject) -> JsonObject:
    """Arguments that satisfy a simple object schema."""
    properties: Mapping[str, JsonObject] = schema.get("properties") or {}
    return {name: _sample(field) for name, field in properties.items()}


def _sample(field: JsonObject) -> Json:
    if "default" in field:
        return field["default"]
    if field.get("enum"):
        return field["enum"][0]
    return _SAMPLES.get(str(field.get("type", "string")), "text")


class Answering(Channel):
    """A client that accepts every form with the defaults it comes with."""

    async def ask(self, questions: Questions, timeout: float | None = None) -> JsonObject:
        return {key: self._answer(question) for key, question in questions.items()}

    def _answer(self, question: JsonObject) -> Json:
        if question.get("method") != ELICIT:
            return {"roots": []}
        schema = (question.get("params") or {}).get("requestedSchema") or {}
        return {"action": "accept", "content": sample(schema)}


if __name__ == "__main__":
    sys.exit(main(sys.argv[-1]))
