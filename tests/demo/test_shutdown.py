"""A server that is told to stop finishes what it is doing, then goes."""

from __future__ import annotations

import asyncio
import signal

import pytest

from tests.peers.raw import over_stdio
from tests.peers.raw_http import over_http
from tests.peers.serving import ROOT, copied, serving, toolyard

pytestmark = pytest.mark.long

DEMO = ROOT / "examples" / "demo"


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
async def test_running_calls_are_finished_over_http(revision: str) -> None:
    with copied(DEMO) as project:
        async with (
            serving(project, "--no-page") as server,
            over_http(server.url, revision, checked=False) as client,
        ):
            call = asyncio.create_task(
                client.call("countdown", {"seconds": 2}, meta={"progressToken": 1})
            )
            await client.notification("notifications/progress")
            server.process.send_signal(signal.SIGTERM)
            result = await call
            assert not result.get("isError")
            async with asyncio.timeout(10):
                assert await server.process.wait() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_a_stdio_server_cleanly(number: signal.Signals) -> None:
    with copied(DEMO) as project:
        async with over_stdio(toolyard("serve", project), "2025-11-25") as client:
            await client.result("ping")
            client.running.process.send_signal(number)
            async with asyncio.timeout(10):
                assert await client.running.process.wait() == 0
            assert "Traceback" not in client.running.errors


async def test_binding_elsewhere_needs_a_token() -> None:
    with copied(DEMO) as project:
        command = toolyard("serve", project, "--http", "0.0.0.0:0")
        process = await asyncio.create_subprocess_exec(
            *command, stderr=asyncio.subprocess.PIPE, stdin=asyncio.subprocess.DEVNULL
        )
        _, errors = await process.communicate()
    assert process.returncode == 2
    assert b"TOOLYARD_TOKEN" in errors


async def test_a_token_is_demanded_where_one_is_set() -> None:
    token = "a-token-of-the-test-that-nobody-knows"
    with copied(DEMO) as project:
        async with serving(project, "--no-page", env={"TOOLYARD_TOKEN": token}) as server:
            headers = {"Authorization": f"Bearer {token}"}
            async with over_http(server.url, "2025-11-25", headers=headers) as client:
                assert await client.result("ping") == {}
            with pytest.raises(AssertionError):
                async with over_http(server.url, "2025-11-25"):
                    pass
