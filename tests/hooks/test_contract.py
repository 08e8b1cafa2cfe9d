"""The contract end to end: one project, over stdio as `mcp-bash` and over HTTP as `toolyard`."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
import pytest_asyncio

from tests.hooks.contract import UI, WAYS, contract, conversation
from tests.hooks.yard import failure_of, text_of
from tests.peers.raw import RawClient, StdioClient
from tests.peers.raw_http import HttpClient
from tests.until import until

pytestmark = pytest.mark.asyncio(loop_scope="module")
TOOLS = [
    *("arguments", "ask", "board", "checked", "commands", "embed", "environment", "fail"),
    *("guarded", "inline", "path", "python", "report", "roots", "slow", "wait"),
]


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=WAYS)
async def client(request: pytest.FixtureRequest) -> AsyncIterator[RawClient]:
    with contract() as project:
        async with conversation(request.param, project) as client:
            client.project = project  # type: ignore[attr-defined]
            yield client


def like_mcp_bash(client: RawClient) -> bool:
    """The stdio clients here have started `mcp-bash`."""
    return isinstance(client, StdioClient)


def ended(client: RawClient, text: str) -> str:
    """A text as it is, or as users of mcp-bash know it: without the newline at its end."""
    return text.rstrip("\n") if like_mcp_bash(client) else text


def at_least(client: RawClient, revision: str) -> bool:
    return client.revision >= revision


def project_of(client: RawClient) -> Path:
    project: Path = client.project  # type: ignore[attr-defined]
    return project


async def data_of(client: RawClient, tool: str, **arguments: Any) -> dict[str, Any]:
    """What a tool gave with mcp_result_success."""
    return given(await client.call(tool, arguments))


def given(result: dict[str, Any]) -> dict[str, Any]:
    whole = json.loads(text_of(result))
    assert whole["success"] is True
    value: dict[str, Any] = whole["result"]
    return value


async def test_the_server_says_who_it_is(client: RawClient) -> None:
    found = client.server
    if client.modern:
        info = found["_meta"]["io.modelcontextprotocol/serverInfo"]
    else:
        info = found["serverInfo"]
    assert (info["name"], info["version"]) == ("contract", "2.3.4")
    untold = like_mcp_bash(client) and not at_least(client, "2025-03-26")
    instructions = None if untold else "Try the tools one after the other."
    assert found.get("instructions") == instructions
    if at_least(client, "2025-11-25"):
        assert info["websiteUrl"] == "https://example.com/contract"
        assert info["icons"][0]["src"].startswith("data:image/svg+xml;base64,")
    assert found["capabilities"]["extensions"][UI] == {"mimeTypes": ["text/html;profile=mcp-app"]}


async def test_all_is_listed(client: RawClient) -> None:
    prefix = "" if like_mcp_bash(client) else "ui."
    resources = ["clock", "dot", "echoed", "note", "three", "with space é"]
    lists = {
        "tools": TOOLS,
        "resources": sorted([*resources, f"{prefix}board", f"{prefix}signup"]),
        "prompts": ["greet", "plan"],
    }
    for kind, names in lists.items():
        listed = await client.result(f"{kind}/list")
        assert sorted(entry["name"] for entry in listed[kind]) == names
        assert listed["_meta"]["mcpbash/total"] == len(names)
    templates = await client.result("resources/templates/list")
    assert [t["name"] for t in templates["resourceTemplates"]] == ["counted", "user"]


async def test_arguments_are_read_in_every_way(client: RawClient) -> None:
    meta = {"example.com/trace": "t-1"}
    result = await client.call("arguments", {"name": "Ann", "times": 3, "loud": True}, meta=meta)
    assert given(result) == {
        "name": "Ann",
        "times": "3",
        "loud": "true",
        "trace": "t-1",
        "word": "hello",
        "list": '["a","b \\"c\\""]',
        "bytes": "2",
        "raw": "valid",
    }


async def test_arguments_that_break_the_schema_run_nothing(client: RawClient) -> None:
    text = failure_of(await client.call("arguments", {"times": 1}))
    assert "name" in text


async def test_progress_and_logs_come_before_the_answer(client: RawClient) -> None:
    before = len(client.heard)
    meta: dict[str, Any] = {"progressToken": "p"}
    if client.modern:
        meta["io.modelcontextprotocol/logLevel"] = "info"
    assert text_of(await client.call("report", meta=meta)) == "reported"
    heard = client.heard[before:]
    assert "result" in heard[-1]
    said = [(m["method"].rpartition("/")[2], m["params"]) for m in heard[:-1] if "method" in m]
    assert [p["progress"] for kind, p in said if kind == "progress"] == [1, 2, 3]
    logs = [(p["level"], p["data"]) for kind, p in said if kind == "message"]
    assert logs == [("info", "for information"), ("warning", "beware"), ("error", {"code": 7})]


async def test_a_tool_fails_in_every_way(client: RawClient) -> None:
    async def error(how: str) -> dict[str, Any]:
        return await client.error("tools/call", {"name": "fail", "arguments": {"how": how}})

    assert await error("") == {"code": -32050, "message": "it failed", "data": {"why": "asked to"}}
    refused = await error("arguments")
    assert (refused["code"], refused["data"]) == (-32602, {"field": "how"})
    assert "all gone" in failure_of(await client.call("fail", {"how": "result"}))
    assert "nothing there" in failure_of(await client.call("fail", {"how": "model"}))
    ended = await client.call("fail", {"how": "exit"})
    assert ended["_meta"]["exitCode"] == 3 and "to stderr" in failure_of(ended)


async def test_a_file_is_embedded(client: RawClient) -> None:
    result = await client.call("embed")
    resource = {"uri": "contract://report", "mimeType": "text/plain", "text": "report\n"}
    assert result["content"][-1] == {"type": "resource", "resource": resource}


FORMS = {
    "string": ({"name": {"type": "string"}}, {"name": "Ann"}),
    "confirm": ({"confirmed": {"type": "boolean"}}, {"confirmed": True}),
    "choice": ({"choice": {"type": "string", "enum": ["red", "green"]}}, {"choice": "red"}),
    "titled": (
        {
            "choice": {
                "type": "string",
                "oneOf": [{"const": "r", "title": "Red"}, {"const": "g", "title": "Green"}],
            }
        },
        {"choice": "r"},
    ),
    "multi": (
        {"choices": {"type": "array", "items": {"type": "string", "enum": ["red", "green"]}}},
        {"choices": ["red", "green"]},
    ),
    "titled-multi": (
        {
            "choices": {
                "type": "array",
                "items": {
                    "anyOf": [{"const": "r", "title": "Red"}, {"const": "g", "title": "Green"}]
                },
            }
        },
        {"choices": ["g"]},
    ),
    "form": ({"age": {"type": "integer"}}, {"age": 7}),
}
# What 2025-06-18 is asked in their place: its forms have no lists, nor titles in `oneOf`.
PLAIN: dict[str, dict[str, Any]] = {
    "titled": {"choice": "r"},
    "multi": {"choices.red": True, "choices.green": True},
    "titled-multi": {"choices.r": False, "choices.g": True},
}


@pytest.mark.parametrize("kind", FORMS)
async def test_a_tool_asks_with_a_form(client: RawClient, kind: str) -> None:
    properties, content = FORMS[kind]
    plain = PLAIN.get(kind) if client.revision == "2025-06-18" else None
    client.answers = {"elicitation/create": {"action": "accept", "content": plain or content}}
    answer = json.loads(text_of(await client.call("ask", {"kind": kind})))
    if not at_least(client, "2025-06-18"):
        assert answer == {"action": "decline"}
        return
    assert answer == {"action": "accept", "content": content}
    asked = client.questions[-1]["params"]["requestedSchema"]["properties"]
    assert asked == properties if plain is None else asked.keys() == plain.keys()


async def test_a_tool_sends_its_user_to_a_page(client: RawClient) -> None:
    client.answers = {"elicitation/create": {"action": "accept"}}
    answer = json.loads(text_of(await client.call("ask", {"kind": "url"})))
    if not at_least(client, "2025-11-25"):
        assert answer == {"action": "decline"}
        return
    assert answer["action"] == "accept"
    assert client.questions[-1]["params"]["url"] == "https://example.com/login"


async def test_a_tool_asks_the_model_of_its_client(client: RawClient) -> None:
    reply = {"role": "assistant", "model": "m", "content": {"type": "text", "text": "words"}}
    client.answers = {"sampling/createMessage": reply}
    assert text_of(await client.call("ask", {"kind": "sample"})) == "words"
    assert client.questions[-1]["params"]["maxTokens"] == 5


async def test_the_project_is_the_root_of_a_client_that_names_none(client: RawClient) -> None:
    root = project_of(client).resolve()
    assert await data_of(client, "roots", path=str(root / "tools")) == {
        "count": "1",
        "list": str(root),
        "inside": "yes",
    }
    assert (await data_of(client, "roots", path="/etc"))["inside"] == "no"
    assert text_of(await client.call("path", {"path": str(root / "config")})) == f"{root}/config"
    refused = await client.error("tools/call", {"name": "path", "arguments": {"path": "/etc"}})
    assert refused["code"] == -32602


async def test_commands_are_run_for_a_tool(client: RawClient) -> None:
    told = await data_of(client, "commands")
    assert (told["retried"], told["counted"], told["error"]) == ("third time", "counted", "inner")
    assert (told["colour"], told["size"]) == ("green", "large")
    assert json.loads(told["short"])["truncated"] is True
    assert json.loads(told["download"])["success"] is False


async def test_a_page_is_offered_for_a_tool(client: RawClient) -> None:
    result = await client.call("board")
    assert text_of(result) == "three cards"
    assert result["_meta"]["ui"]["resourceUri"] == "ui://contract/board"
    for name, words in (("board", "<title>Board</title>"), ("signup", "Sign up")):
        page = await client.result("resources/read", {"uri": f"ui://contract/{name}"})
        assert page["contents"][0]["mimeType"] == "text/html;profile=mcp-app"
        assert words in page["contents"][0]["text"]


async def test_the_policy_guards_a_tool(client: RawClient) -> None:
    assert await client.error("tools/call", {"name": "guarded"}) == {
        "code": -32001,
        "message": "Tool 'guarded' is guarded",
        "data": {"variable": "POLICY_GUARDED"},
    }


async def test_a_tool_that_takes_too_long_is_ended_and_says_so(client: RawClient) -> None:
    result = await client.call("slow")
    text = failure_of(result)
    assert "timed out after 1s" in text and "ask for less" in text
    assert result["_meta"]["exitCode"] == 124


async def test_a_call_can_be_cancelled(client: RawClient) -> None:
    started = project_of(client) / "waiting"
    message = client.message("tools/call", {"name": "wait"}, id="given-up")
    call = asyncio.create_task(client.exchange(message))
    await until(started.exists)
    if isinstance(client, HttpClient) and client.modern:
        call.cancel()  # closes the stream, which is how a modern client says it
    else:
        await client.notify("notifications/cancelled", {"requestId": "given-up"})
    await until(lambda: not started.exists())
    call.cancel()
    assert text_of(await client.call("inline")) == "inline {}"
    assert "given-up" not in [message.get("id") for message in client.heard]


async def test_a_promised_shape_is_kept_or_the_call_has_failed(client: RawClient) -> None:
    result = await client.call("checked", {"n": 1})
    assert json.loads(text_of(result)) == {"n": 1}
    if at_least(client, "2025-06-18"):
        assert result["structuredContent"] == {"n": 1}
    assert "output schema" in failure_of(await client.call("checked", {"n": "one"}))


async def test_a_tool_knows_its_server_and_no_secret(client: RawClient) -> None:
    told = await data_of(client, "environment")
    assert told["greeting"] == "hello from contract"
    assert (told["tool"], told["server"]) == ("environment", "contract")
    assert told["version"] == client.revision and "raw-test-client" in told["client"]
    assert told["secret"] == ""
    assert json.loads(told["metadata"])["path"] == "environment/tool.sh"


async def test_tools_of_any_language_and_form_run(client: RawClient) -> None:
    assert text_of(await client.call("inline", {"x": "y"})) == 'inline {"x":"y"}'
    assert json.loads(text_of(await client.call("python", {"numbers": [1, 2.5]}))) == {"sum": 3.5}


async def read(client: RawClient, uri: str) -> dict[str, Any]:
    (content,) = (await client.result("resources/read", {"uri": uri}))["contents"]
    found: dict[str, Any] = content
    return found


async def test_resources_of_every_kind_are_read(client: RawClient) -> None:
    listed = {r["name"]: r for r in (await client.result("resources/list"))["resources"]}
    assert listed["note"]["annotations"] == {"audience": ["user"], "priority": 0.5}
    assert (await read(client, "contract://note"))["text"] == ended(
        client, "A note.\nWith two lines.\n"
    )
    image = await read(client, listed["dot"]["uri"])
    assert image["mimeType"] == "image/png"
    assert base64.b64decode(image["blob"]).startswith(b"\x89PNG")
    spaced = listed["with space é"]["uri"]
    assert " " not in spaced and unquote(spaced).endswith("with space é.txt")
    assert (await read(client, spaced))["text"] == ended(client, "found\n")
    assert (await read(client, "contract://clock"))["text"] == "at contract://clock of clock"
    assert (await read(client, "echo://hello%20there"))["text"] == "hello there"
    assert (await read(client, "lines://3"))["text"] == ended(client, "line 1\nline 2\nline 3\n")


async def test_templates_are_read_by_a_script_and_by_a_provider(client: RawClient) -> None:
    user = await read(client, "contract://users/7?full=yes")
    assert json.loads(user["text"]) == {"id": "7", "full": "yes"}
    assert user["mimeType"] == "application/json"
    assert (await read(client, "lines://2"))["text"] == ended(client, "line 1\nline 2\n")


@pytest.mark.parametrize(
    ("uri", "code", "words"),
    [
        ("lines://outside", -32603, "outside allowed roots"),
        ("lines://missing", -32002, "not found"),
        ("lines://many", -32602, "not a number: many"),
        ("lines://10", -32603, "too many"),
        ("nowhere://x", -32002, "not found"),
    ],
)
async def test_the_exit_code_of_a_provider_has_its_meaning(
    client: RawClient, uri: str, code: int, words: str
) -> None:
    error = await client.error("resources/read", {"uri": uri})
    expected = -32602 if code == -32002 and client.modern else code
    assert error["code"] == expected and words in error["message"]


async def test_prompts_are_rendered_and_run(client: RawClient) -> None:
    arguments = {"name": "Ann\nB", "language": "French"}
    greeting = await client.result("prompts/get", {"name": "greet", "arguments": arguments})
    text = ended(client, "Greet Ann\nB in French.\nAnn\nB likes {{unknown}}.\n")
    assert greeting["messages"] == [
        {"role": "assistant", "content": {"type": "text", "text": text}}
    ]
    plan = await client.result("prompts/get", {"name": "plan", "arguments": {"topic": "tea"}})
    kinds = [message["content"]["type"] for message in plan["messages"]]
    assert kinds == ["image", "resource", "text"]
    assert plan["messages"][2]["content"]["text"] == "Plan tea"
    assert (await client.error("prompts/get", {"name": "plan"}))["code"] == -32602


async def completed(client: RawClient, ref: str, value: str, **more: Any) -> dict[str, Any]:
    argument = {"name": more.pop("argument", "topic"), "value": value}
    params = {"ref": {"type": "ref/prompt", "name": ref}, "argument": argument, **more}
    found: dict[str, Any] = (await client.result("completion/complete", params))["completion"]
    return found


async def test_arguments_are_completed_by_a_script_and_from_a_schema(client: RawClient) -> None:
    first = await completed(client, "plan", "a", limit=2)
    assert (first["values"], first["hasMore"]) == (["alpha", "alps"], True)
    rest = await completed(client, "plan", "a", limit=2, cursor=first["nextCursor"])
    assert (rest["values"], rest["hasMore"]) == (["amber"], False)
    listed = await completed(client, "greet", "F", argument="language")
    assert listed["values"] == ["French", "Finnish"]


async def test_a_subscriber_hears_of_a_change(client: RawClient) -> None:
    uri, note = "contract://note", project_of(client) / "resources" / "note.txt"
    before = note.read_text()
    if isinstance(client, HttpClient) and client.modern:
        assert await client.subscribe(resourceSubscriptions=[uri])
    else:
        if isinstance(client, HttpClient):
            await client.open_get()
        assert (await client.result("resources/subscribe", {"uri": uri}))["subscriptionId"]
        await client.notification("notifications/resources/updated")
    note.write_text("changed\n")
    updated = await client.notification("notifications/resources/updated")
    assert updated["params"]["uri"] == uri
    if not client.modern:
        assert await client.result("resources/unsubscribe", {"uri": uri}) == {}
    note.write_text(before)
