"""Lists: pages, cursors, totals, limits, changes."""

from __future__ import annotations

import base64
import json

import pytest

from tests.requirements.conftest import Folder, Serve

pytestmark = pytest.mark.long


def many(folder: Folder) -> None:
    for number in range(7):
        folder.tool(f"tool{number}")
        folder.write(f"resources/r{number}.txt", "text")
        folder.write(f"prompts/p{number}.txt", "text")
        folder.write(
            f"resources/t{number}.meta.json",
            {"name": f"t{number}", "uriTemplate": f"x{number}://{{id}}"},
        )


LISTS = [
    ("tools/list", "tools", 8),
    ("resources/list", "resources", 7),
    ("resources/templates/list", "resourceTemplates", 7),
    ("prompts/list", "prompts", 7),
]


@pytest.mark.parametrize(("method", "key", "total"), LISTS)
async def test_pages_follow_one_another_and_say_the_total(
    folder: Folder, serve: Serve, method: str, key: str, total: int
) -> None:
    many(folder)
    async with serve() as client:
        names: list[str] = []
        params: dict[str, object] = {"limit": 3}
        while True:
            page = await client.result(method, params)
            assert page["_meta"]["mcpbash/total"] == total
            assert len(page[key]) <= 3
            names += [entry["name"] for entry in page[key]]
            if "nextCursor" not in page:
                break
            params["cursor"] = page["nextCursor"]
        whole = await client.result(method)
    assert names == [entry["name"] for entry in whole[key]] == sorted(names)
    assert len(names) == total


async def test_a_cursor_is_base64url_of_what_it_is_bound_to(folder: Folder, serve: Serve) -> None:
    many(folder)
    async with serve() as client:
        cursor = (await client.result("tools/list", {"limit": 3}))["nextCursor"]
    content = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    assert set(content) == {"ver", "collection", "offset", "hash", "timestamp"}
    assert (content["ver"], content["collection"], content["offset"]) == (1, "tools", 3)


@pytest.mark.parametrize(("method", "key", "total"), LISTS)
async def test_a_malformed_or_stale_cursor_is_refused(
    folder: Folder, serve: Serve, method: str, key: str, total: int
) -> None:
    many(folder)
    async with serve() as client:
        assert (await client.error(method, {"cursor": "rubbish"}))["code"] == -32602
        cursor = (await client.result(method, {"limit": 3}))["nextCursor"]
        folder.tool("another")
        folder.write("prompts/another.txt", "text")
        folder.write("resources/another.txt", "text")
        folder.write("resources/more.meta.json", {"name": "more", "uriTemplate": "m://{id}"})
        changed = key.removeprefix("resourceT").replace("emplates", "resources")
        await client.notification(f"notifications/{changed}/list_changed")
        assert (await client.error(method, {"cursor": cursor}))["code"] == -32602


async def test_templates_are_listed_fifty_at_a_time_and_two_hundred_at_most(
    folder: Folder, serve: Serve
) -> None:
    for number in range(210):
        folder.write(
            f"resources/t{number:03}.meta.json",
            {"name": f"t{number:03}", "uriTemplate": f"x{number}://{{id}}"},
        )
    async with serve() as client:
        first = await client.result("resources/templates/list")
        assert len(first["resourceTemplates"]) == 50
        most = await client.result("resources/templates/list", {"limit": 1000})
        assert len(most["resourceTemplates"]) == 200


async def test_templates_are_supported_even_where_there_are_none(serve: Serve) -> None:
    async with serve() as client:
        listed = await client.result("resources/templates/list")
        assert listed["resourceTemplates"] == []
        assert set(client.server["capabilities"]["resources"]) == {"subscribe", "listChanged"}


async def test_a_changed_hash_is_announced_and_an_unchanged_one_is_not(
    folder: Folder, serve: Serve
) -> None:
    async with serve() as client:
        await client.result("tools/list")
        folder.write("tools/hello/tool.meta.json", {"name": "hello", "description": "New"})
        await client.notification("notifications/tools/list_changed")
        [tool] = (await client.result("tools/list"))["tools"]
        assert tool["description"] == "New"
        # A file that changes nothing on offer.
        folder.write("tools/hello/README.md", "read me")
        folder.write("prompts/later.txt", "a prompt")
        await client.notification("notifications/prompts/list_changed")
        assert [said["method"] for said in client.notifications] == [
            "notifications/tools/list_changed",
            "notifications/prompts/list_changed",
        ]


async def test_a_new_template_is_announced_as_a_change_of_the_resources(
    folder: Folder, serve: Serve
) -> None:
    async with serve() as client:
        await client.result("resources/templates/list")
        folder.write("resources/new.meta.json", {"name": "new", "uriTemplate": "new://{id}"})
        await client.notification("notifications/resources/list_changed")
        [listed] = (await client.result("resources/templates/list"))["resourceTemplates"]
        assert listed["uriTemplate"] == "new://{id}"


async def test_a_registry_that_is_too_large_fails_its_list(serve: Serve) -> None:
    async with serve(env={"MCPBASH_REGISTRY_MAX_BYTES": "20"}) as client:
        error = await client.error("tools/list")
        assert error["code"] == -32603
        assert "20 bytes" in error["message"]
        assert (await client.result("prompts/list"))["prompts"] == []
