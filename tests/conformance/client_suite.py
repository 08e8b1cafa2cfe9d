"""Run the suite's client scenarios against our upstream code, as client.py uses it.

Knows nothing of what a scenario tests; the suite starts a server for each and judges.
"""

from __future__ import annotations

import asyncio
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.conformance.suite import (
    BIN,
    COLOURS,
    PROGRAM,
    WITHIN,
    Check,
    Report,
    Scenario,
    install,
    judged,
    read_checks,
)
from tests.peers.serving import environment

# What is run -> its options, and how many scenarios of it must pass.
CLIENT_SUITES = {
    "2025-06-18": (("--suite", "all", "--spec-version", "2025-06-18"), 5),
    "2025-11-25": (("--suite", "all", "--spec-version", "2025-11-25"), 19),
    "2026-07-28": (("--suite", "all", "--spec-version", "2026-07-28"), 33),
    "backcompat": (("--suite", "backcompat"), 2),
    "extensions": (("--suite", "extensions"), 4),
}
# We do not bind tokens to a key.
LACKING = {"extensions": {"auth/dpop", "auth/dpop-nonce"}}

VERDICT = re.compile(r"^([✓✗]) (\S+): \d+ passed, \d+ failed", re.MULTILINE)
DATED = re.compile(r"-\d{4}-\d\d-\d\dT[\d-]+Z$")


async def run_client(suite: str) -> Report:
    await asyncio.to_thread(install)
    with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
        log = await run_client_suite(CLIENT_SUITES[suite][0], folder)
        checks = dict(client_checks(Path(folder)))
    verdicts = VERDICT.findall(COLOURS.sub("", log))
    found = tuple(with_verdict(judged(name, checks.get(name)), mark) for mark, name in verdicts)
    return Report(suite, found, log)


def with_verdict(scenario: Scenario, mark: str) -> Scenario:
    """A client that should not have failed, and did, leaves no failed check."""
    if mark == "✓" or scenario.outcome == "fail":
        return scenario
    return Scenario(scenario.name, "fail", (*scenario.remarks, "FAILURE the client failed"))


async def run_client_suite(options: tuple[str, ...], folder: str) -> str:
    process = await asyncio.create_subprocess_exec(
        BIN / "node",
        PROGRAM,
        "client",
        *("--command", shlex.join([sys.executable, "-m", "tests.conformance.client"])),
        *options,
        # All scenarios run at once: on a busy machine the usual 30 seconds are too few.
        *("--timeout", str(int(WITHIN * 800)), "--output-dir", folder),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env=environment(),
    )
    try:
        async with asyncio.timeout(WITHIN):
            output, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return output.decode(errors="replace")


def client_checks(folder: Path) -> Iterator[tuple[str, list[Check]]]:
    for file in folder.rglob("checks.json"):
        name = DATED.sub("", str(file.parent.relative_to(folder)))
        yield name, read_checks(file)
