"""The examples that are about resources, templates, prompts and completions."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from tests.examples.conftest import BOTH_ERAS, HANDSHAKE, served
from tests.peers.raw import StdioClient

pytestmark = pytest.mark.long

every_era = pytest.mark.parametrize("revision", BOTH_ERAS)


async def read(client: StdioClient, uri: str) -> dict[str, Any]:
    [content] = (await client.result("resources/read", {"uri": uri}))["contents"]
    return dict(content)


@every_era
async def test_05_each_kind_of_resource_is_read(revision: str) -> None:
    async with served("05-resources", revision) as (client, project):
        listed = (await client.result("resources/list"))["resources"]
        uris = {entry["name"]: entry["uri"] for entry in listed}
        assert sorted(uris) == ["dot", "handbook", "load", "menu"]
        handbook = await read(client, uris["handbook"])
        assert handbook["text"] == (project / "resources/handbook.md").read_text()
        assert handbook["mimeType"] == "text/markdown"
        dot = await read(client, uris["dot"])
        assert base64.b64decode(dot["blob"]) == (project / "resources/dot.png").read_bytes()
        assert dot["mimeType"] == "image/png"
        assert json.loads((await read(client, "canteen://menu"))["text"])["monday"] == "soup"
        assert json.loads((await read(client, "machine://load"))["text"])["processes"] >= 0


async def test_05_a_subscriber_hears_of_a_change() -> None:
    async with served("05-resources") as (client, project):
        file = project / "resources/handbook.md"
        uri = file.resolve().as_uri()
        await client.result("resources/subscribe", {"uri": uri})
        await client.notification("notifications/resources/updated")
        file.write_text("# Handbook\n\nOn Tuesdays.\n")
        changed = await client.notification("notifications/resources/updated")
        assert changed["params"]["uri"] == uri
        assert "Tuesdays" in (await read(client, uri))["text"]


@every_era
async def test_06_templates_are_listed_and_expanded_uris_read(revision: str) -> None:
    async with served("06-templates", revision) as (client, _):
        listed = (await client.result("resources/templates/list"))["resourceTemplates"]
        assert {entry["uriTemplate"] for entry in listed} == {
            "distance://{from}/{to}",
            "recipe://{name}",
        }
        distance = json.loads((await read(client, "distance://Oslo/Turin"))["text"])
        assert distance == {"from": "Oslo", "to": "Turin", "km": 1640}
        assert (await read(client, "recipe://pancakes"))["text"].startswith("Two eggs")


async def test_06_what_does_not_exist_is_not_found() -> None:
    async with served("06-templates") as (client, _):
        for uri in ("distance://Oslo/Atlantis", "recipe://stone-soup", "nothing://here"):
            error = await client.error("resources/read", {"uri": uri})
            assert (error["code"], error["message"]) == (-32002, "Resource not found"), uri
        escape = await client.error("resources/read", {"uri": "recipe://../server.d/x"})
        assert escape["code"] in (-32602, -32002)


@every_era
async def test_07_a_text_prompt_keeps_lines_and_expands_once(revision: str) -> None:
    code = "rm -rf $dir\n{{language}}"
    async with served("07-prompts", revision) as (client, _):
        got = await client.result("prompts/get", {"name": "review", "arguments": {"code": code}})
        missing = await client.error("prompts/get", {"name": "review"})
    [message] = got["messages"]
    assert message["role"] == "user"
    assert message["content"]["text"].startswith("Review the following bash code.")
    assert message["content"]["text"].endswith(f"\n\n{code}\n")
    assert missing["code"] == -32602
    assert "code" in missing["message"]


@every_era
async def test_07_an_executable_prompt_prints_its_messages(revision: str) -> None:
    async with served("07-prompts", revision) as (client, project):
        got = await client.result("prompts/get", {"name": "standup", "arguments": {"name": "Ann"}})
        notes = (project / "notes.md").read_text()
    roles = [message["role"] for message in got["messages"]]
    assert roles == ["user", "user", "assistant"]
    assert "for Ann " in got["messages"][0]["content"]["text"]
    assert got["messages"][1]["content"]["resource"]["text"] == notes.rstrip("\n")


async def complete(client: StdioClient, argument: str, value: str, **more: Any) -> dict[str, Any]:
    ref = {"type": "ref/prompt", "name": more.pop("prompt", "travel")}
    params = {"ref": ref, "argument": {"name": argument, "value": value}, **more}
    return dict((await client.result("completion/complete", params))["completion"])


@every_era
async def test_08_a_script_offers_what_fits(revision: str) -> None:
    async with served("08-completions", revision) as (client, _):
        offered = await complete(client, "to", "Be", context={"arguments": {"from": "Bergen"}})
        assert offered["values"] == ["Berlin", "Bern"]
        assert offered["hasMore"] is False
        enumerated = await complete(client, "language", "d", prompt="greet")
        assert enumerated["values"] == ["Danish", "Dutch"]


async def test_08_more_is_offered_page_by_page() -> None:
    async with served("08-completions", HANDSHAKE, checked=False) as (client, _):
        first = await complete(client, "to", "B", limit=5)
        assert (len(first["values"]), first["hasMore"]) == (5, True)
        second = await complete(client, "to", "B", limit=5, cursor=first["nextCursor"])
    assert first["values"] + second["values"] == [
        "Barcelona",
        "Basel",
        "Bergen",
        "Berlin",
        "Bern",
        "Bilbao",
        "Bologna",
        "Bremen",
    ]
    assert second["hasMore"] is False
