"""The client scenarios of the official suite that need no authorization, through the pool."""

from __future__ import annotations

import asyncio
import shlex
import sys

import pytest

from tests.conformance.suite import BIN, PROGRAM, install
from tests.peers.serving import environment

pytestmark = pytest.mark.long

SCENARIOS = [
    ("2025-06-18", "initialize"),
    ("2025-06-18", "tools_call"),
    ("2025-11-25", "elicitation-sep1034-client-defaults"),
    ("2025-11-25", "sse-retry"),
    ("2025-11-25", "json-schema-2020-12-preservation"),
    ("2026-07-28", "tools_call"),
    ("2026-07-28", "request-metadata"),
    ("2026-07-28", "sep-2322-client-request-state"),
    ("2026-07-28", "http-standard-headers"),
    ("2026-07-28", "http-custom-headers"),
    ("2026-07-28", "http-invalid-tool-headers"),
    ("2026-07-28", "json-schema-ref-no-deref"),
]


@pytest.mark.parametrize(("revision", "scenario"), SCENARIOS)
async def test_the_upstream_client_passes(revision: str, scenario: str) -> None:
    await asyncio.to_thread(install)
    client = shlex.join([sys.executable, "-m", "tests.upstreams.conformance_client"])
    process = await asyncio.create_subprocess_exec(
        *(BIN / "node", PROGRAM, "client", "--command", client),
        *("--scenario", scenario, "--spec-version", revision),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env=environment(),
    )
    output, _ = await process.communicate()
    text = output.decode(errors="replace")
    assert process.returncode == 0, text
    assert "0 failed, 0 warnings" in text, text
