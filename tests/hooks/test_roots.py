"""Roots: configured, from a client, replaced over stdio and narrowed over HTTP."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.hooks.yard import Yard, text_of
from tests.peers.raw import RawClient, over_stdio
from tests.peers.raw_http import HttpClient, over_http
from tests.peers.serving import serving
from tests.until import until

pytestmark = pytest.mark.long

CAN: dict[str, Any] = {"roots": {"listChanged": True}}
TELL = (
    'printf \'{"count":%s,"paths":"%s","all":%s}\' '
    '"$MCP_ROOTS_COUNT" "${MCP_ROOTS_PATHS//$\'\\n\'/ }" "$MCP_ROOTS_JSON"'
)


@pytest.fixture
def yard(yard: Yard) -> Yard:
    yard.tool("tell", TELL)
    yard.tool("embed", 'printf \'["%s"]\' "$FILE" >"$MCP_TOOL_RESOURCES_FILE"; echo embedded')
    return yard


def listing(*paths: Path | str, name: str | None = None) -> dict[str, Any]:
    named = {"name": name} if name else {}
    uris = (path.as_uri() if isinstance(path, Path) else path for path in paths)
    return {"roots/list": {"roots": [{"uri": uri, **named} for uri in uris]}}


async def told(client: RawClient) -> dict[str, Any]:
    roots: dict[str, Any] = json.loads(text_of(await client.call("tell")))
    return roots


async def until_told(client: RawClient, paths: str | Path) -> None:
    async def are_told() -> bool:
        return bool((await told(client))["paths"] == str(paths))

    await until(are_told)


async def test_without_any_the_project_is_the_root(yard: Yard) -> None:
    async with over_stdio(yard.served) as client:
        assert await told(client) == {
            "count": 1,
            "paths": str(yard.root),
            "all": [{"uri": yard.root.as_uri(), "name": "yard", "path": str(yard.root)}],
        }


async def test_roots_come_from_the_variable_before_the_file(yard: Yard, tmp_path: Path) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    for folder in (a, b):
        folder.mkdir()
    yard.write("config/roots.json", {"roots": [{"path": str(b), "name": "bee"}]})
    async with over_stdio(yard.served, env={"MCPBASH_ROOTS": f"{a}:{tmp_path}/none"}) as client:
        assert (await told(client))["paths"] == str(a)
        await client.end_of_input()
        assert "/none does not exist; skipped" in await client.running.last_words()
    async with over_stdio(yard.served) as client:
        assert (await told(client))["all"] == [
            {"uri": b.as_uri(), "name": "bee", "path": str(b)},
        ]


async def test_paths_in_the_file_begin_at_the_project(yard: Yard) -> None:
    yard.write("config/roots.json", {"roots": [{"path": "tools"}]})
    async with over_stdio(yard.served) as client:
        assert (await told(client))["paths"] == f"{yard.root}/tools"


@pytest.mark.parametrize("content", ["{", "[]", '{"roots": 1}'])
async def test_a_file_that_cannot_be_understood_grants_nothing(yard: Yard, content: str) -> None:
    path = yard.write("config/roots.json", content)
    async with over_stdio(yard.served) as client:
        assert (await told(client))["count"] == 0
        await client.end_of_input()
        assert str(path) in await client.running.last_words()


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
async def test_over_stdio_the_roots_of_the_client_replace_ours(
    yard: Yard, tmp_path: Path, revision: str
) -> None:
    answers = listing(tmp_path, name="work")
    async with over_stdio(yard.served, revision, capabilities=CAN, answers=answers) as client:
        roots = await told(client)
    assert roots["all"] == [{"uri": tmp_path.as_uri(), "name": "work", "path": str(tmp_path)}]
    assert [question["method"] for question in client.questions] == ["roots/list"]


async def test_a_client_without_the_capability_is_not_asked(yard: Yard) -> None:
    async with over_stdio(yard.served) as client:
        assert (await told(client))["count"] == 1
    assert client.questions == []


async def test_what_is_no_folder_of_this_machine_is_no_root(yard: Yard, tmp_path: Path) -> None:
    spaced = tmp_path / "with space"
    spaced.mkdir()
    answers = listing(
        "https://example.com/x",
        "file://other.host/etc",
        "file:///no/such/place",
        "file:relative",
        "",
        spaced,
    )
    async with over_stdio(yard.served, capabilities=CAN, answers=answers) as client:
        assert (await told(client))["paths"] == str(spaced)


async def test_roots_are_asked_for_again_when_they_change(yard: Yard, tmp_path: Path) -> None:
    (tmp_path / "later").mkdir()
    env = {"MCPBASH_ROOTS_DEBOUNCE_INTERVAL": "0.05"}
    answers = listing(tmp_path)
    async with over_stdio(yard.served, capabilities=CAN, answers=answers, env=env) as client:
        assert (await told(client))["paths"] == str(tmp_path)
        client.answers = dict(listing(tmp_path / "later"))
        for _ in range(5):
            await client.notify("notifications/roots/list_changed")
        await until_told(client, tmp_path / "later")
    assert len(client.questions) == 2


async def test_a_client_that_fails_to_list_leaves_the_roots_as_they_were(
    yard: Yard, tmp_path: Path
) -> None:
    env = {"MCPBASH_ROOTS_DEBOUNCE_INTERVAL": "0"}
    answers = listing(tmp_path)
    async with over_stdio(yard.served, capabilities=CAN, answers=answers, env=env) as client:
        assert (await told(client))["paths"] == str(tmp_path)
        client.answers = {}
        await client.notify("notifications/roots/list_changed")
        await until(lambda: len(client.questions) >= 2)
        assert (await told(client))["paths"] == str(tmp_path)
        await client.end_of_input()
        assert "did not list its roots" in await client.running.last_words()


async def asked(client: HttpClient) -> None:
    """The question comes on the session's own stream; its answer is in once we have sent it."""
    await client.open_get()
    await until(lambda: client.questions)


