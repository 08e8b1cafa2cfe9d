"""Files that are wrong: each is named, and everything else keeps being served."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.hooks.yard import Yard, text_of
from tests.peers.raw import StdioClient, over_stdio
from tests.peers.raw_http import over_http
from tests.peers.serving import serving

pytestmark = pytest.mark.long


@pytest.fixture
def yard(yard: Yard) -> Yard:
    yard.tool("good")
    yard.write("resources/good.txt", "good")
    yard.write("prompts/good.txt", "good")
    return yard


async def names(client: Any, method: str, key: str) -> list[str]:
    return sorted(entry["name"] for entry in (await client.result(method))[key])


async def all_good(client: Any) -> None:
    assert "good" in await names(client, "tools/list", "tools")
    assert "good" in await names(client, "resources/list", "resources")
    assert "good" in await names(client, "prompts/list", "prompts")
    assert text_of(await client.call("good")) == "ran"


async def last_words(client: StdioClient) -> str:
    await client.end_of_input()
    return await client.running.last_words()


async def test_a_broken_meta_json(yard: Yard) -> None:
    yard.tool("bad")
    broken = yard.write("tools/bad/tool.meta.json", '{"name": "bad",}')
    async with over_stdio(yard.served) as client:
        await all_good(client)
        assert await names(client, "tools/list", "tools") == ["good"]
        assert f"{broken}: is not JSON" in await last_words(client)


async def test_a_meta_json_that_is_mended_is_served(yard: Yard) -> None:
    yard.tool("bad")
    broken = yard.write("tools/bad/tool.meta.json", "[]")
    async with over_stdio(yard.served) as client:
        await all_good(client)
        broken.write_text('{"name": "better"}')
        await client.notification("notifications/tools/list_changed")
        assert await names(client, "tools/list", "tools") == ["better", "good"]


async def test_two_resources_of_one_name(yard: Yard) -> None:
    for folder in ("a", "b"):
        yard.write(f"resources/{folder}/same.txt", folder)
    async with over_stdio(yard.served) as client:
        await all_good(client)
        assert await names(client, "resources/list", "resources") == ["good", "same"]
        said = await last_words(client)
    assert "b/same.txt: there is already a resource with the name 'same' (a/same.txt)" in said


async def test_a_template_with_empty_braces(yard: Yard) -> None:
    bad = yard.write("resources/bad.meta.json", {"name": "bad", "uriTemplate": "x://a/{}"})
    yard.write("resources/fine.meta.json", {"name": "fine", "uriTemplate": "x://b/{id}"})
    async with over_stdio(yard.served) as client:
        await all_good(client)
        listed = await names(client, "resources/templates/list", "resourceTemplates")
        assert listed == ["fine"]
        assert f"{bad}: " in await last_words(client)


async def test_a_register_json_with_a_comment_is_loud_and_never_falls_back(yard: Yard) -> None:
    bad = yard.write("server.d/register.json", '// mine\n{"version": 1}')
    async with over_stdio(yard.served) as client:
        for method in ("tools/list", "resources/list", "prompts/list", "resources/templates/list"):
            error = await client.error(method)
            assert error["code"] == -32603 and str(bad) in error["message"]
        assert await client.result("ping") == {}
        bad.write_text('{"version": 1}')
        await client.notification("notifications/tools/list_changed")
        await all_good(client)
        assert f"{bad}: " in await last_words(client)


async def test_a_script_without_an_interpreter_line(yard: Yard) -> None:
    bare = yard.write("tools/bare/tool.sh", "echo from a shell\n")
    bare.chmod(0o755)
    async with over_stdio(yard.served) as client:
        await all_good(client)
        assert text_of(await client.call("tool")) == "from a shell"
        assert f"{bare}: has no interpreter line (#!)" in await last_words(client)


async def test_an_interpreter_that_does_not_exist(yard: Yard) -> None:
    bad = yard.write("tools/bad/tool.sh", "#!/no/such/interpreter\n")
    bad.chmod(0o755)
    async with over_stdio(yard.served) as client:
        result = await client.call("tool")
        assert result["isError"] and str(bad) in result["content"][0]["text"]
        await all_good(client)


@pytest.mark.parametrize("folder", ["tools/odd", "resources", "prompts"])
async def test_a_file_name_with_a_newline(yard: Yard, folder: str) -> None:
    odd = yard.script(f"{folder}/od\nd.sh", "echo")
    async with over_stdio(yard.served) as client:
        await all_good(client)
        said = await last_words(client)
    assert str(odd).replace("\n", "\\n") in said
    assert str(odd) not in said


@pytest.mark.parametrize("rubbish", ["echo 'not { json'", "printf '\\377\\000'", "echo 42"])
async def test_a_completion_that_prints_rubbish(yard: Yard, rubbish: str) -> None:
    script = yard.script("prompts/good.completion.sh", rubbish)
    async with over_stdio(yard.served) as client:
        error = await client.error("completion/complete", complete("good"))
        assert error["code"] == -32603
        assert error["message"] == "Completion provider emitted invalid JSON"
        await all_good(client)
        assert f"{script}: Completion provider emitted invalid JSON" in await last_words(client)


@pytest.mark.parametrize("argument", [{}, {"value": 7}, {"value": None}, {"value": ["a"]}])
async def test_a_completion_of_what_is_no_text(yard: Yard, argument: dict[str, Any]) -> None:
    script = yard.script("prompts/good.completion.sh", f"touch '{yard.root}/ran'; echo '[]'")
    params = {"ref": complete("good")["ref"], "argument": {"name": "a", **argument}}
    async with over_stdio(yard.served) as client:
        error = await client.error("completion/complete", params)
        assert error["code"] == -32602
        assert error["message"] == "Completion argument value must be a string"
        await all_good(client)
    assert script.exists() and not (yard.root / "ran").exists()


async def test_a_completion_that_fails_says_why_and_names_itself(yard: Yard) -> None:
    yard.script("prompts/good.completion.sh", "echo no luck >&2; exit 3")
    async with over_stdio(yard.served) as client:
        error = await client.error("completion/complete", complete("good"))
        assert error["code"] == -32603 and "no luck" in error["message"]
        await all_good(client)


def complete(prompt: str) -> dict[str, Any]:
    ref = {"type": "ref/prompt", "name": prompt}
    return {"ref": ref, "argument": {"name": "x", "value": "v"}}


async def test_a_server_meta_json_that_is_broken_leaves_the_defaults(
    yard: Yard, tmp_path: Path
) -> None:
    yard.write("server.d/server.meta.json", "{")
    async with over_stdio(yard.served) as client:
        assert client.server["serverInfo"]["name"] == "yard"
        await all_good(client)


async def test_all_of_it_at_once_over_http(yard: Yard) -> None:
    yard.tool("bad")
    yard.write("tools/bad/tool.meta.json", "nonsense")
    for folder in ("a", "b"):
        yard.write(f"resources/{folder}/same.txt", folder)
    yard.write("resources/bad.meta.json", {"name": "bad", "uriTemplate": "x://a/{}"})
    yard.script("tools/odd/od\nd.sh", "echo")
    yard.script("prompts/good.completion.sh", "echo 'not json'")
    async with serving(yard.root) as server, over_http(server.url, "2026-07-28") as client:
        await all_good(client)
        assert (await client.error("completion/complete", complete("good")))["code"] == -32603
    for word in (
        "good.completion.sh: Completion",
        "tool.meta.json: is not JSON",
        "b/same.txt",
        "bad.meta.json",
        "od\\nd.sh",
    ):
        assert word in server.errors
