"""The conformance fixtures answer the same over stdio as over HTTP, in every revision."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.peers.raw import EVERYTHING, JsonObject, RawClient, over_stdio
from tests.peers.raw_http import over_http
from tests.peers.sdk_fixtures import PROJECT
from tests.peers.serving import copied, serving, toolyard

pytestmark = pytest.mark.long

REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]
SAID = {"role": "assistant", "model": "m", "content": {"type": "text", "text": "words"}}
FILLED = {"boolean": True, "integer": 3, "number": 1.5, "array": []}


def filled(params: JsonObject) -> JsonObject:
    """Every field of a form, with a value of its kind."""
    fields = params.get("requestedSchema", {}).get("properties", {})
    content = {name: FILLED.get(field.get("type"), "text") for name, field in fields.items()}
    return {"action": "accept", "content": content}


ANSWERS: dict[str, Any] = {
    "elicitation/create": filled,
    "sampling/createMessage": SAID,
    "roots/list": {"roots": [{"uri": "file:///", "name": "all"}]},
}
ARGUMENTS = {
    "test_elicitation": {"message": "Who?"},
    "test_sampling": {"prompt": "Say"},
    "json_schema_2020_12_tool": {"name": "Ann"},
}
LISTS = ["tools/list", "resources/list", "resources/templates/list", "prompts/list"]
WORDS = {"arg1": "one", "arg2": "two", "resourceUri": "test://static-text"}
DURING_A_CALL = ("notifications/progress", "notifications/message")


@asynccontextmanager
async def connected(transport: str, revision: str) -> AsyncIterator[tuple[RawClient, Path]]:
    # Forms of older revisions know fewer kinds of fields than these fixtures ask for.
    options: dict[str, Any] = {"capabilities": EVERYTHING, "answers": ANSWERS, "checked": False}
    with copied(PROJECT) as project:
        if transport == "stdio":
            async with over_stdio(toolyard("serve", project), revision, **options) as client:
                yield client, project
            return
        async with (
            serving(project) as server,
            over_http(server.url, revision, **options) as client,
        ):
            yield client, project


async def everything(transport: str, revision: str) -> dict[str, Any]:
    """All answers of the fixtures, and what was said in the course of each call."""
    async with connected(transport, revision) as (client, project):
        said = {"hello": client.server}
        for method in LISTS:
            said[method] = await client.request(method)
        listed = said["resources/list"]["result"]["resources"]
        for uri in (*(entry["uri"] for entry in listed), "test://template/7/data", "test://none"):
            said[f"read {uri}"] = await client.request("resources/read", {"uri": uri})
        for tool in said["tools/list"]["result"]["tools"]:
            params = {"name": tool["name"], "arguments": ARGUMENTS.get(tool["name"], {})}
            said[f"call {tool['name']}"] = await finished(client, "tools/call", params)
        for prompt in said["prompts/list"]["result"]["prompts"]:
            params = {"name": prompt["name"], "arguments": WORDS}
            said[f"get {prompt['name']}"] = await finished(client, "prompts/get", params)
        said["complete"] = await client.request("completion/complete", COMPLETION)
        said["no tool"] = await client.request("tools/call", {"name": "none"})
        said["no method"] = await client.request("no/such")
    return comparable(said, project)


COMPLETION = {
    "ref": {"type": "ref/prompt", "name": "test_prompt_with_arguments"},
    "argument": {"name": "arg1", "value": "p"},
}


async def finished(client: RawClient, method: str, params: JsonObject) -> JsonObject:
    """The last answer of a call whose questions are answered, and what came before it."""
    before, asked = len(client.notifications), len(client.questions)
    meta: JsonObject = {"progressToken": "p"}
    if client.modern:
        meta["io.modelcontextprotocol/logLevel"] = "debug"
    answer = await client.request(method, params, meta=meta)
    while answer.get("result", {}).get("resultType") == "input_required":
        result = answer["result"]
        again = {**params, "inputResponses": client.responses_to(result)}
        if "requestState" in result:
            again["requestState"] = result["requestState"]
        answer = await client.request(method, again, meta=meta)
    return {
        "answer": answer,
        "notified": [n for n in client.notifications[before:] if n["method"] in DURING_A_CALL],
        "asked": [(q["method"], q.get("params")) for q in client.questions[asked:]],
    }


def comparable(said: dict[str, Any], project: Path) -> dict[str, Any]:
    """Without what differs between any two runs: ids, places, times."""
    text = json.dumps(said).replace(str(project.resolve()), "/PROJECT")
    return {key: without_ids(value) for key, value in json.loads(text).items()}


def without_ids(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: without_ids(v) for k, v in value.items() if k not in ("id", "elicitationId")}
    return [without_ids(one) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize("revision", REVISIONS)
async def test_the_fixtures_answer_the_same_over_stdio_and_http(revision: str) -> None:
    over_pipes = await everything("stdio", revision)
    over_the_network = await everything("http", revision)
    assert over_pipes.keys() == over_the_network.keys()
    different = {
        key: (answer, over_the_network[key])
        for key, answer in over_pipes.items()
        if answer != over_the_network[key]
    }
    assert different == {}
    assert len(over_pipes) > 40
