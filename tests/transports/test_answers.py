"""Answers that do not fit the question: refused with what is wrong, asked for again, bounded."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.peers.raw import over_stdio
from tests.peers.serving import toolyard
from tests.transports.test_forms import MODERN, PLAIN, RICH, form, project
from toolyard.protocol.asking.answers import MOST_ASKS

__all__ = ["project"]
BOOKING = form(
    "name",
    "people",
    name={"type": "string"},
    people={"type": "integer", "minimum": 1, "maximum": 8},
    days={"type": "array", "items": {"type": "string", "enum": ["mon", "tue"]}},
)
GOOD = {"name": "Ann", "people": 8}
every_revision = pytest.mark.parametrize("revision", [PLAIN, RICH, MODERN])
every_tool = pytest.mark.parametrize("tool", ["running", "printed"])


def in_turn(*contents: Any) -> Any:
    """A client that fills in these, one after the other; the last one from then on."""
    left: Iterator[Any] = iter((*contents[:-1], *[contents[-1]] * 20))
    return lambda _params: {"action": "accept", "content": next(left)}


async def ask(served: Path, revision: str, tool: str, *contents: Any) -> tuple[Any, list[str]]:
    """The result, and the message of each question that the client was asked."""
    async with over_stdio(
        toolyard("serve", served),
        revision,
        capabilities={"elicitation": {}},
        answers={"elicitation/create": in_turn(*contents)},
    ) as client:
        result = await client.call(tool, {"schema": BOOKING})
        client.assert_well_formed()
    return result, [question["params"]["message"] for question in client.questions]


def before(project: Path) -> Path:
    """A gateway before the server of that project."""
    command = {"command": sys.executable, "args": ["-m", "toolyard", "serve", str(project)]}
    served = project.parent / "registry.json"
    server = {"name": "asks", "stdio": command, "expose": "all"}
    served.write_text(json.dumps({"servers": [server]}))
    return served


@pytest.mark.parametrize("gateway", [False, True], ids=["scripts", "upstream"])
@every_revision
@every_tool
async def test_a_wrong_answer_is_refused_and_may_be_given_again(
    project: Path, tool: str, revision: str, gateway: bool
) -> None:
    served = before(project) if gateway else project
    result, messages = await ask(
        served, revision, tool, {"people": None}, {**GOOD, "people": 99}, GOOD
    )
    assert result["structuredContent"] == {"action": "accept", "content": GOOD}
    said = "Which?\n\nThe answer was not taken: "
    assert messages == [
        "Which?",
        f"{said}name: is required; people: is required.",
        f"{said}people: must be at most 8.",
    ]


@every_revision
@every_tool
async def test_a_client_that_never_answers_rightly_is_not_asked_for_ever(
    project: Path, tool: str, revision: str
) -> None:
    result, messages = await ask(project, revision, tool, {**GOOD, "people": 99})
    assert len(messages) == MOST_ASKS
    if tool == "running":  # the script goes on without an answer
        assert result["structuredContent"] == {"action": "cancel"}
    else:
        assert result["isError"]
        assert result["content"][0]["text"].endswith("does not fit: people: must be at most 8")


TWO = """import json, os
given = json.loads(os.environ.get("MCP_INPUT_RESPONSES_JSON") or "null")
state = os.environ.get("MCP_REQUEST_STATE", "")
field = {"type": "string", "enum": ["a", "b"]}
schema = {"type": "object", "properties": {"x": field}, "required": ["x"]}
ask = lambda message: {"method": "elicitation/create",
    "params": {"mode": "form", "message": message, "requestedSchema": schema}}
asks = {"one": ask("One?"), "two": ask("Two?")}
asking = {"resultType": "input_required", "inputRequests": asks, "requestState": "kept"}
print(json.dumps({"given": given, "state": state} if given else asking))
"""


@every_revision
async def test_of_two_questions_only_the_one_with_the_wrong_answer_is_asked_again(
    project: Path, revision: str
) -> None:
    tool = project / "tools" / "printed" / "tool"
    tool.write_text(f"#!/usr/bin/env python3\n{TWO}")
    answered: list[str] = []

    def answer(params: Any) -> Any:
        message = params["message"]
        answered.append(message)
        wrong = message == "Two?"
        return {"action": "accept", "content": {"x": "c" if wrong else "a"}}

    async with over_stdio(
        toolyard("serve", project),
        revision,
        capabilities={"elicitation": {}},
        answers={"elicitation/create": answer},
    ) as client:
        result = await client.call("printed")
    fits = {"action": "accept", "content": {"x": "a"}}
    assert result["structuredContent"] == {"given": {"one": fits, "two": fits}, "state": "kept"}
    assert sorted(answered) == [
        "One?",
        "Two?",
        "Two?\n\nThe answer was not taken: x: must be one of a, b.",
    ]
