"""What is found in a project, and what may be read of it: under both names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.hooks.yard import Yard, text_of
from tests.mcp_bash.conftest import Serve, messages
from tests.peers.raw import StdioClient

BOTH = pytest.mark.parametrize("program", ["mcp-bash", "toolyard"])


async def resources(client: StdioClient) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = (await client.result("resources/list"))["resources"]
    return listed


@BOTH
async def test_metadata_describes_a_bare_file_by_its_uri(
    serve: Serve, yard: Yard, program: str
) -> None:
    file = yard.write("resources/docs/read me.txt", "text")
    uri = f"file://{str(file).replace(' ', '%20')}"
    told = {"name": "shared-name", "description": "One for all", "mimeType": "text/x-note"}
    yard.write("resources/shared.meta.json", {**told, "uri": uri})
    yard.write(
        "resources/clash.meta.json", {"name": "shared-name", "uriTemplate": "file:///{path}"}
    )
    async with serve(program=program) as client:
        (only,) = await resources(client)
        assert {key: only[key] for key in (*told, "uri")} == {**told, "uri": uri}
        assert (await client.result("resources/templates/list"))["resourceTemplates"] == []
        read = await client.result("resources/read", {"uri": uri})
        assert (read["contents"][0]["text"], read["contents"][0]["mimeType"]) == (
            "text",
            "text/x-note",
        )
        (said,) = messages(client)
        assert said[2].endswith("template 'shared-name': a resource has the same name; skipped")


@BOTH
async def test_two_scripts_of_one_default_name_can_both_be_called(
    serve: Serve, yard: Yard, program: str
) -> None:
    yard.script("tools/greet/tool.sh", "echo first")
    yard.script("tools/hi/tool.sh", "echo second")
    yard.script("tools/ho/tool.sh", "echo third")
    async with serve(program=program) as client:
        tools = (await client.result("tools/list"))["tools"]
        assert [tool["name"] for tool in tools] == ["hello", "hi", "ho", "tool"]
        said = [text_of(await client.call(name)) for name in ("tool", "hi", "ho")]
        assert said == ["first", "second", "third"]
        told = [text for _, _, text in messages(client)]
        assert len(told) == 2 and "tools/hi/tool.sh: there is already a tool 'tool'" in told[0]


async def test_of_two_names_that_metadata_states_the_first_wins(serve: Serve, yard: Yard) -> None:
    for folder in ("a", "b"):
        yard.write(f"tools/{folder}/tool.meta.json", {"name": "tool"})
        yard.script(f"tools/{folder}/tool.sh", f"echo {folder}")
    async with serve() as client:
        tools = (await client.result("tools/list"))["tools"]
        assert [tool["name"] for tool in tools] == ["hello", "tool"]
        assert text_of(await client.call("tool")) == "a"


@BOTH
async def test_variables_say_who_the_server_is_where_its_metadata_does_not(
    serve: Serve, yard: Yard, program: str
) -> None:
    yard.write("server.d/server.meta.json", {"title": "Stated"})
    yard.write("ui/weather/index.html", "<p>sun</p>")
    env = {
        "MCPBASH_SERVER_NAME": "told",
        "MCPBASH_SERVER_TITLE": "Not this one",
        "MCPBASH_SERVER_VERSION": "9.8.7",
        "MCPBASH_SERVER_DESCRIPTION": "For tests",
        "MCPBASH_SERVER_WEBSITE_URL": "https://example.org/",
        "MCPBASH_SERVER_ICONS": '[{"src": "https://example.org/i.png"}]',
        "MCPBASH_SERVER_INSTRUCTIONS": "Be kind.",
    }
    async with serve(program=program, env=env) as client:
        assert client.server["serverInfo"] == {
            "name": "told",
            "version": "9.8.7",
            "title": "Stated",
            "description": "For tests",
            "websiteUrl": "https://example.org/",
            "icons": [{"src": "https://example.org/i.png"}],
        }
        assert client.server["instructions"] == "Be kind."
        assert [each["uri"] for each in await resources(client)] == ["ui://told/weather"]


@BOTH
async def test_files_below_the_roots_are_read_whether_they_are_listed_or_not(
    serve: Serve, yard: Yard, tmp_path: Path, program: str
) -> None:
    deep = yard.write("resources/a/b/c/d/e/deep.md", "deep")
    yard.write("resources/a.txt", "near")
    async with serve(program=program) as client:
        assert str(deep) not in str(await resources(client))
        for uri, text in {
            f"file://{deep}": "deep",
            f"file://{yard.root}/resources/x/../a/./b/c/d//e/deep.md": "deep",
            f"file://{yard.root}/resources/./a.txt": "near",
            "file://./a.txt": "near",
        }.items():
            read = await client.result("resources/read", {"uri": uri})
            assert (read["contents"][0]["uri"], read["contents"][0]["text"]) == (uri, text)
        error = await client.error("resources/read", {"uri": f"file://{yard.root}/resources/no"})
        assert error["code"] == -32002


@BOTH
async def test_files_outside_of_the_roots_are_not_read(
    serve: Serve, yard: Yard, tmp_path: Path, program: str
) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    yard.write("resources/a.txt", "near")
    (yard.root / "resources/link.txt").symlink_to(tmp_path / "secret.txt")
    async with serve(program=program) as client:
        for uri in (
            f"file://{tmp_path}/secret.txt",
            f"file://{yard.root}/resources/../../secret.txt",
            f"file://{yard.root}/resources/%2e%2e/%2e%2e/secret.txt",
            f"file://{yard.root}/resources/link.txt",
            "file://./../../secret.txt",
            "file:///etc/passwd",
        ):
            error = await client.error("resources/read", {"uri": uri})
            assert error["message"] == "Resource outside allowed roots", uri


async def test_the_roots_that_the_operator_names_hold(
    serve: Serve, yard: Yard, tmp_path: Path
) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared/x.json").write_text("{}")
    near = yard.write("resources/more/unlisted/deep/er/a.txt", "near")
    async with serve(env={"MCP_RESOURCES_ROOTS": str(tmp_path / "shared")}) as client:
        read = await client.result("resources/read", {"uri": f"file://{tmp_path}/shared/x.json"})
        assert read["contents"][0]["mimeType"] == "application/json"
        error = await client.error("resources/read", {"uri": f"file://{near}"})
        assert error["message"] == "Resource outside allowed roots"


async def test_the_source_of_a_program_is_never_served(serve: Serve, yard: Yard) -> None:
    program = yard.script("resources/a/load.sh", "echo 1")
    async with serve() as client:
        error = await client.error("resources/read", {"uri": f"file://{program}"})
        assert error["code"] == -32002


async def test_an_unlisted_file_can_be_subscribed_to(serve: Serve, yard: Yard) -> None:
    deep = yard.write("resources/a/b/c/d/e/deep.md", "deep")
    uri = f"file://{deep}"
    async with serve() as client:
        await client.result("resources/subscribe", {"uri": uri})
        await client.notification("notifications/resources/updated")
        deep.write_text("deeper")
        told = await client.notification("notifications/resources/updated")
        assert told["params"]["uri"] == uri
