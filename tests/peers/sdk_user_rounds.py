"""The conformance fixtures of 2026-07-28 that ask by returning, in the SDK's high-level style."""

from __future__ import annotations

from typing import Any, TypeAlias

import mcp_types as types
from mcp.server.mcpserver import Context, MCPServer

Asks: TypeAlias = types.InputRequiredResult


def form(message: str, **properties: Any) -> types.ElicitRequest:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    params = types.ElicitRequestFormParams(message=message, requested_schema=schema)
    return types.ElicitRequest(params=params)


def sampling(text: str, tokens: int) -> types.CreateMessageRequest:
    content = types.TextContent(type="text", text=text)
    message = types.SamplingMessage(role="user", content=content)
    params = types.CreateMessageRequestParams(messages=[message], max_tokens=tokens)
    return types.CreateMessageRequest(params=params)


TEXT, YES_NO = {"type": "string"}, {"type": "boolean"}
NAME = form("What is your name?", name=TEXT)
CONFIRM = form("Please confirm", ok=YES_NO)


def ask(state: str | None = None, **questions: Any) -> Asks:
    return Asks(input_requests=questions, request_state=state)


def field(ctx: Context, key: str, name: str) -> Any:
    """One field of an accepted form, or None."""
    answer = (ctx.input_responses or {}).get(key)
    if not isinstance(answer, types.ElicitResult) or answer.content is None:
        return None
    return answer.content.get(name)


async def elicitation(ctx: Context) -> str | Asks:
    name = field(ctx, "user_name", "name")
    return ask(user_name=NAME) if not isinstance(name, str) else f"Hello, {name}!"


async def sample(ctx: Context) -> str | Asks:
    answer = (ctx.input_responses or {}).get("capital_question")
    content = getattr(answer, "content", None)
    if not isinstance(content, types.TextContent):
        return ask(capital_question=sampling("What is the capital of France?", 100))
    return f"LLM response: {content.text}"


async def list_roots(ctx: Context) -> str | Asks:
    answer = (ctx.input_responses or {}).get("client_roots")
    if not isinstance(answer, types.ListRootsResult):
        return ask(client_roots=types.ListRootsRequest())
    return "Roots: " + ", ".join(str(root.uri) for root in answer.roots)


async def request_state(ctx: Context) -> str | Asks:
    confirmed = field(ctx, "confirm", "ok") is not None and ctx.request_state == "confirming"
    return "state-ok" if confirmed else ask("confirming", confirm=CONFIRM)


async def tampered_state(ctx: Context) -> str | Asks:
    came_back = ctx.request_state == "sealed"
    return "The state came back unaltered." if came_back else ask("sealed", confirm=CONFIRM)


async def multiple_inputs(ctx: Context) -> str | Asks:
    wanted: dict[str, Any] = {
        "user_name": NAME,
        "greeting": sampling("Generate a greeting", 50),
        "client_roots": types.ListRootsRequest(),
    }
    if not set(wanted) <= set(ctx.input_responses or {}):
        return ask("three questions", **wanted)
    return "All inputs received"


async def multi_round(ctx: Context) -> str | Asks:
    step, _, name = (ctx.request_state or "").partition(":")
    if step == "two":
        colour = field(ctx, "step2", "color")
        if colour is not None:
            return f"{name} likes {colour}."
    first = name or field(ctx, "step1", "name")
    if step in ("one", "two") and first:
        second = form("Step 2: What is your favorite color?", color=TEXT)
        return ask(f"two:{first}", step2=second)
    return ask("one", step1=form("Step 1: What is your name?", name=TEXT))


async def capabilities(ctx: Context) -> str | Asks:
    declared = ctx.client_capabilities or types.ClientCapabilities()
    wanted: dict[str, Any] = {
        "elicitation": NAME,
        "sampling": sampling("Generate a greeting", 50),
        "roots": types.ListRootsRequest(),
    }
    possible = {key: each for key, each in wanted.items() if getattr(declared, key) is not None}
    if possible and not set(possible) <= set(ctx.input_responses or {}):
        return ask(**possible)
    return "Asked: " + (", ".join(possible) or "nothing")


async def streaming(ctx: Context) -> str | Asks:
    answered = field(ctx, "go_on", "ok") is not None
    return "Went on." if answered else ask(go_on=form("Continue?", ok=YES_NO))


async def prompt(ctx: Context) -> str | Asks:
    context = field(ctx, "user_context", "context")
    if context is None:
        return ask(user_context=form("What context should the prompt use?", context=TEXT))
    return f"Use this context: {context}"


ROUNDS = {
    "test_input_required_result_elicitation": elicitation,
    "test_input_required_result_sampling": sample,
    "test_input_required_result_list_roots": list_roots,
    "test_input_required_result_request_state": request_state,
    "test_input_required_result_tampered_state": tampered_state,
    "test_input_required_result_multiple_inputs": multiple_inputs,
    "test_input_required_result_multi_round": multi_round,
    "test_input_required_result_capabilities": capabilities,
    "test_streaming_elicitation": streaming,
}


def add_rounds(server: MCPServer[Any]) -> None:
    for name, run in ROUNDS.items():
        server.add_tool(run, name=name, description="asks by returning", structured_output=False)
    described = server.prompt("test_input_required_result_prompt", description="asks by returning")
    described(prompt)
