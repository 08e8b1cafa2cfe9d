"""View full lists what was listed before there were views, byte for byte, in every revision.

The answers in `lists/` were written down then, of the official suite's fixtures: as a project, and
behind a gateway. Tasks have come since, and what they add to a tool is left out on both sides.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.peers.sdk_fixtures import PROJECT
from tests.peers.serving import copied, environment, toolyard

LISTS = Path(__file__).with_name("lists")
PREFIX = "io.modelcontextprotocol/"
CLIENT = {"name": "t", "version": "1"}
MODERN = "2026-07-28"
REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", MODERN)
METHODS = ("tools/list", "resources/list", "resources/templates/list", "prompts/list")
TASKS = re.compile(r',"execution":\{"taskSupport":"(?:optional|required)"\}')


def requests_of(revision: str) -> list[dict[str, Any]]:
    meta = {"protocolVersion": revision, "clientInfo": CLIENT, "clientCapabilities": {}}
    envelope = {"params": {"_meta": {PREFIX + key: value for key, value in meta.items()}}}
    lists: list[dict[str, Any]] = [
        {"jsonrpc": "2.0", "id": number, "method": method, **(envelope if is_modern else {})}
        for is_modern in [revision == MODERN]
        for number, method in enumerate(METHODS, 1)
    ]
    if revision == MODERN:
        return lists
    hello = {"protocolVersion": revision, "capabilities": {}, "clientInfo": CLIENT}
    return [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        *lists,
    ]


def answers_of(place: Path, revision: str) -> dict[str, str]:
    """The lines that the program writes, by the list that they answer."""
    done = subprocess.run(
        toolyard("serve", place),
        input="".join(json.dumps(request) + "\n" for request in requests_of(revision)),
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
    )
    answers = {json.loads(line).get("id"): line for line in done.stdout.splitlines()}
    return {method: answers[number] for number, method in enumerate(METHODS, 1)}


def registry_at(folder: Path, project: Path) -> Path:
    """A gateway before the fixtures, with a tool of its own."""
    command, *args = toolyard("serve", project)
    server = {"name": "fixtures", "stdio": {"command": command, "args": args}, "expose": "all"}
    tool = {"name": "greet_ada", "source": "greet", "defaults": {"name": "Ada"}}
    place = folder / "gateway"  # which is its name, too
    place.mkdir()
    (place / "registry.json").write_text(json.dumps({"servers": [server], "tools": [tool]}))
    return place


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("kind", ["scripts", "gateway"])
def test_every_list_has_the_bytes_that_it_had_before_there_were_views(
    kind: str, revision: str, tmp_path: Path
) -> None:
    expected = json.loads((LISTS / f"{kind}.json").read_text())
    with copied(PROJECT) as project:
        place = project if kind == "scripts" else registry_at(tmp_path, project)
        answers = answers_of(place, revision)
    for method in METHODS:
        assert TASKS.sub("", answers[method]) == TASKS.sub("", expected[f"{revision} {method}"])


def test_only_tools_that_run_as_tasks_say_more_than_before_and_only_where_tasks_are_known() -> None:
    with copied(PROJECT) as project:
        answer = answers_of(project, "2025-11-25")["tools/list"]
    tools = {tool["name"]: tool.get("execution") for tool in json.loads(answer)["result"]["tools"]}
    metas = [json.loads(path.read_text()) for path in PROJECT.glob("tools/**/*.meta.json")]
    supports = {meta["name"]: meta.get("taskSupport") for meta in metas}
    assert {name: execution["taskSupport"] for name, execution in tools.items() if execution} == {
        name: support for name, support in supports.items() if support in ("optional", "required")
    }
