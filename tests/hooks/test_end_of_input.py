"""What was read before the input ended is answered; what ends earlier is told so."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.hooks.yard import Yard, mcp_bash
from tests.peers.raw import StdioClient, over_stdio
from tests.peers.serving import environment, spawned
from tests.until import WITHIN, until, until_exists

# The grace that a signal leaves is far shorter than what the tools need.
ENV = {"MCPBASH_TOOL_ALLOWLIST": "*", "MCPBASH_SHUTDOWN_TIMEOUT": "0.2"}
COMMANDS = ("toolyard", "mcp-bash")
SLOW = """source "${MCP_SDK:?}/tool-sdk.sh"
for step in 1 2 3; do mcp_progress $step "step $step" 3; sleep 0.3; done
mcp_log_info slow done
mcp_emit_text finished"""
ENDED = {
    "code": -32003,
    "message": "Server shutting down",
    "data": "ended before there was a result",
}


def command_of(name: str, yard: Yard) -> list[str]:
    return yard.served if name == "toolyard" else mcp_bash()


def hello(revision: str = "2025-11-25") -> list[dict[str, Any]]:
    params = {"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "file"}}
    params["clientInfo"] = {"name": "file", "version": "1"}
    return [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
    ]


def calling(number: int, tool: str) -> dict[str, Any]:
    params = {"name": tool, "arguments": {}, "_meta": {"progressToken": "p"}}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


@pytest.mark.parametrize("name", COMMANDS)
async def test_a_call_read_from_a_file_is_answered_to_a_file(
    yard: Yard, tmp_path: Path, name: str
) -> None:
    yard.tool("slow", SLOW)
    asked, said = tmp_path / "in", tmp_path / "out"
    asked.write_text("".join(json.dumps(line) + "\n" for line in [*hello(), calling(1, "slow")]))
    with asked.open() as stdin, said.open("w") as stdout:
        server = await asyncio.create_subprocess_exec(
            *command_of(name, yard),
            stdin=stdin,
            stdout=stdout,
            cwd=yard.root,
            env=environment(ENV),
        )
        assert await asyncio.wait_for(server.wait(), WITHIN) == 0
    heard = [json.loads(line) for line in said.read_text().splitlines()][1:]
    heard = [one for one in heard if not one.get("method", "").endswith("list_changed")]
    assert [one.get("method", one.get("id")) for one in heard] == [
        *["notifications/progress"] * 3,
        "notifications/message",
        1,
    ]
    assert heard[-1]["result"]["content"] == [{"type": "text", "text": "finished"}]


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
async def test_calls_under_way_at_the_end_of_input_run_as_long_as_they_may(
    yard: Yard, revision: str
) -> None:
    yard.tool("slow", "sleep 0.8; echo finished")
    yard.tool("endless", "sleep 600", timeoutSecs=1)
    async with over_stdio(yard.served, revision, env=ENV) as client:
        slow = await client.begin(client.message("tools/call", {"name": "slow"}))
        endless = await client.begin(client.message("tools/call", {"name": "endless"}))
        assert await client.end_of_input() == 0
        assert (await slow)["result"]["content"][0]["text"] == "finished"
        failed = (await endless)["result"]
        assert failed["isError"] is True
        assert failed["structuredContent"]["error"]["reason"] == "fixed"


async def hanging(client: StdioClient, yard: Yard, told: Path) -> asyncio.Future[dict[str, Any]]:
    yard.tool("hang", f"echo $$ >{told}; exec sleep 600")
    call = await client.begin(client.message("tools/call", {"name": "hang"}))
    await until_exists(told)
    return call


@pytest.mark.parametrize("revision", ["2024-11-05", "2026-07-28"])
@pytest.mark.parametrize("input_ends", [True, False])
async def test_a_signal_ends_what_runs_with_an_error_for_each(
    yard: Yard, tmp_path: Path, revision: str, input_ends: bool
) -> None:
    async with over_stdio(yard.served, revision, env=ENV) as client:
        call = await hanging(client, yard, tmp_path / "pid")
        process = client.running.process
        if input_ends:
            assert process.stdin is not None
            process.stdin.close()
        process.send_signal(signal.SIGTERM)
        assert (await asyncio.wait_for(call, WITHIN))["error"] == ENDED
        assert await asyncio.wait_for(process.wait(), WITHIN) == 0
    assert not Path(f"/proc/{int((tmp_path / 'pid').read_text())}").exists()


async def test_a_call_that_outlives_shutdown_is_told_so(yard: Yard, tmp_path: Path) -> None:
    async with over_stdio(yard.served, env=ENV) as client:
        call = await hanging(client, yard, tmp_path / "pid")
        await client.result("shutdown")
        assert (await asyncio.wait_for(call, WITHIN))["error"] == ENDED


async def test_a_batch_that_is_ended_early_has_an_answer_for_each_of_its_requests(
    yard: Yard, tmp_path: Path
) -> None:
    async with over_stdio(yard.served, "2025-03-26", env=ENV) as client:
        yard.tool("quick", "echo quick")
        yard.tool("hang", f"echo $$ >{tmp_path}/pid; exec sleep 600")
        await client.send([calling(7, "hang"), calling(8, "quick")])
        await until_exists(tmp_path / "pid")
        client.running.process.send_signal(signal.SIGTERM)
        await asyncio.wait_for(client.running.process.wait(), WITHIN)
        await client.running.last_words()
        batch = json.loads(client.lines[-1])
    assert [one["id"] for one in batch] == [7, 8]
    assert batch[0]["error"] == ENDED
    assert batch[1]["result"]["content"][0]["text"].strip() == "quick"


async def test_who_cancelled_a_call_is_told_nothing_of_our_end(yard: Yard, tmp_path: Path) -> None:
    async with over_stdio(yard.served, env=ENV) as client:
        call = await hanging(client, yard, tmp_path / "pid")
        await client.notify("notifications/cancelled", {"requestId": client._next_id})
        assert await client.end_of_input() == 0
        assert not call.done() or isinstance(call.exception(), ConnectionError)


async def test_a_reader_that_goes_away_ends_what_runs(yard: Yard, tmp_path: Path) -> None:
    told = tmp_path / "pid"
    yard.tool("hang", f"echo $$ >{told}; exec sleep 600", timeoutSecs=500)
    reading, writing = os.pipe()
    try:
        server = await asyncio.create_subprocess_exec(
            *yard.served,
            stdin=asyncio.subprocess.PIPE,
            stdout=writing,
            env=environment(ENV),
        )
        assert server.stdin is not None
        lines = [*hello(), calling(1, "hang")]
        server.stdin.write(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
        server.stdin.close()
        await until_exists(told)
    finally:
        os.close(writing)
        os.close(reading)
    assert await asyncio.wait_for(server.wait(), WITHIN) == 0
    assert not Path(f"/proc/{int(told.read_text())}").exists()


async def test_a_question_that_can_no_longer_be_answered_is_cancelled(yard: Yard) -> None:
    yard.tool("ask", 'source "$MCP_SDK/tool-sdk.sh"; mcp_elicit_confirm "Sure?"')
    async with over_stdio(yard.served, env=ENV, capabilities={"elicitation": {}}) as client:
        client.reply_to = lambda question: {}  # type: ignore[method-assign]
        call = await client.begin(client.message("tools/call", {"name": "ask"}))
        await until(lambda: client.questions)
        assert await client.end_of_input() == 0
        assert json.loads((await call)["result"]["content"][0]["text"]) == {"action": "cancel"}


async def test_a_stream_that_listens_holds_nobody_and_gets_its_last_result(yard: Yard) -> None:
    async with over_stdio(yard.served, "2026-07-28", env=ENV) as client:
        params = {"notifications": {"toolsListChanged": True}}
        stream = await client.begin(client.message("subscriptions/listen", params))
        await client.notification("notifications/subscriptions/acknowledged")
        assert await client.end_of_input(within=5) == 0
        result = (await stream)["result"]
    assert result["resultType"] == "complete"
    assert list(result["_meta"]) == ["io.modelcontextprotocol/subscriptionId"]


async def test_a_slow_reader_gets_all_of_a_long_answer(yard: Yard) -> None:
    yard.tool("long", "head -c 900000 /dev/zero | tr '\\0' x")
    lines = [*hello(), calling(1, "long")]
    async with spawned(yard.served, env=ENV) as running:
        stdin, stdout = running.process.stdin, running.process.stdout
        assert stdin is not None and stdout is not None
        assert await stdout.read(0) == b""
        transport = stdout._transport  # type: ignore[attr-defined]
        transport.pause_reading()
        stdin.write(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
        stdin.close()
        await asyncio.sleep(1.0)  # longer than a signal would leave it
        transport.resume_reading()
        said = await asyncio.wait_for(stdout.read(), WITHIN)
    assert len(json.loads(said.splitlines()[-1])["result"]["content"][0]["text"]) == 900000
