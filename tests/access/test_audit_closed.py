"""No call without a record of it: a log that cannot be written stops calls, and loses nothing."""

from __future__ import annotations

import json
import resource
from pathlib import Path

import pytest

from tests.peers.raw_http import over_http
from tests.peers.serving import serving


@pytest.mark.asyncio
async def test_calls_are_refused_while_the_audit_log_cannot_be_written(tmp_path: Path) -> None:
    record = tmp_path / "audit.log"
    project = tmp_path / "project"
    project.mkdir()
    async with (
        serving(project, env={"TOOLYARD_AUDIT_LOG": str(record)}) as server,
        over_http(server.url, "2025-11-25") as client,
    ):
        await client.result("tools/list")
        full = record.stat().st_size + 20  # in the middle of a line
        before = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (full, before[1]))
        await client.result("prompts/list")  # is found out only when it is to be recorded
        refused = await client.error("tools/list")
        assert refused["message"] == "Calls are refused while the audit log cannot be written"
        assert record.stat().st_size == full
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, before)
        await client.result("resources/list")
    lines = [json.loads(line)["method"] for line in record.read_text().splitlines()]
    listed = [method for method in lines if method.endswith("/list")]
    assert listed == ["tools/list", "prompts/list", "resources/list"]
