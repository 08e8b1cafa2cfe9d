"""What clients of `mcp-bash` hear on the wire, where it differs from `toolyard serve`."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.hooks.yard import Yard
from tests.mcp_bash.conftest import Serve, messages
from tests.peers.raw import StdioClient

OLDER = ["2024-11-05", "2025-03-26"]
NEWER = ["2025-06-18", "2025-11-25"]
ALL = [*OLDER, *NEWER]
AS_OBSERVED = {"logging": {}, "tools": {}, "resources": {"subscribe": True}, "prompts": {}}
CHANGED = {f"notifications/{kind}/list_changed" for kind in ("tools", "resources", "prompts")}


def list_changes(heard: list[dict[str, Any]]) -> list[str]:
    return [each["method"] for each in heard if each["method"].endswith("list_changed")]


@pytest.mark.parametrize("revision", OLDER)
async def test_older_clients_are_told_the_capabilities_they_know(
    serve: Serve, revision: str
) -> None:
    async with serve(revision) as client:
        assert client.server["capabilities"] == AS_OBSERVED


@pytest.mark.parametrize(
    ("revision", "told"), [("2024-11-05", False), ("2025-03-26", True), ("2025-11-25", True)]
)
async def test_instructions_go_to_clients_from_2025_03_26_on(
    serve: Serve, yard: Yard, revision: str, told: bool
) -> None:
    yard.write("server.d/server.instructions.md", "Be kind.\n")
    async with serve(revision) as client:
        assert ("instructions" in client.server) is told


@pytest.mark.parametrize("revision", ALL)
async def test_structured_content_goes_to_clients_of_every_revision(
    serve: Serve, yard: Yard, revision: str
) -> None:
    yard.tool("counts", "echo '{\"count\": 2}'")
    async with serve(revision) as client:
        assert (await client.call("counts"))["structuredContent"] == {"count": 2}
    async with serve(revision, "toolyard") as client:
        assert ("structuredContent" in await client.call("counts")) is (revision in NEWER)


@pytest.mark.parametrize("revision", ALL)
async def test_a_cold_start_announces_three_lists_and_a_warm_one_none(
    serve: Serve, revision: str
) -> None:
    """Ends before the next start: the registry files are written at the latest then."""
    async with serve(revision) as client:
        if revision in NEWER:
            assert {(await client.notification(method))["method"] for method in CHANGED} == CHANGED
        await client.result("tools/list")
        assert len(list_changes(client.notifications)) == (3 if revision in NEWER else 0)
        assert await client.end_of_input() == 0
    async with serve(revision) as client:
        await client.result("tools/list")
        assert await client.end_of_input() == 0
        assert list_changes(client.notifications) == []


async def test_only_the_list_that_changed_since_the_last_start_is_announced(
    serve: Serve, yard: Yard
) -> None:
    async with serve() as client:
        await client.result("tools/list")
        assert await client.end_of_input() == 0
    yard.write("prompts/ask.txt", "Well?")
    async with serve() as client:
        await client.notification("notifications/prompts/list_changed")
        await client.result("tools/list")
        assert list_changes(client.notifications) == ["notifications/prompts/list_changed"]


async def test_toolyard_announces_nothing_at_a_cold_start(serve: Serve) -> None:
    async with serve(program="toolyard") as client:
        await client.result("tools/list")
        assert await client.end_of_input() == 0
        assert list_changes(client.notifications) == []


@pytest.mark.parametrize("level", ["DEBUG", "Warning", "eMERGENCY", "info"])
async def test_log_levels_are_taken_in_any_case(serve: Serve, level: str) -> None:
    async with serve() as client:
        assert await client.result("logging/setLevel", {"level": level}) == {}
        assert (await client.error("logging/setLevel", {"level": "loud"}))["code"] == -32602


async def answer_to(client: StdioClient, message: dict[str, Any]) -> dict[str, Any]:
    """What comes back for a message that is no request."""
    known = len(client.heard)
    await client.send(message)
    await client.result("ping")
    return client.heard[known]


@pytest.mark.parametrize("message", [{"jsonrpc": "2.0", "id": 7}, {"id": 7}])
async def test_a_message_that_says_nothing_is_an_invalid_request(
    serve: Serve, message: dict[str, Any]
) -> None:
    async with serve(checked=False) as client:
        answer = await answer_to(client, message)
        assert answer["error"] == {
            "code": -32600,
            "message": "Invalid Request",
            "data": "Missing method",
        }


@pytest.mark.parametrize("version", [[], {}, 3, "1999-01-01", True])
async def test_a_version_that_is_none_is_refused_and_the_server_lives(
    serve: Serve, version: object
) -> None:
    async with serve(start=False, checked=False) as client:
        error = await client.error("initialize", {"protocolVersion": version})
        assert error["code"] == -32602
        assert error["message"].startswith("Unsupported protocol version: ")
        assert (await client.start())["protocolVersion"] == "2025-11-25"


async def test_the_text_of_a_tool_is_its_output_to_the_last_newline(
    serve: Serve, yard: Yard
) -> None:
    yard.tool("fails", "echo no; exit 3")
    async with serve() as client:
        assert (await client.call("hello"))["content"][0]["text"] == "hi\n"
        assert (await client.call("fails"))["content"][0]["text"] == "no\n"
    async with serve(program="toolyard") as client:
        assert (await client.call("hello"))["content"][0]["text"] == "hi"


@pytest.mark.parametrize(("program", "end"), [("mcp-bash", ""), ("toolyard", "\n\n")])
async def test_texts_of_resources_and_prompts_end_without_newlines(
    serve: Serve, yard: Yard, program: str, end: str
) -> None:
    place = yard.write("resources/note.txt", "a\nb\n\n")
    yard.write("prompts/ask.txt", "Well?\n\n")
    yard.script("prompts/run.sh", "printf 'Now?\\n\\n'")
    async with serve(program=program) as client:
        read = await client.result("resources/read", {"uri": f"file://{place}"})
        assert read["contents"][0]["text"] == "a\nb" + end
        for name, text in (("ask", "Well?"), ("run", "Now?")):
            got = await client.result("prompts/get", {"name": name})
            assert got["messages"][0]["content"]["text"] == text + end


@pytest.mark.parametrize(("program", "name"), [("mcp-bash", "weather"), ("toolyard", "ui.weather")])
async def test_pages_are_listed_under_the_name_of_their_folder(
    serve: Serve, yard: Yard, program: str, name: str
) -> None:
    yard.write("ui/weather/index.html", "<p>sun</p>")
    async with serve(program=program) as client:
        listed = (await client.result("resources/list"))["resources"]
        assert [(each["name"], each["uri"]) for each in listed] == [(name, "ui://yard/weather")]


async def test_a_page_and_a_resource_of_one_name_are_both_listed(serve: Serve, yard: Yard) -> None:
    yard.write("ui/weather/index.html", "<p>sun</p>")
    yard.write("resources/weather.txt", "rain")
    async with serve() as client:
        listed = (await client.result("resources/list"))["resources"]
        assert [each["name"] for each in listed] == ["weather", "ui.weather"]


@pytest.mark.parametrize("program", ["mcp-bash", "toolyard"])
async def test_what_discovery_skips_is_told_to_the_client(
    serve: Serve, yard: Yard, program: str
) -> None:
    broken = yard.write("resources/broken.meta.json", "{")
    wrong = yard.write("resources/wrong.meta.json", {"uri": "file:///x", "arguments": ["a"]})
    async with serve(program=program) as client:
        await client.result("resources/list")
        told = sorted(messages(client))
        assert [(level, logger) for level, logger, _ in told] == [("warning", "mcp.resources")] * 2
        assert told[0][2].startswith(f"{broken}: is not JSON")
        assert told[1][2] == f"{wrong}: arguments must be an object; skipped"


async def test_warnings_of_discovery_keep_to_the_level_that_was_set(
    serve: Serve, yard: Yard
) -> None:
    yard.write("resources/broken.meta.json", "{")
    async with serve("2025-03-26") as client:
        await client.result("logging/setLevel", {"level": "error"})
        await client.result("resources/list")
        assert messages(client) == []


async def test_a_mistake_made_while_serving_is_told_at_once(serve: Serve, yard: Yard) -> None:
    async with serve() as client:
        await client.result("tools/list")
        (yard.root / "tools/hello/tool.meta.json").write_text("{")
        said = await client.notification("notifications/message")
        assert said["params"]["logger"] == "mcp.tools"
        assert "tool.meta.json: is not JSON" in said["params"]["data"]


async def test_rules_keep_warnings_from_clients(serve: Serve, yard: Yard) -> None:
    yard.write("resources/broken.meta.json", "{")
    rules = json.dumps([{"resources": ["*"]}])
    async with serve(env={"TOOLYARD_RULES": rules}) as client:
        await client.result("resources/list")
        assert messages(client) == []
