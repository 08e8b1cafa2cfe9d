"""The lifecycle over stdio, minimal mode, logging levels, batches, concurrency."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.requirements.conftest import Folder, Serve
from tests.until import until

pytestmark = pytest.mark.long

HELLO: dict[str, Any] = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}
MINIMAL = {"MCPBASH_FORCE_MINIMAL": "true"}


async def test_unknown_methods_are_not_found(serve: Serve) -> None:
    async with serve() as client:
        error = await client.error("tools/destroy")
        assert (error["code"], error["message"]) == (-32601, "Method not found")


async def test_shutdown_is_answered_and_then_nothing_else_is_done(serve: Serve) -> None:
    async with serve(checked=False) as client:
        assert await client.result("shutdown") == {}
        assert (await client.error("tools/list"))["code"] == -32003
        await client.notify("exit")
        assert await client.end_of_input() == 0


async def test_exit_without_shutdown_is_an_error(serve: Serve) -> None:
    async with serve(checked=False) as client:
        assert (await client.error("exit"))["code"] == -32005


async def test_a_second_initialize_is_refused(serve: Serve) -> None:
    async with serve() as client:
        assert (await client.error("initialize", HELLO))["code"] == -32600


@pytest.mark.parametrize(
    "method",
    [
        "tools/list",
        "tools/call",
        "resources/list",
        "resources/read",
        "resources/templates/list",
        "prompts/list",
        "prompts/get",
        "completion/complete",
    ],
)
async def test_minimal_mode_declines_everything_but_lifecycle_ping_and_logging(
    serve: Serve, method: str
) -> None:
    async with serve(env=MINIMAL) as client:
        assert client.server["capabilities"] == {"logging": {}}
        assert await client.result("ping") == {}
        assert await client.result("logging/setLevel", {"level": "debug"}) == {}
        error = await client.error(method, {"name": "hello", "uri": "x://y"})
        assert error["code"] == -32601


@pytest.mark.parametrize("level", ["debug", "info", "notice", "warning", "error", "critical"])
async def test_every_level_of_rfc_5424_can_be_set(serve: Serve, level: str) -> None:
    async with serve() as client:
        assert await client.result("logging/setLevel", {"level": level}) == {}


@pytest.mark.parametrize("level", ["loud", "", None, 3, "INFO "])
async def test_a_level_that_is_none_is_refused(serve: Serve, level: object) -> None:
    async with serve() as client:
        error = await client.error("logging/setLevel", {"level": level})
        assert (error["code"], error["message"]) == (-32602, "Invalid log level")


@pytest.mark.parametrize(("default", "heard"), [("", ["info", "error"]), ("error", ["error"])])
async def test_the_level_before_a_client_asks_is_info_or_as_configured(
    folder: Folder, serve: Serve, default: str, heard: list[str]
) -> None:
    source = 'source "${MCP_SDK:?}/tool-sdk.sh"\n'
    folder.tool("logs", source + "mcp_log_debug d; mcp_log_info i; mcp_log_error e")
    env = {"MCPBASH_LOG_LEVEL_DEFAULT": default} if default else {}
    async with serve(env=env) as client:
        await client.call("logs")
        assert [said["params"]["level"] for said in client.notifications] == heard


async def test_batches_are_refused_unless_they_are_asked_for(serve: Serve) -> None:
    batch = [{"jsonrpc": "2.0", "id": n, "method": "ping"} for n in ("a", "b")]
    async with serve(checked=False) as client:
        await client.send(batch)
        await until(lambda: any("error" in said for said in client.heard))
        refused = [said for said in client.heard if "error" in said]
        assert [said["error"]["code"] for said in refused] == [-32600]
    async with serve(checked=False, env={"MCPBASH_COMPAT_BATCHES": "true"}) as client:
        await client.send(batch)
        await until(lambda: any(line.startswith(b"[") for line in client.lines))
        [answers] = [json.loads(line) for line in client.lines if line.startswith(b"[")]
        assert [(said["id"], said["result"]) for said in answers] == [("a", {}), ("b", {})]


async def test_a_slow_call_holds_up_nobody(folder: Folder, serve: Serve) -> None:
    folder.tool("slow", "until [ -e go ]; do sleep 0.02; done; echo slow")
    async with serve() as client:
        slow = await client.begin(client.message("tools/call", {"name": "slow"}))
        assert (await client.call("hello"))["content"][0]["text"] == "hi"
        assert await client.result("ping") == {}
        assert not slow.done()
        folder.write("go", "")
        assert (await slow)["result"]["content"][0]["text"] == "slow"


async def test_every_message_is_one_line_whatever_a_tool_prints(
    folder: Folder, serve: Serve
) -> None:
    folder.tool("prints", r"printf 'a\r\nb\u2028c\n\xff'; printf 'x\r\n' >&2")
    async with serve() as client:
        result = await client.call("prints")
        lines = list(client.lines)
    assert result["content"][0]["text"].startswith("a\r\nb")
    assert all(line.endswith(b"\n") and b"\r" not in line for line in lines)
    assert all(json.loads(line) for line in lines)


async def test_a_tool_that_reads_stdin_swallows_no_request(folder: Folder, serve: Serve) -> None:
    folder.tool("reads", "cat | wc -c")
    async with serve() as client:
        first = await client.begin(client.message("tools/call", {"name": "reads"}))
        second = await client.begin(client.message("ping"))
        assert (await second)["result"] == {}
        assert (await first)["result"]["content"][0]["text"].strip() == "0"
