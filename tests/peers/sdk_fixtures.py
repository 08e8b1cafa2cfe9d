"""What the SDK-based server's tools do: the fixtures of the conformance suite.

Their definitions are those of `tests/projects/conformance`, so that both servers
offer the same; only the behaviour is written twice. Knows no transport.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeAlias

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    PromptsListChanged,
    ResourceUpdated,
    ToolsListChanged,
)
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata

from tests.peers.serving import ROOT

JsonObject: TypeAlias = dict[str, Any]
Context: TypeAlias = ServerRequestContext[Any, Any]

PROJECT = ROOT / "tests" / "projects" / "conformance"
MODERN = "2026-07-28"
WATCHED = "test://watched-resource"
QUESTIONS: dict[str, tuple[Any, Any]] = {
    "elicitation/create": (types.ElicitRequest, types.ElicitResult),
    "sampling/createMessage": (types.CreateMessageRequest, types.CreateMessageResult),
    "roots/list": (types.ListRootsRequest, types.ListRootsResult),
}


@cache
def definition(path: str) -> JsonObject:
    found: JsonObject = json.loads((PROJECT / path).read_text(encoding="utf-8"))
    return found


def definitions(pattern: str) -> list[JsonObject]:
    return [
        definition(str(path.relative_to(PROJECT)))
        for path in sorted(PROJECT.glob(pattern), key=str)
    ]


@dataclass(slots=True)
class World:
    """What outlives a request: who listens, what was added, how often the resource changed."""

    bus: InMemorySubscriptionBus = field(default_factory=InMemorySubscriptionBus)
    subscribers: list[ServerSession] = field(default_factory=list)
    tool_added: bool = False
    prompt_added: bool = False
    version: int = 0


@dataclass(slots=True)
class Use:
    """One use of a fixture: the request, its arguments, the answers that it came with."""

    context: Context
    world: World
    name: str
    arguments: JsonObject
    state: str
    modern: bool
    given: JsonObject

    def can(self, capability: str) -> bool:
        declared = self.context.session.client_capabilities
        return declared is not None and getattr(declared, capability) is not None

    async def ask(self, state: str | None = None, **questions: JsonObject) -> JsonObject:
        """The answers by key: from this request, from the session, or by asking to come back."""
        if self.modern:
            if set(questions) <= set(self.given) and (state is None or state == self.state):
                return self.given
            raise AskFirst(questions, state)
        return {key: await self.put(question) for key, question in questions.items()}

    async def put(self, question: JsonObject) -> JsonObject:
        request, result = QUESTIONS[question["method"]]
        related = ServerMessageMetadata(related_request_id=self.context.request_id)
        answer = await self.context.session.send_request(
            request.model_validate(question), result, metadata=related
        )
        dumped: JsonObject = answer.model_dump(by_alias=True, mode="json", exclude_none=True)
        return dumped

    async def log(self, text: str) -> None:
        # The SDK's own method warns of deprecation; the notification itself is what we test.
        if self.modern and "io.modelcontextprotocol/logLevel" not in (self.context.meta or {}):
            return
        params = types.LoggingMessageNotificationParams(level="info", data=text, logger=self.name)
        await self.context.session.send_notification(
            types.LoggingMessageNotification(params=params), self.context.request_id
        )


class AskFirst(Exception):
    """The client must be asked before this can be answered."""

    def __init__(self, questions: JsonObject, state: str | None) -> None:
        super().__init__("input required")
        self.result: JsonObject = {"resultType": "input_required", "inputRequests": questions}
        if state is not None:
            self.result["requestState"] = state


Fixture: TypeAlias = Callable[[Use], Awaitable[JsonObject]]
FIXTURES: dict[str, Fixture] = {}


def fixture(*names: str) -> Callable[[Fixture], Fixture]:
    def keep(function: Fixture) -> Fixture:
        FIXTURES.update(dict.fromkeys(names, function))
        return function

    return keep


def says(*text: str) -> JsonObject:
    return {"content": [{"type": "text", "text": line} for line in text], "isError": False}


def form(message: str, **properties: JsonObject) -> JsonObject:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    params = {"mode": "form", "message": message, "requestedSchema": schema}
    return {"method": "elicitation/create", "params": params}


def sampling(text: str, tokens: int) -> JsonObject:
    message = {"role": "user", "content": {"type": "text", "text": text}}
    params = {"messages": [message], "maxTokens": tokens}
    return {"method": "sampling/createMessage", "params": params}


ROOTS: JsonObject = {"method": "roots/list", "params": {}}
TEXT: JsonObject = {"type": "string"}
YES_NO: JsonObject = {"type": "boolean"}


@cache
def printed(name: str) -> JsonObject:
    """The JSON that a script of the project prints: images need not be written twice."""
    kind = "prompts" if name.startswith("test_prompt") else f"tools/{name}"
    path = PROJECT / kind / (f"{name}.sh" if kind == "prompts" else "tool.sh")
    text = path.read_text(encoding="utf-8")
    found: JsonObject = json.loads(text[text.index("'{") + 1 : text.rindex("}'") + 1])
    return found


@fixture(
    "test_image_content",
    "test_audio_content",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_prompt_with_image",
)
async def prints(use: Use) -> JsonObject:
    return printed(use.name)


@fixture("test_simple_text")
async def simple_text(use: Use) -> JsonObject:
    return says("This is a simple text response for testing.")


@fixture("added_tool")
async def added_tool(use: Use) -> JsonObject:
    return says("I was added while the server ran.")


@fixture("test_error_handling")
async def error_handling(use: Use) -> JsonObject:
    return {**says("This tool intentionally returns an error for testing"), "isError": True}


@fixture("test_x_mcp_header")
async def header(use: Use) -> JsonObject:
    return says(f"Region: {use.arguments.get('region')}")


@fixture("json_schema_2020_12_tool")
async def json_schema(use: Use) -> JsonObject:
    return says(f"Accepted: {json.dumps(use.arguments, separators=(',', ':'))}")


@fixture("test_missing_capability")
async def missing_capability(use: Use) -> JsonObject:
    if not use.can("sampling"):
        raise MCPError(-32021, "sampling is required", {"requiredCapabilities": {"sampling": {}}})
    return says("The client can sample.")


@fixture("test_tool_with_logging")
async def logging(use: Use) -> JsonObject:
    await use.log("Tool execution started")
    await anyio.sleep(0.05)
    await use.log("Tool processing data")
    await anyio.sleep(0.05)
    await use.log("Tool execution completed")
    return says("Tool with logging executed successfully")


@fixture("test_logging_tool")
async def logging_once(use: Use) -> JsonObject:
    await use.log("test_logging_tool ran")
    return says("Logged once.")


@fixture("test_tool_with_progress")
async def progress(use: Use) -> JsonObject:
    for done in (0, 50, 100):
        await use.context.session.report_progress(done, 100)
        await anyio.sleep(0.05)
    return says("Tool with progress executed successfully")


@fixture("test_reconnection")
async def reconnection(use: Use) -> JsonObject:
    if use.context.close_sse_stream is not None:
        await use.context.close_sse_stream()
    await anyio.sleep(0.2)
    return says("Reconnection test completed")


@fixture("test_sampling")
async def sample(use: Use) -> JsonObject:
    answers = await use.ask(answer=sampling(use.arguments["prompt"], 100))
    return says(f"LLM response: {answers['answer']['content']['text']}")


@fixture("test_elicitation")
async def elicit(use: Use) -> JsonObject:
    question = form(use.arguments["message"], username=TEXT, email=TEXT)
    answer = (await use.ask(user=question))["user"]
    content = json.dumps(answer.get("content"))
    return says(f"User response: action={answer['action']}, content={content}")


@fixture(
    "test_elicitation_sep1034_defaults",
    "test_elicitation_sep1330_enums",
    "test_streaming_elicitation",
)
async def elicit_as_the_script(use: Use) -> JsonObject:
    request = heredoc(use.name)
    params = {"mode": "form", "message": request["message"], "requestedSchema": request["schema"]}
    answers = await use.ask(form={"method": "elicitation/create", "params": params})
    return says(f"Elicitation completed: {json.dumps(answers['form'])}")


@cache
def heredoc(name: str) -> JsonObject:
    text = (PROJECT / "tools" / name / "tool.sh").read_text(encoding="utf-8")
    found: JsonObject = json.loads(text.split("<<'JSON'\n")[1].split("\nJSON\n")[0])
    return found


@fixture("test_input_required_result_elicitation")
async def round_elicitation(use: Use) -> JsonObject:
    question = form("What is your name?", name=TEXT)
    answers = await use.ask(user_name=question)
    return says(f"Hello, {answers['user_name']['content']['name']}!")


@fixture("test_input_required_result_sampling")
async def round_sampling(use: Use) -> JsonObject:
    answers = await use.ask(capital_question=sampling("What is the capital of France?", 100))
    return says(f"LLM response: {answers['capital_question']['content']['text']}")


@fixture("test_input_required_result_list_roots")
async def round_roots(use: Use) -> JsonObject:
    answers = await use.ask(client_roots=ROOTS)
    return says("Roots: " + ", ".join(root["uri"] for root in answers["client_roots"]["roots"]))


@fixture("test_input_required_result_request_state")
async def round_state(use: Use) -> JsonObject:
    await use.ask("confirming", confirm=form("Please confirm", ok=YES_NO))
    return says("state-ok")


@fixture("test_input_required_result_tampered_state")
async def round_tampered(use: Use) -> JsonObject:
    await use.ask("sealed by the server", confirm=form("Please confirm", ok=YES_NO))
    return says("The state came back unaltered.")


@fixture("test_input_required_result_multiple_inputs")
async def round_many(use: Use) -> JsonObject:
    asked = {
        "user_name": form("What is your name?", name=TEXT),
        "greeting": sampling("Generate a greeting", 50),
        "client_roots": ROOTS,
    }
    await use.ask("three questions", **asked)
    return says("All inputs received: " + ", ".join(sorted(asked)))


@fixture("test_input_required_result_multi_round")
async def round_twice(use: Use) -> JsonObject:
    step, _, name = use.state.partition(":")
    if step != "two":
        first = await use.ask("one", step1=form("Step 1: What is your name?", name=TEXT))
        name = first["step1"]["content"]["name"]
    second = form("Step 2: What is your favorite color?", color=TEXT)
    answers = await use.ask(f"two:{name}", step2=second)
    return says(f"{name} likes {answers['step2']['content']['color']}.")


@fixture("test_input_required_result_capabilities")
async def round_capabilities(use: Use) -> JsonObject:
    questions = {
        "elicitation": form("What is your name?", name=TEXT),
        "sampling": sampling("Generate a greeting", 50),
        "roots": ROOTS,
    }
    possible = {kind: question for kind, question in questions.items() if use.can(kind)}
    if possible:
        await use.ask(None, **possible)
    return says("Asked: " + (", ".join(possible) or "nothing"))


@fixture("test_trigger_tool_change")
async def change_tools(use: Use) -> JsonObject:
    use.world.tool_added = not use.world.tool_added
    await use.world.bus.publish(ToolsListChanged())
    if not use.modern:
        await use.context.session.send_tool_list_changed()
    return says("The list of tools has changed.")


@fixture("test_trigger_prompt_change")
async def change_prompts(use: Use) -> JsonObject:
    use.world.prompt_added = not use.world.prompt_added
    await use.world.bus.publish(PromptsListChanged())
    if not use.modern:
        await use.context.session.send_prompt_list_changed()
    return says("The list of prompts has changed.")


@fixture("test_trigger_resource_update")
async def change_resource(use: Use) -> JsonObject:
    use.world.version += 1
    await use.world.bus.publish(ResourceUpdated(uri=WATCHED))
    for session in use.world.subscribers:
        await session.send_resource_updated(WATCHED)
    return says("The watched resource has changed.")
