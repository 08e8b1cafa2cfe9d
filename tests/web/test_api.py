"""The page's API, spoken to as the page does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.peers.http1 import fetch
from tests.peers.raw_http import over_http
from tests.peers.serving import serving
from tests.until import until
from tests.web.gateway import DEMO, SECRET, Api, Opened, found, opened, told

pytestmark = pytest.mark.asyncio(loop_scope="module")

ROUTES = [
    ("GET", "/api"),
    ("GET", "/api/overview"),
    ("GET", "/api/catalog"),
    ("GET", "/api/entry?kind=tools&name=greet"),
    ("GET", "/api/events"),
    ("POST", "/api/calls"),
    ("POST", "/api/answers/1"),
    ("DELETE", "/api/calls/1"),
    ("GET", "/api/traffic"),
    ("GET", "/api/traffic/1"),
    ("DELETE", "/api/traffic"),
    ("GET", "/api/logins"),
    ("POST", "/api/logins/x"),
    ("DELETE", "/api/logins/x"),
    ("GET", "/api/registry"),
    ("POST", "/api/registry"),
    ("PUT", "/api/registry"),
    ("GET", "/api/nothing"),
]
FILES = [("GET", "/"), ("GET", "/icon.svg"), ("GET", "/assets/x.js"), ("GET", "/nothing")]


@pytest.mark.parametrize(("method", "path"), ROUTES)
@pytest.mark.parametrize("sent", ["", "Bearer wrong", "Bearer", "Basic {token}", "{token}"])
async def test_no_route_answers_without_the_token(
    yard: Opened, method: str, path: str, sent: str
) -> None:
    headers = {"Authorization": sent.format(token=yard.api.token)} if sent else {}
    async with fetch(method, yard.server.origin + path, headers, b"{}") as reply:
        assert reply.status == 401
        assert reply.headers["www-authenticate"].startswith("Bearer")
        assert await reply.json() == {"error": "the page's token is missing or wrong"}


@pytest.mark.parametrize(("method", "path"), [*ROUTES, *FILES])
@pytest.mark.parametrize("foreign", [{"Host": "evil.example"}, {"Origin": "http://evil.example"}])
async def test_every_route_refuses_foreign_hosts_and_origins(
    yard: Opened, method: str, path: str, foreign: dict[str, str]
) -> None:
    headers = {**yard.api.headers, **foreign}
    async with fetch(method, yard.server.origin + path, headers, b"{}") as reply:
        assert reply.status == 403


@pytest.mark.parametrize("path", ["/", "/nothing", "/api/overview", "/api/nothing"])
async def test_every_answer_forbids_inline_code_and_frames(yard: Opened, path: str) -> None:
    async with fetch("GET", yard.server.origin + path, yard.api.headers) as reply:
        policy = reply.headers["content-security-policy"]
        assert "default-src 'none'; script-src 'self'; style-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["referrer-policy"] == "no-referrer"


async def test_a_route_that_exists_under_another_method_says_which(yard: Opened) -> None:
    assert await yard.api.send("POST", "overview", {}) == (405, {"error": "use GET"})
    assert await yard.api.send("GET", "nothing") == (404, {"error": "no such route"})


async def test_the_overview_sums_up_scripts_and_upstreams(yard: Opened) -> None:
    seen = await yard.api.get("overview")
    servers = {row["name"]: row for row in seen["servers"]}
    assert set(servers) == {"project", "peer", "yard", "gone"}
    assert servers["project"]["state"] == "ready"
    assert servers["gone"]["state"] == "failed"
    assert "/nonexistent/program" in servers["gone"]["reason"]
    assert seen["tokens"]["tools"] > servers["project"]["tokens"] > 0
    assert any("no_such_tool" in warning for warning in seen["warnings"])


async def test_the_catalog_has_a_line_for_everything_with_what_is_special(yard: Opened) -> None:
    listing = await yard.api.get("catalog")
    tools = {tool["name"]: tool for tool in listing["tools"]}
    ahoy = tools["ahoy"]
    assert (ahoy["source"], ahoy["version"], ahoy["hidden"]) == ("greet", "1.2.0", ["style"])
    assert ahoy["owner"] == "project"
    assert tools["word_count"]["projected"] is True
    assert tools["test_simple_text"]["owner"] in ("peer", "yard")
    assert "no_such_tool" in tools["lost"]["unavailable"]
    assert tools["lost"]["tokens"] == 0
    assert listing["resources"][0]["name"] == "welcome"


async def test_a_tool_shows_its_layers_and_who_says_what(yard: Opened) -> None:
    seen = await yard.api.get("entry?kind=tools&name=ahoy")
    labels = [layer["label"] for layer in seen["layers"]]
    assert labels == ["registry entry ahoy", "metadata file", "the script"]
    assert seen["layers"][-1]["definition"]["name"] == "greet"
    assert seen["layers"][0]["place"].endswith("registry.json#/tools/0")
    assert seen["parts"]["description"] == "registry entry ahoy"
    assert seen["parts"]["annotations"] == "metadata file"


async def test_an_unknown_entry_is_not_found(yard: Opened) -> None:
    for query in ("kind=tools&name=nope", "kind=__class__&name=x", "kind=prompts"):
        status, answer = await yard.api.send("GET", f"entry?{query}")
        assert (status, list(answer)) == (404, ["error"])


async def test_a_call_streams_progress_logs_and_its_result_with_stages(yard: Opened) -> None:
    told = await yard.api.events_of("countdown", {"seconds": 1})
    kinds = [name for name, _ in told]
    assert kinds[0] == "started"
    assert {"log", "progress"} <= set(kinds)
    name, last = told[-1]
    assert name == "result"
    assert last["result"]["content"] == [{"type": "text", "text": "Lift-off!"}]
    assert [stage["name"] for stage in last["stages"]] == [
        "arguments",
        "sent",
        "returned",
        "result",
    ]
    assert last["ms"] >= last["stages"][2]["ms"] > 900


async def test_the_stages_of_a_virtual_tool_show_defaults_and_the_projection(yard: Opened) -> None:
    greeted = (await yard.api.events_of("ahoy", {"name": "Ann"}))[-1][1]
    assert greeted["result"]["content"] == [{"type": "text", "text": "Ahoy, Ann!"}]
    assert greeted["stages"][1]["value"] == {"name": "Ann", "style": "pirate"}
    counted = (await yard.api.events_of("word_count", {"text": "one two"}))[-1][1]
    assert counted["result"]["structuredContent"] == {"words": 2}
    assert counted["stages"][2]["value"]["structuredContent"]["characters"] == 7


async def test_an_upstreams_tool_is_called_like_any_other(yard: Opened) -> None:
    result = (await yard.api.events_of("test_simple_text", {}))[-1][1]["result"]
    assert result["content"][0]["type"] == "text"


async def test_a_question_is_put_to_the_page_and_its_answer_given_to_the_tool(
    yard: Opened,
) -> None:
    api = yard.api
    async with api.call("tools/call", {"name": "plan_lunch", "arguments": {}}) as reply:
        run, last = "", None
        async for name, data in (told(event) async for event in reply.events()):
            run = data["id"] if name == "started" else run
            last = data
            if name == "questions":
                key = next(iter(data))
                assert data[key]["method"] == "elicitation/create"
                wrong = {key: {"action": "accept", "content": {"people": 99}}}
                status, refused = await api.send("POST", f"answers/{run}", wrong)
                assert status == 422
                assert refused["wrong"] == {key: "dish: is required; people: must be at most 12"}
                content = {"dish": "curry", "people": 3}
                answers = {key: {"action": "accept", "content": content}}
                assert await api.send("POST", f"answers/{run}", answers) == (200, {})
    assert last is not None
    assert last["result"]["content"][0]["text"].startswith("Lunch for 3: curry.")


async def test_an_answer_that_nobody_waits_for_is_refused(yard: Opened) -> None:
    assert (await yard.api.send("POST", "answers/none", {}))[0] == 404
    async with yard.api.call("tools/call", {"name": "countdown", "arguments": {}}) as reply:
        async for name, data in (told(event) async for event in reply.events()):
            if name == "started":
                status, _ = await yard.api.send("POST", f"answers/{data['id']}", {})
                assert status == 409
                break


async def test_a_cancelled_call_says_so_and_its_process_ends(yard: Opened) -> None:
    arguments = {"name": "countdown", "arguments": {"seconds": 20}}
    async with yard.api.call("tools/call", arguments) as reply:
        names = []
        async for name, data in (told(event) async for event in reply.events()):
            names.append(name)
            if name == "started":
                assert await yard.api.send("DELETE", f"calls/{data['id']}") == (200, {})
    assert names[-1] == "cancelled"
    record = (await yard.api.get("traffic"))["lines"][0]
    assert (record["name"], record["outcome"]) == ("countdown", "cancelled")


async def test_a_wrong_call_is_an_error_with_its_code(yard: Opened) -> None:
    assert (await yard.api.events_of("nope", {}))[-1] == (
        "failed",
        {
            "code": -32602,
            "message": "Tool 'nope' not found",
            "data": {"name": "nope"},
            "ms": pytest.approx(0, abs=10_000),
        },
    )


@pytest.mark.parametrize(
    "body", [{}, {"method": "initialize"}, {"method": "tools/call", "params": []}, [], "text"]
)
async def test_what_is_no_call_is_refused(yard: Opened, body: Any) -> None:
    status, answer = await yard.api.send("POST", "calls", body)
    assert status == 400
    assert answer["error"]


async def test_calls_of_other_clients_are_seen_with_both_hops(yard: Opened) -> None:
    async with over_http(yard.server.url, "2025-11-25") as client:
        await client.call("ahoy", {"name": "Bea"})
    line = (await yard.api.get("traffic"))["lines"][0]
    assert (line["method"], line["name"], line["outcome"]) == ("tools/call", "ahoy", "ok")
    assert line["revision"] == "2025-11-25"
    call = await yard.api.get(f"traffic/{line['number']}")
    assert call["params"]["arguments"] == {"name": "Bea"}
    (hop,) = call["hops"]
    assert (hop["to"], hop["arguments"]) == ("project", {"name": "Bea", "style": "pirate"})
    assert call["ms"] >= hop["at"] + hop["ms"]


async def test_secrets_are_masked_wherever_a_call_is_shown(yard: Opened) -> None:
    arguments = {"text": "plain", "password": "opensesame"}
    told = await yard.api.events_of("sealed", arguments)
    stages = json.dumps(told[-1][1]["stages"])
    line = (await yard.api.get("traffic"))["lines"][0]
    call = await yard.api.get(f"traffic/{line['number']}")
    assert call["params"]["arguments"] == {"text": "plain", "password": "***"}
    assert call["hops"][0]["arguments"]["colour"] == "***"
    for shown in (stages, json.dumps(call)):
        assert SECRET not in shown
    assert "opensesame" not in json.dumps(call["hops"])
    for path in ("overview", "catalog", "entry?kind=tools&name=sealed"):
        assert SECRET not in json.dumps(await yard.api.get(path))


async def test_calls_can_be_forgotten(yard: Opened) -> None:
    await yard.api.events_of("greet", {})
    assert await yard.api.send("DELETE", "traffic") == (200, {})
    assert (await yard.api.get("traffic"))["lines"] == []


async def test_the_event_stream_tells_of_calls_and_of_a_changed_catalog(yard: Opened) -> None:
    async with fetch("GET", f"{yard.server.origin}/api/events", yard.api.headers) as reply:
        stream = (told(event) async for event in reply.events())
        assert (await anext(stream))[0] == "hello"
        await yard.api.events_of("greet", {})
        async for name, data in stream:
            if name == "traffic":
                assert data["lines"][0]["name"] == "greet"
                break
        text = yard.registry.read_text()
        yard.registry.write_text(text.replace("Says ahoy", "Says ahoy loudly"))
        async for name, _ in stream:
            if name == "catalog":
                break
    seen = await yard.api.get("entry?kind=tools&name=ahoy")
    assert seen["definition"]["description"] == "Says ahoy loudly"


async def test_traffic_is_off_with_one_setting() -> None:
    async with opened(env={"TOOLYARD_PAGE_TRAFFIC": "false"}, project=DEMO) as yard:
        assert (await yard.api.get("overview"))["traffic"] is False
        assert (await yard.api.events_of("greet", {}))[-1][1]["stages"][1]["to"] == "project"
        status, answer = await yard.api.send("GET", "traffic")
        assert (status, "page_traffic" in answer["error"]) == (404, True)


async def test_without_the_page_only_mcp_is_served() -> None:
    async with serving(DEMO, "--no-page") as server:
        assert "token=" not in server.errors
        for path in ("/", "/api/overview"):
            async with fetch("GET", server.origin + path) as reply:
                assert reply.status == 404


async def test_the_overview_does_not_wait_for_an_upstream_that_starts_slowly(
    tmp_path: Path,
) -> None:
    slow = {"name": "slow", "stdio": {"command": "/bin/sleep", "args": ["30"]}, "expose": "all"}
    registry = tmp_path / "registry.json"
    registry.write_text(json.dumps({"servers": [slow]}))
    async with serving(registry) as server:
        api = Api(server.origin, (await found(server))[1])
        (row,) = (await api.get("overview"))["servers"]
        assert (row["name"], row["state"]) in (("slow", "idle"), ("slow", "starting"))

        async def is_starting() -> bool:
            return [row["state"] for row in (await api.get("overview"))["servers"]] == ["starting"]

        await until(is_starting)