async def test_over_http_a_client_can_only_narrow_the_roots(yard: Yard, tmp_path: Path) -> None:
    ours, inner = tmp_path / "ours", tmp_path / "ours" / "inner"
    inner.mkdir(parents=True)
    (tmp_path / "ours-not").mkdir()
    cases: list[tuple[Path, str]] = [
        (inner, str(inner)),
        (tmp_path, str(ours)),
        (tmp_path / "ours-not", ""),
    ]
    async with serving(yard.root, env={"MCPBASH_ROOTS": str(ours)}) as server:
        for root, expected in cases:
            async with over_http(server.url, capabilities=CAN, answers=listing(root)) as client:
                await asked(client)
                await until_told(client, expected)


async def test_the_roots_of_one_session_are_not_those_of_another(
    yard: Yard, tmp_path: Path
) -> None:
    inner = yard.root / "tools"
    async with (
        serving(yard.root) as server,
        over_http(server.url, capabilities=CAN, answers=listing(inner)) as one,
        over_http(server.url) as other,
    ):
        await asked(one)
        await until_told(one, inner)
        assert (await told(other))["paths"] == str(yard.root)


async def test_a_modern_client_is_asked_for_roots_only_by_a_script(
    yard: Yard, tmp_path: Path
) -> None:
    yard.tool("ask", 'source "$MCP_SDK/tool-sdk.sh"; mcp_roots_ask')
    answers = listing(tmp_path)
    async with over_stdio(yard.served, "2026-07-28", capabilities=CAN, answers=answers) as client:
        assert (await told(client))["paths"] == str(yard.root)
        assert client.questions == []
        assert str(tmp_path) in text_of(await client.call("ask"))
    assert [question["method"] for question in client.questions] == ["roots/list"]


async def embedded(yard: Yard, file: Path, **options: Any) -> bool:
    env = {"MCPBASH_TOOL_ENV_MODE": "allowlist", "MCPBASH_TOOL_ENV_ALLOWLIST": "FILE"}
    env |= {"FILE": str(file), **options.pop("env", {})}
    async with over_stdio(yard.served, env=env, **options) as client:
        result = await client.call("embed")
    return len(result["content"]) == 2


async def test_a_tool_embeds_files_of_the_roots_in_force(yard: Yard, tmp_path: Path) -> None:
    outside = tmp_path / "work" / "note.txt"
    outside.parent.mkdir()
    outside.write_text("hi")
    inside = yard.write("data/note.txt", "hi")
    work = {"capabilities": CAN, "answers": listing(outside.parent)}
    assert await embedded(yard, inside)
    assert not await embedded(yard, outside)
    assert await embedded(yard, outside, **work)
    assert await embedded(yard, outside, env={"MCPBASH_ROOTS": str(outside.parent)})
    assert not await embedded(yard, inside, env={"MCPBASH_ROOTS": str(outside.parent)})


@pytest.mark.parametrize(
    "listed, count",
    [([{"uri": "file:///tmp"}] * 300, 256), ({"a": 1}, 0), (7, 0), ("file:///tmp", 0)],
)
async def test_a_client_may_name_so_many_roots_and_no_more(
    yard: Yard, listed: Any, count: int
) -> None:
    answers: dict[str, Any] = {"roots/list": {"roots": listed}}
    async with over_stdio(yard.served, capabilities=CAN, answers=answers) as client:
        assert (await told(client))["count"] == count
